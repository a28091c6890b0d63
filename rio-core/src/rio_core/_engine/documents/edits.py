"""Positions and edits, and how an edit is carried over what changed since it was made.

The rule, for two changes of one text: a change that begins at or behind the other's end moves with it; one
that ends at or before the other's start stays; anything else overlaps. Both hold for two inserts at one
place: then the one that is in the core already stays first. A front end that moves its unsent edits by the
same rule arrives at the same text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rio_core._engine.documents.lines import END
from rio_core.protocol.errors import INVALID_PARAMS, RioError

MAX_REBASE: Final = 200_000
"""Pairs of edits that are compared to carry a batch over later changes; beyond that the batch is stale."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Position(NamedTuple):
    """A place in a text: line and column from 0, the column in code points and never inside a line's end."""

    line: int
    column: int


Selection = tuple[Position, Position]
"""Anchor and caret."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The text from `start` to `end` is replaced by `text`, whose line ends are kept as they are."""

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
        """The span of an edit as it was applied."""
        return cls(edit.start, edit.end, end_of(edit.start, edit.text))


def bad_params(message: str, action: str) -> RioError:
    """The error for parameters that no text allows."""
    return RioError("bad_message", message, action, code=INVALID_PARAMS)


def check_text(text: str) -> None:
    """Refuse text that no encoding can hold.

    Raises:
        RioError: `bad_message`, for a lone surrogate.

    """
    if not text.isascii() and (found := _SURROGATE.search(text)):
        raise bad_params(
            f"The text holds U+{ord(found[0]):04X}, half of a character, at offset {found.start()}.",
            "Send whole characters.",
        )


def end_of(start: Position, text: str) -> Position:
    """Where `text` ends when it begins at `start`."""
    ends = 0
    behind = 0
    for found in END.finditer(text):
        ends += 1
        behind = found.end()
    if not ends:
        return Position(start.line, start.column + len(text))
    return Position(start.line + ends, len(text) - behind)


def shifted(position: Position, span: Span) -> Position:
    """A position at or behind the end of a span, in the coordinates that the span leaves."""
    line, column = position
    if line == span.end.line:
        return Position(span.new_end.line, span.new_end.column + column - span.end.column)
    return Position(line + span.new_end.line - span.end.line, column)


def carried(position: Position, span: Span) -> Position:
    """Any position in the coordinates that a span leaves. Inside the span it stays, as far as there is text."""
    if position >= span.end:
        return shifted(position, span)
    return min(position, span.new_end) if position > span.start else position


def transform(edits: Iterable[Edit], since: Iterable[Span]) -> tuple[list[Edit], list[Span]]:
    """Carry `edits` over the changes `since`, and those changes over the edits.

    Both begin at the same text; in each, every change is in the coordinates that the one before left.
    `since` and then the first result leads to the same text as `edits` and then the second.

    Raises:
        RioError: `stale`, when two of them overlap.

    """
    theirs = list(since)
    moved = []
    for edit in edits:
        start, end, text = edit.start, edit.end, edit.text
        for index, their in enumerate(theirs):
            if start >= their.end:
                start, end = shifted(start, their), shifted(end, their)
            elif end <= their.start:
                ours = Span(start, end, end_of(start, text))
                theirs[index] = Span(*(shifted(position, ours) for position in their))
            else:
                raise stale()
        moved.append(Edit(start, end, text))
    return moved, theirs


def rebase(edits: Sequence[Edit], since: Sequence[Span]) -> list[Edit]:
    """Carry a batch over what came since the text that it was made for, as a whole or not at all.

    Raises:
        RioError: `stale`, when it overlaps a later change, or when too much has changed to compare.

    """
    if len(edits) * len(since) > MAX_REBASE:
        raise stale()
    return transform(edits, since)[0]


def stale() -> RioError:
    """The error for an edit of a text that has changed in the same place."""
    return RioError(
        "stale", "The text has changed there since this edit was made.", "Look at the text as it is now and edit again."
    )
