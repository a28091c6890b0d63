"""Columns and units: the only place where code points are turned into Qt's UTF-16, and back.

A text that is painted can differ from the text that it stands for: what nobody would see is drawn as a visible sign.
The mapping knows where each column of the text begins in what is shown.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from typing import Final

from rio_core.protocol import visible
from rio_core.protocol.visible import HIDDEN, is_hidden

_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_JOINERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")
_KEYCAP: Final = "\u20e3"


class Columns:
    """A text as it is shown, and how its columns and the shown text's UTF-16 units belong together."""

    __slots__ = ("_starts", "length", "shown", "signs", "units")

    def __init__(self, shown: str, length: int, starts: list[int] | None, signs: list[tuple[int, int]]) -> None:
        self.shown = shown
        self.length = length
        self._starts = starts  # unit of each column and of the end; None where they are the same
        self.units = starts[-1] if starts else length
        self.signs = signs
        """Runs of units, as start and count, that stand for hidden characters."""

    def unit(self, column: int) -> int:
        """The unit at which a column begins; the end for a column behind the text."""
        column = min(max(column, 0), self.length)
        return self._starts[column] if self._starts else column

    def column(self, unit: int) -> int:
        """The column whose units the unit is among."""
        unit = min(max(unit, 0), self.units)
        return bisect_right(self._starts, unit) - 1 if self._starts else unit


def utf16_length(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def from_units(text: str) -> str:
    """A text from Qt with whole characters only: pairs are joined, and a half without its other half is left out."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


@lru_cache(maxsize=1024)
def plain(text: str) -> Columns:
    """The columns of a text that is shown as it is."""
    return _mapped(text, {})


@lru_cache(maxsize=1024)
def revealed(text: str) -> Columns:
    """The columns of a text whose hidden characters are shown as signs."""
    signs: dict[int, str] = {}
    if not (text.isascii() and text.isprintable()):
        for found in HIDDEN.finditer(text):
            at = found.start()
            if is_hidden(found[0]) and not _joins(text, at):
                signs[at] = sign(found[0])
    return _mapped(text, signs)


def sign(char: str) -> str:
    """What stands for a hidden character: `^@` and the like for a control, else its number in brackets."""
    point = ord(char)
    if point < 0x20 or point == 0x7F:
        return f"^{chr(point ^ 0x40)}"
    return f"[{visible(char)[3:-1]}]"


def _joins(text: str, at: int) -> bool:
    """Whether a joiner or variation selector does its work here: between or behind characters that can take it."""
    char = text[at]
    if char not in _JOINERS or at == 0:
        return False
    if char == "\ufe0f" and text[at + 1 : at + 2] == _KEYCAP:
        return True
    before = text[at - 1]
    if before.isascii() or (is_hidden(before) and before != "\ufe0f"):
        return False
    behind = text[at + 1 : at + 2]
    return char in "\ufe0e\ufe0f" or (behind != "" and not behind.isascii() and not is_hidden(behind))


def _mapped(text: str, signs: dict[int, str]) -> Columns:
    if not signs and (text.isascii() or not _ASTRAL.search(text)):
        return Columns(text, len(text), None, [])
    starts = [0]
    parts = []
    marks: list[tuple[int, int]] = []
    unit = 0
    for at, char in enumerate(text):
        part = signs.get(at)
        if part is None:
            part = char
            unit += 2 if char > "\uffff" else 1
        else:
            if marks and sum(marks[-1]) == unit:
                marks[-1] = marks[-1][0], marks[-1][1] + len(part)
            else:
                marks.append((unit, len(part)))
            unit += len(part)
        parts.append(part)
        starts.append(unit)
    return Columns("".join(parts), len(text), starts, marks)
