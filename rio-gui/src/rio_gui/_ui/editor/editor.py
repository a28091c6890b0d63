"""The editor: what keys, mouse, dragged things and input methods do to a view."""

from typing import Any, Final

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFont,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from rio_gui._ui.document.document import Core, Document, MissingLinesError
from rio_gui._ui.document.edits import Edit, Position, carried, end_of
from rio_gui._ui.document.outbox import Selection
from rio_gui._ui.editor import composing
from rio_gui._ui.editor.blinking import Blinking
from rio_gui._ui.editor.editing import EditingView
from rio_gui._ui.editor.keys import COMMAND_KEYS, MOTION_KEYS, name_of, typed
from rio_gui._ui.text import words
from rio_gui._ui.text.columns import from_units
from rio_gui._ui.text.operations import Change, ordered

_WHEEL_ROWS: Final = 3
_SCROLL_TIME: Final = 30  # milliseconds between steps while a selection is dragged out of the view


class Editor(EditingView):
    """The whole editor widget."""

    menu_wanted = Signal(QPoint)
    """The context menu is wanted, at a place of the screen."""
    files_dropped = Signal(list)
    """Files were dropped; their URLs."""

    def __init__(self, core: Core, document: Document, font: QFont, parent: QWidget | None = None) -> None:
        self._unit: str = "character"
        self._unit_range: Selection | None = None
        self._pressed: QPoint | None = None
        self._selecting = False
        self._clicks = 0
        self._wheel = 0.0
        super().__init__(core, document, font, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
        self.setAttribute(Qt.WidgetAttribute.WA_KeyCompression, False)
        self.viewport().setAcceptDrops(True)
        self._blinking = Blinking(self)
        self._blinking.turned.connect(self._turn_caret)
        self._triple = QTimer(self)
        self._triple.setSingleShot(True)
        self._edge = QTimer(self)
        self._edge.setInterval(_SCROLL_TIME)
        self._edge.timeout.connect(self._scroll_at_edge)
        self.moved.connect(self._moved)

    def _turn_caret(self, shown: bool) -> None:  # what the signal carries
        self._caret_shown = shown
        self.update_line(self.selection[1].line)

    def _moved(self) -> None:
        if self.hasFocus():
            self._blinking.start()
            self.updateMicroFocus()

    # Keys

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # A key that types text or moves the caret is the editor's, whatever the window would do with it.
            if typed(event) or self._motion(event) is not None:
                event.accept()
                return True
        elif event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._restyle()
        return super().event(event)

    def _motion(self, event: QKeyEvent) -> tuple[str, bool] | None:
        name = name_of(event)
        if name in MOTION_KEYS:
            return MOTION_KEYS[name], False
        plain = name.replace("Shift+", "", 1)
        return (MOTION_KEYS[plain], True) if plain != name and plain in MOTION_KEYS else None

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        text = typed(event)
        if text:
            self.type_text(text)
        elif (motion := self._motion(event)) is not None:
            self.move_caret(motion[0], extend=motion[1])
        elif (command := COMMAND_KEYS.get(name_of(event))) is not None:
            self.do(command)
        else:
            event.ignore()
            return
        event.accept()

    def focusNextPrevChild(self, _next: bool) -> bool:  # noqa: N802  Qt's name
        return False  # Tab is a key like others here

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusInEvent(event)
        self._blinking.start()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusOutEvent(event)
        self._blinking.stop()
        self.viewport().update()

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        if self._composed is not None:
            QGuiApplication.inputMethod().commit()
        point = event.position().toPoint()
        if event.button() == Qt.MouseButton.MiddleButton:
            self._paste_primary(point)
            return
        if event.button() == Qt.MouseButton.RightButton:
            self._press_right(point)
            return
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        self._clicks = 3 if self._triple.isActive() else 1
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        in_gutter = point.x() < self.gutter_width()
        if self._clicks == 1 and not extend and not in_gutter and self._in_selection(point):
            self._pressed = point
            return
        self._begin_selecting("line" if self._clicks == 3 or in_gutter else "character", point, extend=extend)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = None
            self._triple.start(QApplication.doubleClickInterval())
            self._begin_selecting("word", event.position().toPoint(), extend=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        point = event.position().toPoint()
        if self._pressed is not None:
            if (point - self._pressed).manhattanLength() >= QApplication.startDragDistance():
                self._pressed = None
                self._drag()
        elif self._selecting:
            self._select_to(point)
            outside = not 0 <= point.y() < self.viewport().height()
            if outside and not self._edge.isActive():
                self._edge.start()
            elif not outside:
                self._edge.stop()
        else:
            arrow = point.x() < self.gutter_width() or self._in_selection(point)
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor if arrow else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if self._pressed is not None:  # a click into the selection that became no drag
            place = self.place_at(self._pressed)
            self._pressed = None
            self.queue.run(lambda: self.select((place, place)))
        self._selecting = False
        self._edge.stop()
        self.offer_selection()

    def _press_right(self, point: QPoint) -> None:
        if not self._in_selection(point):
            place = self.place_at(point)
            self.queue.run(lambda: self.select((place, place)))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802  Qt's name
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.ask_for_menu()
        else:
            self.menu_wanted.emit(event.globalPos())
        event.accept()

    def ask_for_menu(self) -> None:
        """Ask for the context menu at the caret."""
        rect = self.caret_rect(self.selection[1])
        self.menu_wanted.emit(self.viewport().mapToGlobal(rect.bottomLeft() if rect is not None else QPoint(0, 0)))

    def _in_selection(self, point: QPoint) -> bool:
        start, end = ordered(self.selection)
        return start < end and start <= self.place_at(point) < end and self._over_text(point)

    def _over_text(self, point: QPoint) -> bool:
        rect = self.caret_rect(self.place_at(point))
        return rect is not None and abs(rect.left() - point.x()) <= 2 * self.layouts.char_width

    def _begin_selecting(self, unit: str, point: QPoint, *, extend: bool) -> None:
        place = self.place_at(point)
        self._unit = unit
        self._selecting = True

        def begin() -> None:
            anchor = self.selection[0] if extend else place
            start, end = self._unit_at(place)
            self._unit_range = (anchor, anchor) if extend else (start, end)
            self.select((anchor, place) if extend or unit == "character" else (start, end))

        self.queue.run(begin)

    def _unit_at(self, place: Position) -> Selection:
        if self._unit == "line":
            return self.line_range(place.line)
        if self._unit == "word":
            text, first = self.document.around(place)
            start, end = words.word_at(text, place.column - first)
            return Position(place.line, first + start), Position(place.line, first + end)
        return place, place

    def _select_to(self, point: QPoint) -> None:
        place = self.place_at(point)

        def select() -> None:
            start, end = self._unit_at(place)
            low, high = self._unit_range or (start, end)
            self.select((low, max(high, end)) if place >= low else (high, start))

        self.queue.run(select)

    def _scroll_at_edge(self) -> None:
        point = self.viewport().mapFromGlobal(self.cursor().pos())
        over = point.y() - self.viewport().height() if point.y() > 0 else point.y()
        self.scroll_pixels(max(-200, min(200, over)))
        self._select_to(point)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802  Qt's name
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._wheel += event.angleDelta().y() / 120
            steps, self._wheel = int(self._wheel), self._wheel - int(self._wheel)
            if steps:
                self.zoom_to(self.style_.font.pointSizeF() + steps)
            return
        pixels, angle = event.pixelDelta(), event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not angle.x():
            angle, pixels = QPoint(angle.y(), 0), QPoint(pixels.y(), 0)
        across = pixels.x() or angle.x() / 120 * _WHEEL_ROWS * self.layouts.row_height
        down = pixels.y() or angle.y() / 120 * _WHEEL_ROWS * self.layouts.row_height
        if across:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - round(across))
        if down:
            self.scroll_pixels(-round(down))
        event.accept()

    def _paste_primary(self, point: QPoint) -> None:
        clipboard = QGuiApplication.clipboard()
        if not clipboard.supportsSelection():
            return
        text = clipboard.text(QClipboard.Mode.Selection)
        place = self.place_at(point)
        self.queue.run(lambda: self.select((place, place)))
        if text:
            self.insert_text(text)

    # Drag and drop

    def _drag(self) -> None:
        def start(text: str) -> None:
            data = QMimeData()
            data.setText(text)
            drag = QDrag(self)
            drag.setMimeData(data)
            begun = self.selection
            done = drag.exec(Qt.DropAction.CopyAction | Qt.DropAction.MoveAction, Qt.DropAction.MoveAction)
            if done == Qt.DropAction.MoveAction and drag.target() is not self.viewport() and self.selection == begun:
                self.do("delete")

        self.with_selected_text(start)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802  Qt's name
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802  Qt's name
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
            return
        self._set_drop(self.place_at(event.position()))
        event.acceptProposedAction()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:  # noqa: N802  Qt's name
        self._set_drop(None)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802  Qt's name
        self._set_drop(None)
        data = event.mimeData()
        if data.hasUrls():
            self.files_dropped.emit(data.urls())
            event.acceptProposedAction()
            return
        place = self.place_at(event.position())
        text = from_units(data.text())
        moves = event.source() is self and event.dropAction() == Qt.DropAction.MoveAction
        event.acceptProposedAction()
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if moves:
            self.queue.run(lambda: self.move_selection(place))
        else:
            self.queue.run(lambda: self.select((place, place)))
            self.insert_text(text)

    def move_selection(self, place: Position) -> None:
        """Take the selected text to another place, as one step."""
        start, end = ordered(self.selection)
        if start <= place <= end:
            return
        text = self._selected_now().replace("\n", self.end_of_line)
        target = carried(place, Edit(start, end, ""))
        edits = [Edit(start, end, ""), Edit(target, target, text)]
        self.apply(Change(edits, (target, end_of(target, text))))

    def _selected_now(self) -> str:
        start, end = ordered(self.selection)
        return "\n".join(
            self.document.text_of(number)[
                start.column if number == start.line else 0 : end.column if number == end.line else None
            ]
            for number in range(start.line, end.line + 1)
        )

    def _set_drop(self, place: Position | None) -> None:
        old, self._drop = self._drop, place
        for changed in (old, place):
            if changed is not None:
                self.update_line(changed.line)
        self.update_line(self.selection[1].line)

    # Input methods

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:  # noqa: N802  Qt's name
        if self.document.info.read_only:
            event.ignore()
            return
        self._composed = None
        try:
            composing.commit(self, event)
        except MissingLinesError:
            event.ignore()
            return
        self._composed = composing.composed(event, self.selection[1].column)
        event.accept()
        self.update_line(self.selection[1].line)
        self.updateMicroFocus()

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> Any:  # noqa: N802  Qt's name
        value = composing.answer(self, query)
        return super().inputMethodQuery(query) if value is None else value

    def caret_area(self) -> QRect:
        """Where the caret is in this widget, for an input method's window."""
        rect = self.caret_rect(self.selection[1]) or QRect(0, 0, 1, self.layouts.row_height)
        return rect.translated(self.viewport().pos())
