"""The agent: one conversation, one turn at a time, and nothing written that its user has not approved."""

import hashlib
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from rio_core._engine.agent import history
from rio_core._engine.agent.desk import Desk
from rio_core._engine.agent.endings import PAUSES, detail, not_run
from rio_core._engine.agent.prompt import compose
from rio_core._engine.agent.proposals import Proposal
from rio_core._engine.agent.records import (
    Answer,
    Block,
    Decided,
    Ended,
    Ending,
    Proposed,
    Record,
    Result,
    Said,
    Withdrawn,
)
from rio_core._engine.agent.reply import Reply
from rio_core._engine.agent.store import Log
from rio_core._engine.agent.turn import Turn, TurnOverError
from rio_core._engine.bus import Bus
from rio_core._engine.tools.toolbox import Answered, Draft, Toolbox
from rio_core.api import Delta, Done, Failure, FailureKind, Posted, Request, Setup, Thinking, ToolSpec, Usage, Waiting
from rio_core.protocol import events
from rio_core.protocol.errors import RioError
from rio_core.protocol.ops.agent import Layer
from rio_core.protocol.visible import visible_line

__all__ = ["Agent", "Handle", "Providers"]

logger = logging.getLogger(__name__)


class Handle(Protocol):
    """A provider, contained: whatever it does, exactly one end event comes, last."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    def setup(self) -> Setup: ...
    async def respond(self, request: Request, sink: Callable[[Sequence[Posted]], Awaitable[None]]) -> None: ...


class Providers(Protocol):
    """Where the agent gets its provider from."""

    async def selected(self) -> Handle | None:
        """The provider to use, once every plugin has been tried."""
        ...


@dataclass(frozen=True)
class Terms:
    """What a turn goes by from its first question to its end: what the model signs is bound to it."""

    handle: Handle
    setup: Setup
    system: Sequence[str]
    tools: Sequence[ToolSpec]

    @cached_property
    def context(self) -> str:
        """Changes exactly when provider, model, system prompt or tools do."""
        tools = [asdict(tool) for tool in self.tools]
        value = [self.handle.name, self.handle.model, list(self.system), tools]
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class TurnFailedError(Exception):
    """The turn cannot go on; it is told to the user as an `agent.error`."""

    def __init__(self, kind: FailureKind, message: str, action: str) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.action = action


class Agent:
    """One conversation and its turns. Used on the core's own event loop."""

    def __init__(
        self,
        log: Log,
        *,
        bus: Bus,
        providers: Providers,
        toolbox: Toolbox,
        desk: Desk,
        prompt: Callable[[], Awaitable[list[Layer]]],
        mask: Callable[[str], str],
        tasks: TaskGroup,
        drain: Callable[[], Awaitable[None]],
    ) -> None:
        self.log = log
        self.turn: Turn | None = None
        self.queue: dict[str, list[str]] = {}
        self._closing = False
        self._under_way: set[Turn] = set()  # also those that are closed and still on their way out
        self._bus = bus
        self._providers = providers
        self._toolbox = toolbox
        self._desk = desk
        self._prompt = prompt
        self._mask = mask
        self._tasks = tasks
        self._drain = drain

    # -- what front ends ask for ---------------------------------------------------------------------------------

    async def send(self, texts: list[str], *, queue: bool) -> tuple[str | None, str | None]:
        """Begin a turn with the user's message and its attachments, or queue it: (turn, None) or (None, queued)."""
        texts = [self.sendable(text) for text in texts]
        if not any(text.strip() for text in texts):
            raise RioError("bad_message", "The message is empty.", "Type something to send.")
        if self.turn and queue:
            name = "q" + secrets.token_hex(6)
            self.queue[name] = texts
            self._bus.publish(events.AgentQueued(queued=name, text=texts[0]))
            return None, name
        while self.turn is not None:
            await self.interrupt("stopped")
        return self._begin(texts), None

    async def stop(self, turn: str | None) -> tuple[int, list[str]]:
        """Stop the turn, if it is the named one where one is named. Returns the count, and the queue handed back."""
        if self.turn is None or (turn is not None and turn != self.turn.name):
            return 0, []
        waiting = self.take_queue()
        return int(await self.interrupt("stopped")), waiting

    def sendable(self, text: str) -> str:
        """A text as it may go to a provider: no lone surrogate, which none takes, and none of the user's secrets."""
        return self._mask(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def take_queue(self) -> list[str]:
        """Empty the queue; its texts."""
        texts = ["\n\n".join(texts) for texts in self.queue.values()]
        self.queue.clear()
        return texts

    async def interrupt(self, how: Ending) -> bool:
        """End the running turn now; whether there was one. A decision that is being carried out is finished first."""
        turn = self.turn
        if turn is None:
            return False
        async with self._desk.busy:
            if turn.closed:
                return False
            self._close(turn, how)
        if how == "stopped":
            self._bus.publish(events.AgentStopped(turn=turn.name))
        return True

    async def close(self, *, keep_waiting: bool) -> None:
        """Give up the conversation. A turn that waits for its user goes on at the next start with `keep_waiting`."""
        self._closing = True
        turn = self.turn
        if turn is not None:
            if keep_waiting and turn.proposals:
                async with self._desk.busy:
                    turn.closed = True
                turn.scope.cancel()
            else:
                await self.interrupt("interrupted" if keep_waiting else "stopped")
        for one in tuple(self._under_way):
            await one.finished.wait()
        self.log.close()

    # -- a turn ------------------------------------------------------------------------------------------------

    def _begin(self, texts: list[str]) -> str:
        if self._closing:
            raise RioError("conflict", "This conversation is being closed.", "Send again in the one that is open now.")
        name = f"t{sum(isinstance(record, Said) for record in self.log.records) + 1}-{secrets.token_hex(4)}"
        self.log.append(Said(turn=name, texts=texts))
        self.turn = turn = Turn(name, texts[0])
        self._bus.publish(events.AgentStarted(turn=name, text=texts[0]))
        self._start(turn, waiting=False)
        return name

    def restore(self, turn: Turn) -> None:
        """Go on with a turn that waits for decisions since before this core started."""
        self.turn = turn
        self._start(turn, waiting=True)

    def _start(self, turn: Turn, *, waiting: bool) -> None:
        self._under_way.add(turn)
        self._tasks.start_soon(self._drive, turn, waiting)

    async def _drive(self, turn: Turn, waiting: bool) -> None:
        ended = False
        try:
            with turn.scope:
                ended = await self._contained(turn, waiting=waiting)
        finally:
            self._under_way.remove(turn)
            turn.finished.set()
        if ended and self.turn is None and self.queue and not self._closing:
            name = next(iter(self.queue))
            try:
                self._begin(self.queue[name])
            except RioError as error:
                # It stays in the queue, where its user sees it.
                self.log.notices.append(error.message)
            else:
                del self.queue[name]

    async def _contained(self, turn: Turn, *, waiting: bool) -> bool:
        """Work until the turn ends, however. True when it ended well."""
        try:
            return await self._work(turn, waiting=waiting)
        except TurnOverError:
            pass
        except TurnFailedError as failure:
            await self._fail(turn, failure)
        except RioError as error:
            await self._fail(turn, TurnFailedError("internal", error.message, error.action))
        except Exception as error:
            logger.exception("the turn failed")
            message = f"rio failed: {visible_line(repr(error))[:300]}."
            await self._fail(
                turn, TurnFailedError("internal", message, "Send again; if it stays, report it with the log.")
            )
        return False

    async def _work(self, turn: Turn, *, waiting: bool) -> bool:
        """Ask, run the calls, ask again, until the model stops calling. True when the turn ended well."""
        terms: Terms | None = None
        pauses = 0
        while True:
            if waiting:
                await turn.decided.wait()
                turn.go_on()
            waiting = False
            if terms is None:
                terms = await self._terms()
                turn.go_on()
            answer, stop = await self._ask(turn, terms)
            calls = [block for block in answer.blocks if block.type == "tool_call"]
            if stop.stop == "refusal":
                raise self._refused(turn, stop)
            if calls:
                run = stop.stop in ("tool_use", "end_turn")
                await self._run(turn, calls, why_not="" if run else not_run(stop.stop))
                if run:
                    waiting = bool(turn.proposals)
                    continue
            elif stop.stop == "pause_turn" and pauses < PAUSES:
                pauses += 1
                continue
            self._finish(turn, stop)
            return True

    async def _terms(self) -> Terms:
        handle = await self._providers.selected()
        if handle is None:
            raise TurnFailedError(
                "not_configured",
                "No provider is installed, so there is nobody to answer.",
                "Install one beside rio-core, such as rio-provider-echo, and start again.",
            )
        return Terms(handle, handle.setup(), compose(await self._prompt()), self._toolbox.specs())

    async def _ask(self, turn: Turn, terms: Terms) -> tuple[Answer, Done]:
        handle = terms.handle
        request = Request(
            messages=history.messages(self.log.records, handle.name, terms.context),
            tools=terms.tools,
            system=terms.system,
            setup=terms.setup,
            conversation=self.log.id,
            context=terms.context,
        )
        turn.reply = reply = Reply(self._call_ids())

        async def sink(posted: Sequence[Posted]) -> None:
            for event in posted:
                if turn.closed:
                    return
                reply.take(event)
                self._show(turn, event)
            await self._drain()

        await handle.respond(request, sink)
        turn.go_on()
        end = reply.end
        if not isinstance(end, Done):
            if end is None:
                end = Failure("internal", f"Provider {handle.name} ended without a word.", "Send again.")
            raise TurnFailedError(end.kind, end.message, end.action)
        answer = Answer(
            turn=turn.name,
            blocks=reply.blocks(),
            stop=end.stop,
            provider=handle.name,
            context=terms.context,
            usage=reply.usage,
        )
        if end.stop != "refusal":
            turn.reply = None
            if answer.blocks:
                self.log.append(answer)
                turn.open_calls = [block.id for block in answer.blocks if block.type == "tool_call"]
        if end.usage is not None:
            self._show(turn, end.usage)
        turn.keep_usage()
        return answer, end

    def _show(self, turn: Turn, event: Posted) -> None:
        match event:
            case Delta():
                self._bus.publish(events.AgentDelta(turn=turn.name, text=event.text))
            case Thinking(text) if text:
                self._bus.publish(events.AgentThinking(turn=turn.name, text=text))
            case Waiting():
                self._bus.publish(events.AgentWaiting(turn=turn.name, seconds=event.seconds, reason=event.reason))
            case Usage():
                turn.set_usage(event)
                self._bus.publish(events.AgentUsage(turn=turn.name, usage=turn.usage))
            case _:
                pass

    async def _run(self, turn: Turn, calls: Sequence[Block], *, why_not: str) -> None:
        """Answer calls in order. A call that proposes is answered by its user's decision, all others right away."""
        for call in calls:
            shown = call.raw if call.raw else call.input
            self._bus.publish(events.AgentTool(turn=turn.name, call=call.id, name=call.name, input=shown))
            if why_not:
                self._answer(turn, call.id, Answered(why_not, why_not, ok=False))
                continue
            outcome: Answered | Draft | Proposal = await self._toolbox.call(call.name, call.input, call.raw)
            turn.go_on()
            if isinstance(outcome, Draft):
                try:
                    outcome = await self._desk.propose(turn.name, call.id, outcome)
                except RioError as error:
                    outcome = Answered(f"{error.message} {error.action}", error.message, ok=False)
                turn.go_on()
            if isinstance(outcome, Proposal):
                self._propose(turn, outcome)
            else:
                self._answer(turn, call.id, outcome)

    def _answer(self, turn: Turn, call: str, answer: Answered) -> None:
        text, summary = self.sendable(answer.text), self.sendable(answer.summary)
        self.log.append(Result(turn=turn.name, call=call, text=text, ok=answer.ok, summary=summary))
        turn.open_calls.remove(call)
        self._bus.publish(events.AgentToolResult(turn=turn.name, call=call, ok=answer.ok, summary=summary))

    def _propose(self, turn: Turn, proposal: Proposal) -> None:
        self.log.append(proposal.record)
        if not turn.proposals:
            turn.decided = anyio.Event()
        turn.proposals[proposal.record.proposal] = proposal
        self.publish_proposal(proposal)

    def publish_proposal(self, proposal: Proposal) -> None:
        """Show a proposal in its present round."""
        record = proposal.record
        self._bus.publish(
            events.AgentPropose(
                turn=record.turn,
                proposal=record.proposal,
                call=record.call,
                kind=record.kind,
                path=record.path,
                diff=proposal.diff,
                digest=proposal.digest,
                round=record.round,
                marks=proposal.marks,
            )
        )

    # -- ends --------------------------------------------------------------------------------------------------

    def _finish(self, turn: Turn, stop: Done) -> None:
        text = "".join(
            block.text
            for record in self.log.records
            if isinstance(record, Answer) and record.turn == turn.name
            for block in record.blocks
            if block.type == "text"
        )
        self._close(turn, "done")
        self._bus.publish(
            events.AgentMessage(turn=turn.name, text=text, stop=stop.stop, usage=turn.usage, detail=detail(stop))
        )

    async def _fail(self, turn: Turn, failure: TurnFailedError) -> None:
        async with self._desk.busy:
            if turn.closed:
                return
            queued = self.take_queue()
            message, action = self._mask(failure.message), self._mask(failure.action)
            self._close(turn, "failed", failure)
        self._bus.publish(
            events.AgentError(turn=turn.name, kind=failure.kind, message=message, action=action, queued=queued)
        )

    def _refused(self, turn: Turn, stop: Done) -> TurnFailedError:
        self.log.append(Withdrawn(turn=turn.name))
        return TurnFailedError(
            "request_rejected",
            f"The provider declined to answer. {stop.detail}".strip(),
            "Say it differently, or choose another model; this turn is not sent again.",
        )

    def _close(self, turn: Turn, how: Ending, failure: TurnFailedError | None = None) -> None:
        """End a turn in one go: what was said is kept, what was called is answered, what waits is withdrawn."""
        if turn.closed:
            return
        turn.closed = True
        if self.turn is turn:
            self.turn = None
        records: list[Record] = []
        if turn.reply is not None:
            kept = turn.reply.texts()
            if kept:
                records.append(Answer(turn=turn.name, blocks=kept, stop=how, provider="", context="", complete=False))
        told: list[events.Event] = []
        for proposal in turn.proposals.values():
            records.append(self._withdrawn(proposal))
            told.append(
                events.AgentResolved(
                    turn=turn.name,
                    proposal=proposal.record.proposal,
                    decision="interrupted",
                    by="rio",
                    outcome="interrupted",
                    message=history.INTERRUPTED,
                )
            )
        for call in turn.open_calls:
            records.append(interrupted(turn.name, call))
            told.append(events.AgentToolResult(turn=turn.name, call=call, ok=False, summary="Interrupted."))
        ended = Ended(turn=turn.name, how=how)
        if failure is not None:
            ended.kind, ended.message, ended.action = failure.kind, failure.message, failure.action
        self.log.keep(*records, ended)
        for event in told:
            self._bus.publish(event)
        turn.scope.cancel()

    def _withdrawn(self, proposal: Proposal) -> Decided:
        record: Proposed = proposal.record
        return Decided(
            turn=record.turn,
            proposal=record.proposal,
            digest=proposal.digest,
            decision="interrupted",
            by="rio",
            outcome="interrupted",
            message=history.INTERRUPTED,
        )

    def _call_ids(self) -> set[str]:
        return {
            block.id
            for record in self.log.records
            if isinstance(record, Answer)
            for block in record.blocks
            if block.type == "tool_call"
        }


def answered(turn: str, call: str, decided: Decided) -> Result:
    """The result of a call whose proposal was decided, as far as the decision tells."""
    return Result(turn=turn, call=call, text=decided.message, ok=decided.outcome == "applied", summary=decided.outcome)


def interrupted(turn: str, call: str) -> Result:
    """The result of a call that was not run to its end."""
    return Result(turn=turn, call=call, text=history.INTERRUPTED, ok=False, summary="Interrupted.")
