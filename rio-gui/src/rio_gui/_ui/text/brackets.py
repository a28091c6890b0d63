"""The bracket that belongs to a bracket."""

from collections.abc import Callable
from typing import Final

from rio_gui._ui.document.edits import Position

PAIRS: Final = {"(": ")", "[": "]", "{": "}"}
_BACK: Final = {close: opening for opening, close in PAIRS.items()}
REACH: Final = 100_000
"""Code points that are looked through."""


def partner(line: Callable[[int], str | None], place: Position) -> Position | None:
    """The place of the bracket that matches the one at a place; None when there is none in reach.

    `line` gives the text of a line, or None where it is not known or the text ends.
    """
    text = line(place.line)
    if text is None or not 0 <= place.column < len(text):
        return None
    here = text[place.column]
    if here in PAIRS:
        return _forward(line, place, here, PAIRS[here])
    if here in _BACK:
        return _backward(line, place, here, _BACK[here])
    return None


def _forward(line: Callable[[int], str | None], place: Position, here: str, other: str) -> Position | None:
    depth = 0
    left = REACH
    number, column = place
    while left > 0 and (text := line(number)) is not None:
        for at in range(column, min(len(text), column + left)):
            if text[at] == here:
                depth += 1
            elif text[at] == other:
                depth -= 1
                if depth == 0:
                    return Position(number, at)
        left -= len(text) - column + 1
        number, column = number + 1, 0
    return None


def _backward(line: Callable[[int], str | None], place: Position, here: str, other: str) -> Position | None:
    depth = 0
    left = REACH
    number, column = place
    while left > 0 and number >= 0 and (text := line(number)) is not None:
        column = min(column, len(text) - 1)
        for at in range(column, max(-1, column - left), -1):
            if text[at] == here:
                depth += 1
            elif text[at] == other:
                depth -= 1
                if depth == 0:
                    return Position(number, at)
        left -= column + 2
        number, column = number - 1, 1 << 60
    return None
