"""What the core tells its front ends without being asked. Each type is one notification; `NAME` is its method."""

from typing import Any, ClassVar, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from rio_core.protocol.values import Edit, Usage

FailureKind = Literal[
    "not_configured", "authentication", "rate_limited", "server", "network", "unexpected_response",
    "request_rejected", "internal",
]  # fmt: skip
ProposalKind = Literal["edit", "create", "command"]
Decision = Literal["approve", "reject"]
Outcome = Literal["applied", "rejected", "refused", "interrupted"]


class Event(Struct):
    """A notification of the core."""

    NAME: ClassVar[str]


class PluginChanged(Event):
    """The set of plugins, or the status of one, is another now: ask `plugin.list`."""

    NAME = "plugin.changed"
    plugins: int


class ProviderChanged(Event):
    """Providers came or went, or another one is selected."""

    NAME = "provider.changed"
    selected: str | None


class SettingsChanged(Event):
    """A setting has a new value. Secrets are named, never shown."""

    NAME = "settings.changed"
    key: str


class ProjectOpened(Event):
    """The core serves a project from now on, or its trust has changed."""

    NAME = "project.opened"
    root: str
    trusted: bool


class FsChanged(Event):
    """Entries came, went or were renamed by rio itself."""

    NAME = "fs.changed"
    paths: list[str]


class BufferChanged(Event):
    """A buffer has a new revision. The edits apply in order, each in the coordinates that the one before left."""

    NAME = "buffer.changed"
    buffer: str
    revision: int
    edits: list[Edit]
    origin: str
    """`client`, `agent`, `undo`, `redo`, `reload` or `core`."""
    dirty: bool
    reset: bool = False
    """The edits are too long to be told (over 1 MiB of text) and left out: read the lines that are in view again."""
    request: int | str | UnsetType = UNSET
    """The id of the request that caused it, where that came from this connection."""


class BufferSaved(Event):
    """A buffer is on disk as it was at this revision."""

    NAME = "buffer.saved"
    buffer: str
    revision: int
    path: str
    dirty: bool


class BufferStale(Event):
    """The file behind a buffer is no longer the one that was read."""

    NAME = "buffer.stale"
    buffer: str
    path: str
    reason: Literal["changed", "deleted"]


class BufferClosed(Event):
    """A buffer is gone."""

    NAME = "buffer.closed"
    buffer: str


class AgentEvent(Event):
    """Something that happened in a turn."""

    turn: str


class AgentStarted(AgentEvent):
    """A turn began with this text of the user."""

    NAME = "agent.started"
    text: str


class AgentQueued(Event):
    """A message waits for the running turn to end."""

    NAME = "agent.queued"
    queued: str
    text: str


class AgentDelta(AgentEvent):
    """A chunk of the reply."""

    NAME = "agent.delta"
    text: str


class AgentThinking(AgentEvent):
    """A chunk of what the model thinks."""

    NAME = "agent.thinking"
    text: str


class AgentWaiting(AgentEvent):
    """The provider waits before it tries again."""

    NAME = "agent.waiting"
    seconds: float
    reason: str


class AgentTool(AgentEvent):
    """The model called a tool. `input` is an object, or the text of one that is not valid JSON."""

    NAME = "agent.tool"
    call: str
    name: str
    input: Any


class AgentToolResult(AgentEvent):
    """A call is answered. `summary` is one line for people; the model gets the whole."""

    NAME = "agent.tool_result"
    call: str
    ok: bool
    summary: str


class AgentPropose(AgentEvent):
    """A change that waits for its user's decision, shown as a unified diff of LF text."""

    NAME = "agent.propose"
    proposal: str
    call: str
    kind: ProposalKind
    path: str
    diff: str
    digest: str
    round: int = 0
    marks: list[str] = []
    """What the user should know before deciding: the file can run later, hidden characters, shapes later turns."""


class AgentOutput(AgentEvent):
    """Output of a running command or tool."""

    NAME = "agent.output"
    call: str
    stream: Literal["stdout", "stderr", "progress"]
    text: str


class AgentResolved(AgentEvent):
    """A proposal no longer waits. `message` is what the model is told."""

    NAME = "agent.resolved"
    proposal: str
    decision: Literal["approve", "reject", "interrupted"]
    by: str
    outcome: Outcome
    message: str


class AgentUsage(AgentEvent):
    """Totals of the turn so far; they overwrite the ones before."""

    NAME = "agent.usage"
    usage: Usage


class AgentMessage(AgentEvent):
    """The turn is complete."""

    NAME = "agent.message"
    text: str
    stop: str
    usage: Usage
    detail: str = ""
    """A sentence for the user where the reply did not simply end."""


class AgentError(AgentEvent):
    """The turn failed. `action` names what to do next; nothing that was typed or done is lost."""

    NAME = "agent.error"
    kind: FailureKind
    message: str
    action: str
    queued: list[str] = []
    """Texts that were waiting, handed back."""


class AgentStopped(AgentEvent):
    """The turn was stopped by its user, or by a new message."""

    NAME = "agent.stopped"


EVENTS: Final[dict[str, type[Event]]] = {
    event.NAME: event
    for event in (
        PluginChanged, ProviderChanged, SettingsChanged, ProjectOpened, FsChanged,
        BufferChanged, BufferSaved, BufferStale, BufferClosed,
        AgentStarted, AgentQueued, AgentDelta, AgentThinking, AgentWaiting, AgentTool, AgentToolResult, AgentPropose,
        AgentOutput, AgentResolved, AgentUsage, AgentMessage, AgentError, AgentStopped,
    )
}  # fmt: skip
