"""The ops of `agent`."""

from msgspec import UNSET

from rio_core._engine.agent import view
from rio_core._engine.agent.prompt import compose
from rio_core._engine.project import Project
from rio_core._engine.serving.handlers import Call, Handlers
from rio_core._engine.serving.pages import cut
from rio_core.protocol.errors import RioError
from rio_core.protocol.framing import encode
from rio_core.protocol.ops import Done, Nothing
from rio_core.protocol.ops import agent as ops

handlers = Handlers()


def _tail(text: str) -> str:
    """The end of a text that fits into an answer beside the messages."""
    tail = text[-40_000:]
    while len(encode(tail)) > 40_000:
        tail = tail[len(tail) // 2 :]
    return tail


def _project(call: Call) -> Project:
    return call.core.need_project()


@handlers.op("agent.send")
async def send(call: Call, params: ops.SendParams) -> ops.SendResult:
    """Begin a turn, or queue a message."""
    project = _project(call)
    texts = [params.text]
    for attachment in params.attachments:
        texts.append(await project.attach(attachment))
    turn, queued = await project.agent.send(texts, queue=params.queue)
    return ops.SendResult(turn=turn or UNSET, queued=queued or UNSET)


@handlers.op("agent.unqueue")
def unqueue(call: Call, params: ops.UnqueueParams) -> ops.TextResult:
    """Take a queued message back."""
    texts = _project(call).agent.queue.pop(params.queued, None)
    if texts is None:
        raise RioError(
            "not_found", f"No message {params.queued!a} is waiting.", "It was sent or taken back: see agent.history."
        )
    return ops.TextResult(text=texts[0])


@handlers.op("agent.approve")
async def approve(call: Call, params: ops.ApproveParams) -> ops.ApproveResult:
    """Decide a proposal."""
    project = _project(call)
    return await project.approvals.decide(params, by=call.connection.client)


@handlers.op("agent.proposal")
async def proposal(call: Call, params: ops.ProposalParams) -> ops.ProposalResult:
    """Show a proposal whole."""
    return await _project(call).approvals.show(params.turn, params.proposal)


@handlers.op("agent.stop")
async def stop(call: Call, params: ops.StopParams) -> ops.StopResult:
    """Stop the running turn."""
    stopped, queued = await _project(call).agent.stop(params.turn)
    return ops.StopResult(stopped=stopped, queued=queued)


@handlers.op("agent.reset")
async def reset(call: Call, params: Nothing) -> ops.ResetResult:
    """Begin a new conversation."""
    project = _project(call)
    queued = await project.reset()
    return ops.ResetResult(conversation=project.agent.log.id, queued=queued)


@handlers.op("agent.history")
def history(call: Call, params: ops.HistoryParams) -> ops.HistoryResult:
    """Give a page of the conversation, and what is going on."""
    agent = _project(call).agent
    messages, total, first = view.page(agent.log.records, params.before, params.limit)
    turn = agent.turn
    running = None
    if turn is not None:
        text = turn.reply.text() if turn.reply else ""
        thinking = turn.reply.thinking() if turn.reply else ""
        running = ops.Running(turn=turn.name, text=_tail(text), thinking=_tail(thinking))
    return ops.HistoryResult(
        conversation=agent.log.id,
        messages=messages,
        total=total,
        running=running,
        proposals=[one.waiting() for one in turn.proposals.values()] if turn else [],
        queued=[ops.Queued(queued=name, text=texts[0][:1024]) for name, texts in agent.queue.items()],
        notices=agent.log.notices,
        before=first if first else UNSET,
    )


@handlers.op("agent.conversations")
def conversations(call: Call, params: Nothing) -> ops.ConversationsResult:
    """List the conversations of the project."""
    project = _project(call)
    held = project.agent.log.id
    found = [
        ops.Conversation(
            id=one.id,
            title=one.title,
            created=one.created,
            messages=one.messages,
            current=one.id == held,
            busy=one.busy,
        )
        for one in project.conversations.list(held)
    ]
    return ops.ConversationsResult(conversations=found)


@handlers.op("agent.resume")
async def resume(call: Call, params: ops.ConversationParams) -> ops.ResetResult:
    """Go on with an older conversation."""
    project = _project(call)
    queued = await project.resume(params.conversation)
    return ops.ResetResult(conversation=project.agent.log.id, queued=queued)


@handlers.op("agent.rename")
def rename(call: Call, params: ops.RenameParams) -> Done:
    """Title a conversation."""
    _project(call).rename(params.conversation, params.title)
    return Done()


@handlers.op("agent.export")
def export(call: Call, params: ops.ExportParams) -> ops.ExportResult:
    """Give a conversation as Markdown, in pages."""
    project = _project(call)
    text = view.as_markdown(project.records(params.conversation))
    piece, following = cut(text, params.first, 131072)
    return ops.ExportResult(text=piece, next=UNSET if following is None else following)


@handlers.op("agent.delete")
def delete(call: Call, params: ops.ConversationParams) -> Done:
    """Remove a conversation that is not the current one."""
    project = _project(call)
    if params.conversation == project.agent.log.id:
        raise RioError(
            "conflict", "The current conversation cannot be deleted.", "Begin a new one with agent.reset first."
        )
    project.conversations.delete(params.conversation)
    return Done()


@handlers.op("agent.status")
def status(call: Call, params: Nothing) -> ops.StatusResult:
    """Tell what the agent is doing."""
    agent = _project(call).agent
    turn = agent.turn
    selected = call.core.providers.selected_name()
    return ops.StatusResult(
        conversation=agent.log.id,
        running=turn.name if turn else None,
        waiting=len(turn.proposals) if turn else 0,
        queued=len(agent.queue),
        provider=selected,
        model=call.core.providers.selected_model(),
    )


@handlers.op("agent.prompt")
async def prompt(call: Call, params: Nothing) -> ops.PromptResult:
    """Show the layers of the system prompt."""
    layers = await _project(call).prompt()
    return ops.PromptResult(layers=layers, text="\n\n".join(compose(layers)))
