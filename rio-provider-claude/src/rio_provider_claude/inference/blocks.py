"""The blocks of one answer while they come in, each kind by its own rules.

Source: Messages API, "Streaming": the kinds, their deltas, and which of them come whole in the first event.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from rio_core.api import Delta, Native, Posted, Thinking, ToolCall
from rio_provider_claude.inference.jsons import Joiner, parse, sound

__all__ = ["Block", "MalformedError", "begin", "string"]


class MalformedError(Exception):
    """The service sent something that its documentation rules out."""


def string(event: Mapping[str, Any], name: str) -> str:
    """The string of this name. Raises `MalformedError` where there is none."""
    value = event.get(name)
    if not isinstance(value, str):
        raise MalformedError(f"“{name}” is not a text")
    return value


class Block(Protocol):
    """A block that is coming in. What its methods return is to be posted, in order."""

    def take(self, delta: Mapping[str, Any]) -> Sequence[Posted]:
        """Add a delta. One of a type that is not known is skipped. Raises `MalformedError`."""
        ...

    def close(self) -> Sequence[Posted]:
        """The block is complete."""
        ...

    def cut(self) -> Sequence[Posted]:
        """The answer ended inside the block."""
        ...

    @property
    def bound(self) -> bool:
        """Of use to the service only behind exactly what stood before it."""
        ...

    @property
    def lost(self) -> bool:
        """Complete, yet not to be sent back as it came."""
        ...

    @property
    def doubtful(self) -> bool:
        """Complete, yet perhaps cut off by the token limit: only what comes next tells."""
        ...


class _Text:
    """Text with its citations."""

    bound: Final = False
    lost: Final = False
    doubtful: Final = False

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._texts: list[str] = []
        self._joiner = Joiner()

    def take(self, delta: Mapping[str, Any]) -> Sequence[Posted]:
        kind = delta.get("type")
        if kind == "text_delta":
            return self._post(self._joiner.feed(string(delta, "text")))
        if kind == "citations_delta":
            self._start["citations"] = [*(self._start.get("citations") or ()), delta.get("citation")]
        return ()

    def close(self) -> Sequence[Posted]:
        posts = self._post(self._joiner.close())
        if not self._texts:
            return posts  # nothing was shown: there is no block for the service's form to belong to
        return (*posts, Native(sound({**self._start, "text": "".join(self._texts)})))

    cut = close

    def _post(self, text: str) -> tuple[Posted, ...]:
        if not text:
            return ()
        self._texts.append(text)
        return (Delta(text),)


class _Thinking:
    """Thinking with its signature. The text may be left out by the service, the signature never."""

    bound: Final = True
    lost: Final = False
    doubtful: Final = False

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._texts: list[str] = []
        self._joiner = Joiner()

    def take(self, delta: Mapping[str, Any]) -> Sequence[Posted]:
        kind = delta.get("type")
        if kind == "thinking_delta":
            return self._post(self._joiner.feed(string(delta, "thinking")))
        if kind == "signature_delta":
            self._start["signature"] = string(delta, "signature")
        return ()

    def close(self) -> Sequence[Posted]:
        posts = self._post(self._joiner.close())
        if not self._start.get("signature"):
            return posts  # unsigned, it would be refused when sent back
        if not self._texts:
            posts = (Thinking(""),)
        return (*posts, Native(sound({**self._start, "thinking": "".join(self._texts)})))

    def cut(self) -> Sequence[Posted]:
        return self._post(self._joiner.close())

    def _post(self, text: str) -> tuple[Posted, ...]:
        if not text:
            return ()
        self._texts.append(text)
        return (Thinking(text),)


class _Redacted:
    """Thinking that the service shows to nobody; it comes whole."""

    bound: Final = True
    lost: Final = False
    doubtful: Final = False

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start

    def take(self, delta: Mapping[str, Any]) -> Sequence[Posted]:
        return ()

    def close(self) -> Sequence[Posted]:
        return (Thinking(""), Native(sound(self._start)))

    def cut(self) -> Sequence[Posted]:
        return ()


class _ToolUse:
    """A call. Its input comes in pieces of JSON text, and is read once, when all are there."""

    bound: Final = False

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._id = string(start, "id")
        self._name = string(start, "name")
        self._pieces: list[str] = []
        self.lost = False
        self.doubtful = False

    def take(self, delta: Mapping[str, Any]) -> Sequence[Posted]:
        if delta.get("type") == "input_json_delta":
            self._pieces.append(string(delta, "partial_json"))
        return ()

    def close(self) -> Sequence[Posted]:
        text = "".join(self._pieces)
        try:
            given = sound(parse(text)) if text.strip() else self._start.get("input") or {}
        except ValueError:
            given = None
        if not isinstance(given, dict):
            self.lost = self.doubtful = True
            return (ToolCall(self._id, self._name, text),)
        self.doubtful = not given
        return (ToolCall(self._id, self._name, given), Native(sound({**self._start, "input": given})))

    def cut(self) -> Sequence[Posted]:
        return ()


class _Opaque:
    """A block that rio does not know: kept as it came, unless a part of it was not understood."""

    bound: Final = False
    doubtful: Final = False

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._pieces: list[str] = []
        self.lost = False

    def take(self, delta: Mapping[str, Any]) -> Sequence[Posted]:
        match delta.get("type"):
            case "input_json_delta":
                self._pieces.append(string(delta, "partial_json"))
            case "compaction_delta":  # one delta with the whole content
                self._start |= {key: value for key, value in delta.items() if key != "type" and value is not None}
            case _:
                self.lost = True
        return ()

    def close(self) -> Sequence[Posted]:
        text = "".join(self._pieces)
        try:
            native = sound({**self._start, "input": parse(text)} if text.strip() else self._start)
        except ValueError:
            self.lost = True
            return ()
        return () if self.lost else (Native(native, alone=True),)

    def cut(self) -> Sequence[Posted]:
        return ()


_KINDS: Final[dict[str, Callable[[dict[str, Any]], Block]]] = {
    "text": _Text,
    "thinking": _Thinking,
    "redacted_thinking": _Redacted,
    "tool_use": _ToolUse,
}
_OPENING: Final = {"text": "text_delta", "thinking": "thinking_delta"}


def begin(start: dict[str, Any]) -> tuple[Block, Sequence[Posted]]:
    """The block that this first event opens, and what of it can be shown already. Raises `MalformedError`."""
    kind = string(start, "type")
    block = _KINDS.get(kind, _Opaque)(start)
    if kind in _OPENING and start.get(kind):
        return block, block.take({"type": _OPENING[kind], kind: start[kind]})
    return block, ()
