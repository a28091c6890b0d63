"""Positions, edits, and how both are carried over other edits.

The rule is the core's: a change that begins at or behind the other's end moves with it; one that ends at or before the
other's start stays; anything else overlaps. At one place, the change that is already in the core stays first.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_END = re.compile("\r\n|\n|\r")


class Position(NamedTuple):
    """A place in a text: line and column from 0, the column in code points."""

    line: int
    column: int


START = Position(0, 0)


class Edit(NamedTuple):
    """The text from `start` to `end` is replaced by `text`."""

    start: Position
    end: Position
    text: str


class Span(NamedTuple):
    """Where an edit took place: what was from `start` to `end` is now from `start` to `new_end`."""

    start: Position
    end: Position
    new_end: Position

    @classmethod
    def of(cls, edit: Edit) -> "Span":
        """The span of an edit."""
        return cls(edit.start, edit.end, end_of(edit.start, edit.text))


class OverlapError(Exception):
    """Two edits change the same text, so that neither can be carried over the other."""


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends; LF, CRLF and CR end a line, and nothing else does."""
    return _END.split(text)


def end_of(start: Position, text: str) -> Position:
    """Where `text` ends when it begins at `start`."""
    lines = _END.split(text)
    if len(lines) == 1:
        return Position(start.line, start.column + len(text))
    return Position(start.line + len(lines) - 1, len(lines[-1]))


def shifted(position: Position, span: Span) -> Position:
    """A position at or behind the end of a span, in the coordinates that the span leaves."""
    line, column = position
    if line == span.end.line:
        return Position(span.new_end.line, span.new_end.column + column - span.end.column)
    return Position(line + span.new_end.line - span.end.line, column)


def carried(position: Position, edit: Edit) -> Position:
    """Any position as it is behind an edit. Inside what was replaced it stays where it was, as far as there is text."""
    start, end, text = edit
    if position >= end:
        return shifted(position, Span.of(edit))
    if position <= start:
        return position
    lines = split_lines(text)
    down = position.line - start.line
    if down >= len(lines):
        return end_of(start, text)
    before = start.column if down == 0 else 0
    return Position(position.line, min(position.column, before + len(lines[down])))


def transform(ours: Iterable[Edit], theirs: Sequence[Edit]) -> tuple[list[Edit], list[Edit]]:
    """Carry `ours` over `theirs` and `theirs` over `ours`.

    Both begin at the same text, and theirs are in the core. In each, every edit is in the coordinates that the one
    before left. Theirs and then the first result lead to the same text as ours and then the second.

    Raises OverlapError when an edit of one overlaps an edit of the other.
    """
    their_edits = list(theirs)
    their_spans = [Span.of(edit) for edit in theirs]
    moved = []
    for our_edit in ours:
        start, end, text = our_edit
        for index, their in enumerate(their_spans):
            if start >= their.end:
                start, end = shifted(start, their), shifted(end, their)
            elif end <= their.start:
                our = Span(start, end, end_of(start, text))
                span = their_spans[index] = Span(*(shifted(place, our) for place in their))
                their_edits[index] = Edit(span.start, span.end, their_edits[index].text)
            else:
                raise OverlapError
        moved.append(Edit(start, end, text))
    return moved, their_edits
