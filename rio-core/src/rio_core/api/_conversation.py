"""The conversation as providers see it: plain values that know nothing of storage, wire or service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Block", "Message", "Opaque", "Text", "Thought", "ToolResult", "ToolUse"]


@dataclass(frozen=True, slots=True)
class Text:
    """Text of the user or of the model; never blank. `native` is the service's own form of it, as it came."""

    text: str
    native: Any = None


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thought. Given only to the provider, model, tools and system prompt that it was thought under."""

    text: str
    native: Any = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool. `id` is unique in the conversation."""

    id: str
    name: str
    input: Mapping[str, Any]
    native: Any = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to the call with this id; in the message right after it, before any text."""

    id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of the service that rio does not know, to be sent back as it came."""

    native: Any


Block = Text | Thought | ToolUse | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Roles alternate, the first is the user's, `blocks` is never empty."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...] = field(default=())
