"""What a provider posts, checked and cleaned: only known types, only JSON, no half characters.

Runs on the plugin loop, as looking at foreign objects can run foreign code. Raises ValueError with what is wrong.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from rio_core.api import Delta, Done, Failure, FailureKind, Native, Posted, Thinking, ToolCall, Usage, Waiting

__all__ = ["checked", "plain", "whole"]

DEEPEST: Final = 200
"""Levels of nested JSON: more than any tool has, and less than any encoder takes."""
LONGEST_NUMBER: Final = 4096
"""Bits of an integer. Python writes no longer ones as text (its limit is 4,300 digits)."""
_KINDS: Final = frozenset(get_args(FailureKind))


def whole(text: object, what: str) -> str:
    """The text with surrogate pairs joined, and U+FFFD for every surrogate that is alone."""
    if not isinstance(text, str):
        raise ValueError(f"{what} is {type(text).__name__}, not text")
    text = str.__str__(text)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain(value: object, what: str, depth: int = 0) -> Any:
    """A copy of JSON data that nobody else holds."""
    if depth > DEEPEST:
        raise ValueError(f"{what} is nested deeper than {DEEPEST} levels")
    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        return whole(value, what)
    if type(value) is int and value.bit_length() <= LONGEST_NUMBER:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {whole(name, f"a name in {what}"): plain(member, what, depth + 1) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member, what, depth + 1) for member in value]
    raise ValueError(f"{what} holds a {type(value).__name__}, which is not JSON data")


def checked(event: object) -> Posted:
    """A clean copy of one event. Deltas are cleaned by who sees them in a row."""
    match event:
        case Delta():
            return Delta(_text(event.text, "the text of a Delta"))
        case Thinking():
            return Thinking(_text(event.text, "the text of a Thinking"))
        case ToolCall():
            return _call(event)
        case Native():
            return Native(plain(event.data, "the data of a Native"), bool(event.alone))
        case Waiting():
            return Waiting(_seconds(event.seconds), whole(event.reason, "the reason of a Waiting"))
        case Usage():
            return _usage(event)
        case Done():
            usage = None if event.usage is None else _usage(event.usage)
            return Done(whole(event.stop, "the stop of a Done"), usage, whole(event.detail, "the detail of a Done"))
        case Failure():
            if event.kind not in _KINDS:
                raise ValueError(f"a Failure has the kind {event.kind!a}, which does not exist")
            return Failure(
                event.kind,
                whole(event.message, "the message of a Failure"),
                whole(event.action, "the action of a Failure"),
            )
    raise ValueError(f"a {type(event).__name__} is no event")


def _text(text: object, what: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{what} is {type(text).__name__}, not text")
    return str.__str__(text)


def _call(call: ToolCall) -> ToolCall:
    name = whole(call.name, "the name of a ToolCall")
    given = call.input
    if isinstance(given, str):
        clean: Any = whole(given, "the input of a ToolCall")
    elif isinstance(given, Mapping):
        clean = plain(given, "the input of a ToolCall")
    else:
        raise ValueError(f"the input of a ToolCall is {type(given).__name__}, neither an object nor text")
    return ToolCall(whole(call.id, "the id of a ToolCall"), name, clean)


def _seconds(seconds: object) -> float:
    if type(seconds) not in (int, float) or not 0 <= seconds < math.inf:  # type: ignore[operator]
        raise ValueError("the seconds of a Waiting are no time")
    return float(seconds)  # type: ignore[arg-type]


def _usage(usage: Usage) -> Usage:
    if not isinstance(usage, Usage):
        raise ValueError(f"the usage of a Done is {type(usage).__name__}, not Usage")
    counts: Sequence[object] = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    if any(type(count) is not int or not 0 <= count < 2**53 for count in counts):
        raise ValueError("a count of a Usage is no whole number from 0")
    if usage.cost is not None and (type(usage.cost) not in (int, float) or not 0 <= usage.cost < math.inf):
        raise ValueError("the cost of a Usage is no number from 0")
    detail = plain(usage.detail, "the detail of a Usage")
    if not isinstance(detail, dict):
        raise ValueError("the detail of a Usage is no object")
    return Usage(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        cost=usage.cost,
        estimate=whole(usage.estimate, "the estimate of a Usage"),
        detail=detail,
    )
