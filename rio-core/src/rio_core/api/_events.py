"""What a provider posts while it answers.

In order: any number of Delta, Thinking, ToolCall, Native, Waiting and Usage, then exactly one of Done and Failure.
After that nothing more is taken.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rio_core.protocol.events import FailureKind
from rio_core.protocol.values import Usage

__all__ = [
    "Delta", "Done", "Failure", "FailureKind", "Native", "Post", "Posted", "Stop", "Thinking", "ToolCall", "Usage",
    "Waiting",
]  # fmt: skip

Stop = Literal[
    "end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded",
]  # fmt: skip
"""The reasons for which a reply stops that rio knows. Any other text is shown to the user as it is."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A chunk of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A chunk of what the model thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call. `input` is an object, or the text that the model sent when that is not valid JSON."""

    id: str
    name: str
    input: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Native:
    """The service's own form of the block just posted (the deltas since the block before are one block).

    With `alone` it is a block that rio does not know. It is JSON data, stored in its place, never read, and given back
    in the conversation to the provider that posted it.
    """

    data: Any
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """The provider waits this many seconds before it tries again, and why; shown as a countdown that can be stopped."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The reply is complete. `detail` is a sentence for the user where the reason alone does not say enough."""

    stop: Stop | str
    usage: Usage | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """There is no whole reply. What was posted before is kept, and marked as incomplete.

    `message` says what happened; `action` is the next thing that the user can do.
    """

    kind: FailureKind
    message: str
    action: str


Posted = Delta | Thinking | ToolCall | Native | Waiting | Usage | Done | Failure


class Post(Protocol):
    """Takes an event at once. Await what it returns, so that a slow front end can hold a fast provider back."""

    def __call__(self, event: Posted, /) -> Awaitable[None]: ...
