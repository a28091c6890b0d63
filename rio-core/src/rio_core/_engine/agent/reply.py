"""One reply of a provider, as it comes in."""

import json
from collections.abc import Iterable
from typing import Any, Final

from rio_core._engine.agent.history import unique_id
from rio_core._engine.agent.records import Block
from rio_core._engine.plugins.posted import plain
from rio_core.api import Delta, Done, Failure, Native, Posted, Thinking, ToolCall, Usage, Waiting

__all__ = ["Reply"]

_UNNAMED: Final = "unnamed"
"""Stands for a tool's name that the model left blank: no service takes a blank one back."""


class Reply:
    """Collects what a provider posts into blocks. A run of deltas is one block until something else comes."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._changed: set[str] = set()
        self._blocks: list[Block] = []
        self._open: Block | None = None
        self._parts: list[str] = []
        self.usage: Usage | None = None
        self.end: Done | Failure | None = None

    def take(self, event: Posted) -> None:
        """Add one event. Raises nothing: the plugin host lets only well-formed ones through."""
        match event:
            case Delta():
                self._grow("text", event.text)
            case Thinking():
                self._grow("thinking", event.text)
            case ToolCall():
                self._close()
                self._blocks.append(self._call(event))
            case Native(alone=True):
                self._close()
                self._blocks.append(Block(type="opaque", native=event.data))
            case Native():
                self._native(event.data)
            case Usage():
                self.usage = event
            case Done():
                self._close()
                self.usage = event.usage or self.usage
                self.end = event
            case Failure():
                self._close()
                self.end = event
            case Waiting():
                pass

    def blocks(self) -> list[Block]:
        """The whole reply. Blank text is left out, as no provider takes it back."""
        self._close()
        return [block for block in self._blocks if block.type != "text" or block.text.strip()]

    def texts(self) -> list[Block]:
        """What can be kept of a reply that was cut off: its text. Calls and thoughts may be half of what was meant."""
        self._close()
        return [
            Block(type="text", text=block.text) for block in self._blocks if block.type == "text" and block.text.strip()
        ]

    def text(self) -> str:
        """The text so far."""
        return "".join(block.text for block in self._blocks if block.type == "text") + self._pending("text")

    def thinking(self) -> str:
        """The thoughts so far."""
        return "".join(block.text for block in self._blocks if block.type == "thinking") + self._pending("thinking")

    def _pending(self, kind: str) -> str:
        return "".join(self._parts) if self._open and self._open.type == kind else ""

    def _grow(self, kind: Any, text: str) -> None:
        if self._open is None or self._open.type != kind:
            self._close()
            self._open = Block(type=kind)
            self._blocks.append(self._open)
        self._parts.append(text)

    def _close(self) -> None:
        if self._open is not None:
            self._open.text = "".join(self._parts)
            self._parts.clear()
            self._open = None

    def _native(self, data: Any) -> None:
        self._close()
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.native is not None:
            self._blocks.append(Block(type="opaque", native=data))
        elif last.id not in self._changed:
            last.native = data

    def _call(self, call: ToolCall) -> Block:
        given, raw = _input(call.input)
        taken = {*self._taken, *(block.id for block in self._blocks)}
        name = unique_id(call.id, taken)
        tool = call.name if call.name.strip() else _UNNAMED
        if name != call.id or tool != call.name or raw:
            # The service's own form holds what was changed here: the plain form is sent back in its place.
            self._changed.add(name)
        return Block(type="tool_call", id=name, name=tool, input=given, raw=raw)


def _input(given: Any) -> tuple[dict[str, Any], str]:
    """The object that a call was given, or none and the text that is no object. Blank text means an empty object."""
    if not isinstance(given, str):
        return dict(given), ""
    try:
        value = plain(json.loads(given), "the input") if given.strip() else {}
    except (ValueError, RecursionError):
        value = None
    return (value, "") if isinstance(value, dict) else ({}, given)
