"""Input methods: what they compose, commit and ask for. They count in UTF-16 units of the text around the caret."""

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent, QTextCharFormat, QTextFormat

from rio_gui._ui.document.document import MissingLinesError
from rio_gui._ui.document.edits import Position
from rio_gui._ui.editor.layouts import Composed, format_range
from rio_gui._ui.text.columns import from_units, plain
from rio_gui._ui.text.operations import insert, ordered

if TYPE_CHECKING:
    from rio_gui._ui.editor.editor import Editor

_QUERY: Final = Qt.InputMethodQuery


def commit(editor: "Editor", event: QInputMethodEvent) -> None:
    """Put the committed text in, with what it replaces. Raises MissingLinesError, with nothing done."""
    text = from_units(event.commitString())
    before, length = event.replacementStart(), event.replacementLength()
    if length:
        caret = editor.selection[1]
        around, first = editor.document.around(caret)
        columns = plain(around)
        unit = columns.unit(caret.column - first) + before
        start = Position(caret.line, first + columns.column(unit))
        end = Position(caret.line, first + columns.column(unit + length))
        editor.apply(insert((start, end), text, typing=True))
    elif text:
        editor.type_text(text)
    elif event.preeditString() and editor.selection[0] != editor.selection[1]:
        editor.do("delete")  # what is composed takes the place of the selection


def composed(event: QInputMethodEvent, column: int) -> Composed | None:
    """What is being composed, as it is to be shown."""
    text = event.preeditString()
    if not text:
        return None
    formats = []
    caret: int | None = len(text.encode("utf-16-le", "surrogatepass")) // 2
    for attribute in event.attributes():
        if attribute.type == QInputMethodEvent.AttributeType.Cursor:
            caret = attribute.start if attribute.length else None
        elif attribute.type == QInputMethodEvent.AttributeType.TextFormat and isinstance(attribute.value, QTextFormat):
            formats.append(format_range(attribute.start, attribute.length, attribute.value.toCharFormat()))
    if not formats:
        underlined = QTextCharFormat()
        underlined.setFontUnderline(True)
        formats.append(format_range(0, len(text.encode("utf-16-le", "surrogatepass")) // 2, underlined))
    return Composed(column, text, tuple(formats), caret)


def answer(editor: "Editor", query: Qt.InputMethodQuery) -> Any:
    """What an input method asks; None for what the widget itself knows."""
    if query == _QUERY.ImEnabled:
        return not editor.document.info.read_only
    if query == _QUERY.ImCursorRectangle:
        return editor.caret_area()
    if query == _QUERY.ImFont:
        return editor.style_.font
    if query == _QUERY.ImHints:
        return (Qt.InputMethodHint.ImhMultiLine | Qt.InputMethodHint.ImhNoPredictiveText).value
    anchor, caret = editor.selection
    try:
        around, first = editor.document.around(caret)
    except MissingLinesError:
        return None
    columns = plain(around)
    if query == _QUERY.ImSurroundingText:
        return around
    if query == _QUERY.ImCursorPosition:
        return columns.unit(caret.column - first)
    if query == _QUERY.ImAnchorPosition:
        return columns.unit((anchor if anchor.line == caret.line else caret).column - first)
    if query == _QUERY.ImCurrentSelection:
        start, end = ordered(editor.selection)
        return around[start.column - first : end.column - first] if start.line == end.line else ""
    return None
