"""The one line rule: LF, CRLF and CR end a line, and nothing else does.

Form feed, U+0085, U+2028 and the other characters at which `str.splitlines` breaks are ordinary here. A
text has one line more than it has ends: the line behind a final end is empty, and a caret can stand in it.
"""

import re
from bisect import bisect_left
from typing import Final, Literal, NamedTuple

Ending = Literal["lf", "crlf", "cr"]
LineEnding = Literal["lf", "crlf", "cr", "mixed"]

ENDS: Final[dict[Ending, str]] = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
END: Final = re.compile("\r\n|\n|\r")
_CUT: Final = re.compile("(\r\n|\n|\r)")


class Tally(NamedTuple):
    """How many line ends of each kind a text has."""

    lf: int
    crlf: int
    cr: int

    @property
    def ends(self) -> int:
        """All line ends."""
        return self.lf + self.crlf + self.cr

    def line_ending(self, default: Ending) -> LineEnding:
        """The kind of every end, `mixed` when there are several kinds, `default` when there is no end."""
        kinds: list[Ending] = []
        if self.lf:
            kinds.append("lf")
        if self.crlf:
            kinds.append("crlf")
        if self.cr:
            kinds.append("cr")
        if not kinds:
            return default
        return kinds[0] if len(kinds) == 1 else "mixed"


def tally(text: str, stop: int | None = None) -> Tally:
    """Count the ends in `text[:stop]`. `stop` is not between a CR and its LF."""
    lf = text.count("\n", 0, stop)
    if text.find("\r", 0, stop) < 0:  # much faster than to count none
        return Tally(lf, 0, 0)
    cr = text.count("\r", 0, stop)
    crlf = text.count("\r\n", 0, stop)
    return Tally(lf - crlf, crlf, cr - crlf)


def count(text: str) -> int:
    """The number of lines, at least one."""
    return tally(text).ends + 1


def line_ending(text: str, default: Ending = "lf") -> LineEnding:
    """What ends the lines of a text; `default` for a text without line ends."""
    return tally(text).line_ending(default)


def split(text: str) -> list[tuple[str, str]]:
    """Every line as (content, end). The last end is empty."""
    parts = _CUT.split(text)
    return list(zip(parts[::2], [*parts[1::2], ""], strict=True))


def to_lf(text: str) -> str:
    """The text with LF for every line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def crlf_places(text: str) -> list[int]:
    """The offset of each CRLF's end in `to_lf(text)`, in order."""
    return [found.start() - index for index, found in enumerate(re.finditer("\r\n", text))]


def original(offset: int, places: list[int]) -> int:
    """The offset in a text of an offset in its form with LF, given its `crlf_places`. Never between CR and LF."""
    return offset + bisect_left(places, offset)


def with_ending(text: str, ending: Ending) -> str:
    """The text with the same end for every line."""
    text = to_lf(text)
    return text if ending == "lf" else text.replace("\n", ENDS[ending])


def behind_end(text: str, number: int, ends: Tally) -> int:
    """The offset just behind the `number`-th end of a text that has the `ends`; 0 for the number 0."""
    if number == 0:
        return 0
    total = ends.ends
    if total not in ends:
        for index, found in enumerate(END.finditer(text), 1):
            if index == number:
                return found.end()
        raise ValueError(number)
    end = "\n" if ends.lf else "\r\n" if ends.crlf else "\r"
    # Splitting is the fastest way to the n-th place, from whichever side is nearer.
    if 2 * number <= total:
        return len(text) - len(text.split(end, number)[number])
    return len(text.rsplit(end, total - number + 1)[0]) + len(end)


def splits_crlf(text: str, offset: int) -> bool:
    """Whether an offset is between a CR and its LF."""
    return 0 < offset < len(text) and text[offset] == "\n" and text[offset - 1] == "\r"
