"""The script language of echo: what the README describes, as data. Knows nothing of rio but its kinds of failure."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, get_args

from rio_core.api import FailureKind

__all__ = [
    "STEPS", "Call", "Fail", "Flood", "Pause", "Raise", "Say", "ScriptError", "Silent", "Step", "Stop", "Think",
    "is_script", "parse",
]  # fmt: skip

MOST_FLOOD: Final = 1_000_000
LONGEST_PAUSE: Final = 86_400


class ScriptError(Exception):
    """A mistake in a script. The text names the line, from 1, and says what is wrong."""


@dataclass(frozen=True)
class Say:
    """Stream the text."""

    text: str


@dataclass(frozen=True)
class Think:
    """Stream the text as thinking."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call a tool, with an object, or with text that is no JSON."""

    name: str
    input: Mapping[str, Any] | str


@dataclass(frozen=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Flood:
    """Post so many deltas at once."""

    count: int


@dataclass(frozen=True)
class Fail:
    """End with a failure."""

    kind: FailureKind
    message: str


@dataclass(frozen=True)
class Stop:
    """End with this stop reason."""

    reason: str


@dataclass(frozen=True)
class Raise:
    """Raise inside the provider."""

    text: str


@dataclass(frozen=True)
class Silent:
    """Return without ending."""


Step = Say | Think | Call | Pause | Flood | Fail | Stop | Raise | Silent

_LAST = (Fail, Stop, Raise, Silent)
"""Steps that end the answer."""


def is_script(message: str) -> bool:
    """Whether any line of the message begins with `/`."""
    return message.startswith("/") or "\n/" in message


def parse(message: str) -> list[list[Step]]:
    """The steps of each answer, split at `/then`. Raises ScriptError."""
    answers: list[list[Step]] = [[]]
    for number, line in enumerate(message.split("\n"), 1):
        try:
            _add(answers, line.removesuffix("\r"))
        except ValueError as error:
            raise ScriptError(f"line {number}: {error}") from None
    return answers


def _add(answers: list[list[Step]], line: str) -> None:
    if not line.strip():
        return
    if not line.startswith("/"):
        _wrong("in a script every line begins with `/` or is blank")
    name, _, rest = line[1:].partition(" ")
    if name == "then":
        if rest.strip():
            _wrong("/then stands alone")
        answers.append([])
        return
    if name not in STEPS:
        _wrong(f"there is no step /{name}; the steps are {', '.join(f'/{step}' for step in STEPS)} and /then")
    if answers[-1] and isinstance(answers[-1][-1], _LAST):
        _wrong("the step before it ends the answer; only /then can follow")
    answers[-1].append(STEPS[name](rest))


def _say(rest: str) -> Step:
    return Say(rest) if rest.strip() else _wrong("/say needs a TEXT")


def _think(rest: str) -> Step:
    return Think(rest) if rest.strip() else _wrong("/think needs a TEXT")


def _tool(rest: str) -> Step:
    name, _, text = rest.partition(" ")
    if not name or not text.strip():
        _wrong("/tool needs a NAME and a JSON object, such as /tool fs_list {}")
    try:
        given = json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        _wrong(f"the input of /tool is not JSON: {error}")
    except RecursionError:
        _wrong("the input of /tool is nested too deeply")
    if not isinstance(given, dict):
        _wrong("the input of /tool is JSON, but no object")
    return Call(name, given)


def _raw_tool(rest: str) -> Step:
    name, _, text = rest.partition(" ")
    return Call(name, text) if name else _wrong("/raw-tool needs a NAME and a TEXT")


def _pause(rest: str) -> Step:
    # Not all that float() reads: it also takes nan, 1_0 and digits of other scripts.
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", rest.strip()) or float(rest) > LONGEST_PAUSE:
        _wrong(f"/pause needs SECONDS, a number from 0 to {LONGEST_PAUSE}")
    return Pause(float(rest))


def _flood(rest: str) -> Step:
    if not re.fullmatch(r"[0-9]{1,9}", rest.strip()) or int(rest) > MOST_FLOOD:
        _wrong(f"/flood needs a whole number from 0 to {MOST_FLOOD}")
    return Flood(int(rest))


def _fail(rest: str) -> Step:
    kind, _, text = rest.partition(" ")
    known: tuple[FailureKind, ...] = get_args(FailureKind)
    for each in known:
        if each == kind and text.strip():
            return Fail(each, text)
    return _wrong(f"/fail needs a KIND and a TEXT; the kinds are {', '.join(known)}")


def _stop(rest: str) -> Step:
    reason = rest.strip()
    return Stop(reason) if reason and " " not in reason else _wrong("/stop needs a REASON of one word")


def _raise(rest: str) -> Step:
    return Raise(rest) if rest.strip() else _wrong("/raise needs a TEXT")


def _silent(rest: str) -> Step:
    return Silent() if not rest.strip() else _wrong("/silent stands alone")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _wrong(what: str) -> NoReturn:
    raise ValueError(what)


STEPS: Final[Mapping[str, Callable[[str], Step]]] = {
    "say": _say,
    "think": _think,
    "tool": _tool,
    "raw-tool": _raw_tool,
    "pause": _pause,
    "flood": _flood,
    "fail": _fail,
    "stop": _stop,
    "raise": _raise,
    "silent": _silent,
}
"""Every step but `/then`, and what reads the rest of its line."""
