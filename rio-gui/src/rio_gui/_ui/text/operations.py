"""What editing commands do to a text: edits and the selection behind them. Nothing is changed here.

Every function reads the lines it needs through a document, which raises MissingLinesError for those that are not known.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from rio_gui._ui.document.edits import Edit, Position, carried, end_of
from rio_gui._ui.document.outbox import Group, Selection
from rio_gui._ui.text import graphemes
from rio_gui._ui.text.indentation import Indent, columns, leading, made

SIDE: Final = 256
"""Columns beside a place that are looked at to find the characters and words there."""

_OPENING: Final = ("(", "[", "{", ":")
_CLOSING: Final = (")", "]", "}")


class Reader(Protocol):
    """The part of a document that is read here."""

    def length(self, number: int) -> int:
        """The length of a line."""
        ...

    def text_of(self, number: int) -> str:
        """The whole of a line."""
        ...

    def around(self, position: Position, reach: int = SIDE) -> tuple[str, int]:
        """The text around a place, and its first column."""
        ...

    @property
    def total(self) -> int:
        """How many lines there are."""
        ...


class Change(NamedTuple):
    """Edits in order, each in the coordinates that the one before left, and the selection behind them."""

    edits: Sequence[Edit]
    selection: Selection
    group: Group = None


def ordered(selection: Selection) -> tuple[Position, Position]:
    """The selected range."""
    return min(selection), max(selection)


def at(place: Position) -> Selection:
    """No selection, the caret at a place."""
    return place, place


def insert(selection: Selection, text: str, *, typing: bool = False) -> Change:
    """Put text in the place of the selection."""
    start, end = ordered(selection)
    return Change([Edit(start, end, text)], at(end_of(start, text)), "typing" if typing else None)


def overwrite(document: Reader, selection: Selection, text: str) -> Change:
    """Put a typed text over as many characters behind the caret as it has."""
    start, end = ordered(selection)
    if start == end:
        around, first = document.around(start)
        column = start.column - first
        behind = column
        for _ in text:
            behind = graphemes.behind(around, behind)
        end = Position(start.line, first + min(behind, len(around)))
    return Change([Edit(start, end, text)], at(end_of(start, text)), "typing")


def newline(document: Reader, selection: Selection, indent: Indent, end_of_line: str) -> Change:
    """Begin a line that is indented like this one, one level more behind an opening bracket or a colon."""
    start, end = ordered(selection)
    # One stretch of a line is looked at and no other: of a long line two may never be known at once.
    around, first = document.around(start)
    blanks = leading(around)[: start.column] if first == 0 else ""
    before = around[: start.column - first].rstrip()
    behind = around[start.column - first :].lstrip() if start == end else ""
    deeper = indent.unit if before.endswith(_OPENING) else ""
    text = end_of_line + blanks + deeper
    caret = end_of(start, text)
    if deeper and before.endswith(_OPENING[:-1]) and behind.startswith(_CLOSING):
        text += end_of_line + blanks
    return Change([Edit(start, end, text)], at(caret), "typing")


def backspace(document: Reader, selection: Selection, indent: Indent) -> Change:
    """Remove the selection, the character before the caret, or one level of the blanks that a line begins with."""
    start, end = ordered(selection)
    if start == end:
        start = _before_caret(document, end, indent)
    return Change([Edit(start, end, "")] if start != end else [], at(start), "typing")


def _before_caret(document: Reader, caret: Position, indent: Indent) -> Position:
    if caret.column:
        around, first = document.around(caret)
        column = caret.column - first
        blanks = around[:column]
        if first == 0 and not indent.tabs and blanks and not blanks.strip(" "):
            return Position(caret.line, (column - 1) // indent.width * indent.width)
        return Position(caret.line, first + graphemes.before(around, column))
    return before(document, caret)


def delete(document: Reader, selection: Selection) -> Change:
    """Remove the selection, or the character behind the caret."""
    start, end = ordered(selection)
    if start == end:
        end = behind(document, start)
    return Change([Edit(start, end, "")] if start != end else [], at(start), "typing")


def behind(document: Reader, place: Position) -> Position:
    """The place behind the character at a place; a line's end is one."""
    if place.column < document.length(place.line):
        around, first = document.around(place)
        return Position(place.line, first + graphemes.behind(around, place.column - first))
    if place.line + 1 < document.total:
        return Position(place.line + 1, 0)
    return place


def before(document: Reader, place: Position) -> Position:
    """The place of the character before a place; a line's end is one."""
    if place.column:
        around, first = document.around(place)
        return Position(place.line, first + graphemes.before(around, place.column - first))
    if place.line:
        return Position(place.line - 1, document.length(place.line - 1))
    return place


def touched_lines(selection: Selection) -> range:
    """The lines of a selection; one of which only the start is selected does not count."""
    start, end = ordered(selection)
    last = end.line - 1 if end.column == 0 and end.line > start.line else end.line
    return range(start.line, last + 1)


def _kept(edits: Sequence[Edit], selection: Selection) -> Change:
    anchor, caret = selection
    for edit in edits:
        anchor, caret = carried(anchor, edit), carried(caret, edit)
    return Change(edits, (anchor, caret))


def indent_lines(document: Reader, selection: Selection, indent: Indent) -> Change:
    """One level more for every line of the selection that is not empty."""
    edits = []
    for number in touched_lines(selection):
        if document.length(number):
            start = Position(number, 0)
            edits.append(Edit(start, start, indent.unit))
    kept = _kept(edits, selection)
    start, end = ordered(selection)
    if start.column == 0 and start != end:  # what was selected from its first column on stays so
        low, high = ordered(kept.selection)
        low = Position(low.line, 0)
        return Change(edits, (low, high) if selection[0] <= selection[1] else (high, low))
    return kept


def outdent_lines(document: Reader, selection: Selection, indent: Indent) -> Change:
    """One level less for every line of the selection."""
    edits = []
    for number in touched_lines(selection):
        blanks = leading(document.around(Position(number, 0))[0])
        size = columns(blanks, indent.tab)
        if blanks:
            step = indent.tab if indent.tabs else indent.width
            left = made((size - 1) // step * step, indent)
            edits.append(Edit(Position(number, 0), Position(number, len(blanks)), left))
            if blanks.startswith(left):
                edits[-1] = Edit(Position(number, len(left)), Position(number, len(blanks)), "")
    return _kept(edits, selection)


def tab(document: Reader, selection: Selection, indent: Indent) -> Change:
    """Indent the lines of a selection; else go to the next level at the caret."""
    start, end = ordered(selection)
    if start.line != end.line:
        return indent_lines(document, selection, indent)
    if indent.tabs:
        return insert(selection, "\t", typing=True)
    around, first = document.around(start)
    size = columns(around[: start.column - first], indent.tab) if first == 0 else start.column
    return insert(selection, " " * (indent.width - size % indent.width), typing=True)


def duplicate(document: Reader, selection: Selection, end_of_line: str) -> Change:
    """The lines of the selection once more, below; the selection goes to the copy."""
    lines = touched_lines(selection)
    text = end_of_line.join(document.text_of(number) for number in lines)
    place = Position(lines[-1], document.length(lines[-1]))
    anchor, caret = selection
    down = len(lines)
    moved = Position(anchor.line + down, anchor.column), Position(caret.line + down, caret.column)
    return Change([Edit(place, place, end_of_line + text)], moved)


def delete_lines(document: Reader, selection: Selection) -> Change:
    """Remove the lines of the selection with their ends."""
    lines = touched_lines(selection)
    first, last = lines[0], lines[-1]
    if last + 1 < document.total:
        edit = Edit(Position(first, 0), Position(last + 1, 0), "")
        caret = Position(first, min(selection[1].column, document.length(last + 1)))
    elif first:
        edit = Edit(Position(first - 1, document.length(first - 1)), Position(last, document.length(last)), "")
        caret = Position(first - 1, min(selection[1].column, document.length(first - 1)))
    else:
        edit = Edit(Position(0, 0), Position(last, document.length(last)), "")
        caret = Position(0, 0)
    return Change([edit] if edit.start != edit.end else [], at(caret))


def move_lines(document: Reader, selection: Selection, *, down: bool, end_of_line: str) -> Change:
    """Let the lines of the selection and the line above or below them change places."""
    lines = touched_lines(selection)
    first, last = lines[0], lines[-1]
    other = last + 1 if down else first - 1
    if not 0 <= other < document.total:
        return Change([], selection)
    text = document.text_of(other)
    size = len(text)
    by = 1 if down else -1
    if down:  # the line below goes above: put there, then taken away
        place = Position(first, 0)
        last_now, other_now = last + 1, other + 1
        edits = [
            Edit(place, place, text + end_of_line),
            Edit(Position(last_now, document.length(last)), Position(other_now, size), ""),
        ]
    else:  # the line above goes below
        place = Position(last, document.length(last))
        edits = [
            Edit(place, place, end_of_line + text),
            Edit(Position(other, 0), Position(first, 0), ""),
        ]
    anchor, caret = selection
    moved = [Position(place.line + by, place.column) for place in (anchor, caret)]
    below = Position(document.total, 0)  # where nothing can be selected: the moved lines are the last ones now
    end = Position(document.total - 1, document.length(last))
    low, high = (end if place >= below else place for place in moved)
    return Change(edits, (low, high))


def join_lines(document: Reader, selection: Selection) -> Change:
    """Make one line of the selection's lines, or of this and the next, with one space where they meet."""
    lines = touched_lines(selection)
    first = lines[0]
    times = max(1, len(lines) - 1)
    edits = []
    length = document.length(first)
    caret = Position(first, length)
    for number in range(first + 1, min(first + 1 + times, document.total)):
        around, _ = document.around(Position(number, 0))
        blanks = len(leading(around))
        size = document.length(number)
        glue = " " if length and size > blanks else ""
        caret = Position(first, length)
        edits.append(Edit(caret, Position(first + 1, blanks), glue))
        length += len(glue) + size - blanks
    return Change(edits, at(caret)) if edits else Change([], selection)


def toggle_comment(document: Reader, selection: Selection, sign: str) -> Change:
    """Make the lines of the selection comments or, when all of them are, make them none."""
    heads = {}
    for number in touched_lines(selection):
        around, _ = document.around(Position(number, 0))
        if around.strip():
            heads[number] = around
    if not heads:
        return Change([], selection)
    if all(head.lstrip(" \t").startswith(sign) for head in heads.values()):
        edits = []
        for number, head in heads.items():
            start = len(leading(head))
            end = start + len(sign) + (head[start + len(sign) :][:1] == " ")
            edits.append(Edit(Position(number, start), Position(number, end), ""))
    else:
        column = min(len(leading(head)) for head in heads.values())
        edits = [Edit(Position(number, column), Position(number, column), f"{sign} ") for number in heads]
    return _kept(edits, selection)
