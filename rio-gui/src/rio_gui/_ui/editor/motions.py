"""Where the caret goes. Each motion gives a place; it raises MissingLinesError for lines that are not known yet."""

from collections.abc import Callable
from typing import Final, Protocol

from rio_gui._ui.document.document import Document
from rio_gui._ui.document.edits import START, Position
from rio_gui._ui.editor.layouts import Layouts, Shape
from rio_gui._ui.text import words
from rio_gui._ui.text.indentation import leading
from rio_gui._ui.text.operations import before, behind


class Screen(Protocol):
    """The part of a view that motions by rows need."""

    document: Document
    layouts: Layouts
    goal: float | None
    """The x that the caret keeps to while it goes up and down."""

    def shape_of(self, number: int) -> Shape:
        """The layout of a line."""
        ...

    def page_rows(self) -> int:
        """Rows of a page."""
        ...


def left(view: Screen, caret: Position) -> Position:
    """One character back."""
    return before(view.document, caret)


def right(view: Screen, caret: Position) -> Position:
    """One character on."""
    return behind(view.document, caret)


def word_left(view: Screen, caret: Position) -> Position:
    """To the start of a word before."""
    if caret.column == 0:
        return before(view.document, caret)
    text, first = view.document.around(caret)
    return Position(caret.line, first + words.previous_word(text, caret.column - first))


def word_right(view: Screen, caret: Position) -> Position:
    """To the start of the next word."""
    if caret.column >= view.document.length(caret.line):
        return behind(view.document, caret)
    text, first = view.document.around(caret)
    return Position(caret.line, first + words.next_word(text, caret.column - first))


def home(view: Screen, caret: Position) -> Position:
    """To the row's start; in the first row to the first character that is no blank, and from there to the start."""
    shape = view.shape_of(caret.line)
    start, _ = shape.row_columns(shape.place(caret.column)[0])
    if start > shape.first or shape.first:
        return Position(caret.line, start if not shape.first else 0)
    blanks = len(leading(view.document.around(Position(caret.line, 0))[0]))
    return Position(caret.line, 0 if caret.column == blanks else blanks)


def end(view: Screen, caret: Position) -> Position:
    """To the row's end."""
    length = view.document.length(caret.line)
    shape = view.shape_of(caret.line)
    row = shape.place(caret.column)[0]
    if row == shape.rows - 1:
        return Position(caret.line, length)
    _, last = shape.row_columns(row)
    return before(view.document, Position(caret.line, last)) if last < length else Position(caret.line, length)


def document_start(_view: Screen, _caret: Position) -> Position:
    """To the start of the text."""
    return START


def document_end(view: Screen, _caret: Position) -> Position:
    """To the end of the text."""
    return view.document.end()


def up(view: Screen, caret: Position) -> Position:
    """One row up."""
    return by_rows(view, caret, -1)


def down(view: Screen, caret: Position) -> Position:
    """One row down."""
    return by_rows(view, caret, 1)


def page_up(view: Screen, caret: Position) -> Position:
    """A page up."""
    return by_rows(view, caret, -view.page_rows())


def page_down(view: Screen, caret: Position) -> Position:
    """A page down."""
    return by_rows(view, caret, view.page_rows())


def by_rows(view: Screen, caret: Position, rows: int) -> Position:
    """Up or down, as near as can be to the x that the movement began at."""
    shape = view.shape_of(caret.line)
    row, x = shape.place(caret.column)
    x += shape.first * view.layouts.char_width
    goal = x if view.goal is None else view.goal
    number = caret.line
    row += rows
    while row < 0:
        if number == 0:
            return START
        number -= 1
        row += view.shape_of(number).rows
    while row >= (height := view.shape_of(number).rows):
        if number + 1 >= view.document.total:
            return view.document.end()
        row -= height
        number += 1
    view.goal = goal
    target = view.shape_of(number)
    return Position(number, target.column(row, goal - target.first * view.layouts.char_width))


MOTIONS: Final[dict[str, Callable[[Screen, Position], Position]]] = {
    "left": left,
    "right": right,
    "word_left": word_left,
    "word_right": word_right,
    "home": home,
    "end": end,
    "up": up,
    "down": down,
    "page_up": page_up,
    "page_down": page_down,
    "document_start": document_start,
    "document_end": document_end,
}
VERTICAL: Final = frozenset({"up", "down", "page_up", "page_down"})
