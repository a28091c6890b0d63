"""`agent`: the conversation, and the decisions on what the agent proposes."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from rio_core.protocol.events import Outcome, ProposalKind
from rio_core.protocol.ops._op import Done, Nothing, Op
from rio_core.protocol.values import Hunk, Params, Position, Result


class Attachment(Params):
    """A file, or a range of its lines (from 0, `count` of them), that goes along with a message."""

    path: str
    first: int | None = None
    count: int | None = None


class SendParams(Params):
    """Say something to the agent. While a turn works it is stopped, unless `queue` lets the message wait."""

    text: str
    queue: bool = False
    attachments: list[Attachment] = []


class SendResult(Result):
    """The turn that began, or the id of the message that waits."""

    turn: str | UnsetType = UNSET
    queued: str | UnsetType = UNSET


class UnqueueParams(Params):
    """Take a waiting message back."""

    queued: str


class TextResult(Result):
    """A text."""

    text: str


class ApproveParams(Params):
    """Decide one proposal, as it was shown: a decision counts once, for that proposal with that digest.

    With approve, `hunks` keeps only those hunks, or `text` takes the place of the proposal's `new`. With reject,
    `reason` is told to the model.
    """

    turn: str
    proposal: str
    digest: str
    decision: Literal["approve", "reject"]
    hunks: list[int] | None = None
    text: str | None = None
    reason: str | None = None


class ApproveResult(Result):
    """What became of it, and what the model is told."""

    outcome: Outcome
    message: str


class ProposalParams(Params):
    """One waiting proposal."""

    turn: str
    proposal: str


class ProposalResult(Result):
    """A proposal as it stands. `at` is where `old` is in the text now, null where it is gone or ambiguous.

    `digest` is the SHA-256, in hexadecimal, of the JSON object with the members `kind`, `new`, `old`, `path`,
    `proposal` and `round`, in that order, as ASCII without spaces (Python: `json.dumps(members, sort_keys=True,
    separators=(",", ":"))`); `old` and `new` have LF line ends.
    """

    path: str
    kind: ProposalKind
    old: str
    new: str
    at: Position | None
    digest: str
    hunks: list[Hunk]
    round: int
    diff: str
    marks: list[str]


class StopParams(Params):
    """Stop the running turn, or only the named one."""

    turn: str | None = None


class StopResult(Result):
    """How many turns were stopped, and the texts that were waiting, handed back."""

    stopped: int
    queued: list[str]


class HistoryParams(Params):
    """Messages before index `before` (from the end without it), at most `limit`."""

    before: int | None = None
    limit: int = 50


class HistoryMessage(Struct):
    """One message. Each block is an object with `type`: `text`, `thinking`, `tool_call`, `tool_result` or `opaque`."""

    index: int
    role: Literal["user", "assistant"]
    turn: str
    blocks: list[dict[str, Any]]
    stop: str | None = None


class Running(Struct):
    """The turn that is under way, with what the model has said since its last complete message.

    Of a very long reply only the end is given: up to 40,000 bytes each.
    """

    turn: str
    text: str
    thinking: str


class Waiting(Struct):
    """A proposal that waits; `agent.proposal` has the whole of it."""

    turn: str
    proposal: str
    call: str
    kind: ProposalKind
    path: str
    digest: str
    round: int


class Queued(Struct):
    """A message that waits."""

    queued: str
    text: str


class HistoryResult(Result):
    """The newest messages that fit, oldest first. `before` is what to ask for next; without it there are no older ones.

    A block that is too long for an answer is cut, with `cut` set in it.
    """

    conversation: str
    messages: list[HistoryMessage]
    total: int
    running: Running | None
    proposals: list[Waiting]
    queued: list[Queued]
    notices: list[str]
    before: int | UnsetType = UNSET


class Conversation(Struct):
    """A conversation of this project. `created` is seconds since 1970."""

    id: str
    title: str
    created: float
    messages: int
    current: bool
    busy: bool
    """Another core holds it."""


class ConversationsResult(Result):
    """Newest first."""

    conversations: list[Conversation]


class ConversationParams(Params):
    """One conversation."""

    conversation: str


class RenameParams(Params):
    """Give a conversation a title."""

    conversation: str
    title: str


class ExportParams(Params):
    """A conversation as Markdown, a page at a time."""

    conversation: str
    first: int = 0


class ExportResult(Result):
    """`next` is the offset that goes on; without it the end is reached."""

    text: str
    next: int | UnsetType = UNSET


class ResetResult(Result):
    """The conversation that goes on now, and the texts that were queued in the one before, handed back."""

    conversation: str
    queued: list[str] = []


class StatusResult(Result):
    """What the agent is doing."""

    conversation: str
    running: str | None
    waiting: int
    queued: int
    provider: str | None
    model: str | None


class Layer(Struct):
    """One layer of the system prompt. `reason` says why it is off."""

    name: str
    source: str
    on: bool
    text: str
    reason: str = ""


class PromptResult(Result):
    """The layers of the system prompt, and the text that the next turn will send."""

    layers: list[Layer]
    text: str


OPS = (
    Op("agent.send", SendParams, SendResult, decides=True),
    Op("agent.unqueue", UnqueueParams, TextResult, decides=True),
    Op("agent.approve", ApproveParams, ApproveResult, decides=True),
    Op("agent.proposal", ProposalParams, ProposalResult),
    Op("agent.stop", StopParams, StopResult),
    Op("agent.reset", Nothing, ResetResult, "Begin a new conversation; the one before is kept.", decides=True),
    Op("agent.history", HistoryParams, HistoryResult),
    Op("agent.conversations", Nothing, ConversationsResult, "List the conversations of the project."),
    Op("agent.resume", ConversationParams, ResetResult, "Go on with an older conversation.", decides=True),
    Op("agent.rename", RenameParams, Done),
    Op("agent.export", ExportParams, ExportResult),
    Op("agent.delete", ConversationParams, Done, "Delete a conversation that is not the current one.", decides=True),
    Op("agent.status", Nothing, StatusResult, "Tell what the agent is doing."),
    Op("agent.prompt", Nothing, PromptResult, "Show the system prompt."),
)
