"""The view of a document: lays out and paints the lines on the screen, and knows where everything is."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from rio_core.protocol import RioError
from rio_gui._ui.document.document import LONG, Document, MissingLinesError
from rio_gui._ui.document.edits import START, Edit, Position, Span, carried, end_of
from rio_gui._ui.document.outbox import Selection
from rio_gui._ui.document.sparse import Line
from rio_gui._ui.editor.layouts import Composed, Layouts, Shape, Style, format_range
from rio_gui._ui.editor.scrolling import Place
from rio_gui._ui.text.operations import ordered
from rio_gui._ui.theme import Theme, theme

_SLICE: Final = 512
"""Columns in which a long line is cut; what is laid out of it begins at a multiple of this."""

_MARGIN: Final = 4
_PATIENCE: Final = 60  # milliseconds for which the old picture stays while lines are fetched


class VisibleLine(NamedTuple):
    """A line on the screen. `shape` is None while the line is not known."""

    number: int
    y: int
    rows: int
    shape: Shape | None


class TextView(QAbstractScrollArea):
    """Shows a document. Its subclass edits it."""

    def __init__(self, document: Document, style: Style, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.selection: Selection = (START, START)
        self.overwrite = False
        self.brackets: tuple[Position, ...] = ()
        self.underlays: list[Callable[[QPainter, VisibleLine], None]] = []
        self._composed: Composed | None = None
        self._caret_shown = False
        self._drop: Position | None = None
        self._follows_bar = True
        self._wraps = style.wrap is not None
        self._widest = 0.0
        self.colors: Theme = theme(self.palette())
        self.layouts = Layouts(style, self.colors)
        self.place = Place(self.layouts.row_height)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_PATIENCE)
        self._late.timeout.connect(self.viewport().update)
        document.views.append(self)
        self._restyle()

    # What the document says

    def changed(self, edits: Sequence[Edit], *, own: bool) -> None:
        """Follow a change of the text."""
        for edit in edits:
            anchor, caret = self.selection
            self.selection = carried(anchor, edit), carried(caret, edit)
            span = Span.of(edit)
            by = span.new_end.line - span.end.line
            if by and span.end.line < self.place.line:
                self.place.jump(self.place.line + by, self.place.offset)
        self._update_edited(edits)

    def arrived(self) -> None:
        """Lines came."""
        self._late.stop()
        self._clamp()
        self._update_bars()
        self._want()
        self.viewport().update()

    def state_changed(self) -> None:
        """Nothing here shows it."""

    def set_aside(self, texts: Sequence[str], error: RioError) -> None:
        """Nothing here shows it."""

    def _clamp(self) -> None:
        anchor, caret = self.selection
        self.selection = self._inside(anchor), self._inside(caret)
        self.place.line = min(self.place.line, self.document.total - 1)

    def _inside(self, place: Position) -> Position:
        number = min(place.line, self.document.total - 1)
        line = self.document.lines.get(number)
        most = place.column if line is None else line.length
        return Position(number, min(place.column, most))

    # Style

    @property
    def style_(self) -> Style:
        """How lines are laid out."""
        return self.layouts.style

    def set_style(self, style: Style) -> None:
        """Lay out in another way. Whether `wrap` is None counts; its width is the view's own."""
        self._wraps = style.wrap is not None
        self._restyle(style)

    def _restyle(self, style: Style | None = None) -> None:
        self.colors = theme(self.palette())
        style = style or self.layouts.style
        self.layouts.configure(style._replace(wrap=self._wrap_width() if self._wraps else None), self.colors)
        self.place.row_height = self.layouts.row_height
        self.place.offset = 0
        self._widest = 0.0
        self._update_bars()
        self._want()
        self.viewport().update()

    def _wrap_width(self) -> float:
        return max(100.0, self.viewport().width() - self.gutter_width() - 2 * _MARGIN)

    def gutter_width(self) -> int:
        """Pixels that line numbers take."""
        digits = max(3, len(str(self.document.total)))
        return round((digits + 2) * self.layouts.char_width)

    # Shapes and places

    def shape(self, number: int) -> Shape | None:
        """The layout of what is in view of a line, or None where that is not known."""
        line = self.document.shown(number)
        if line is None:
            return None
        composed = self._composed if self._composed and self.selection[1].line == number else None
        if line.length <= LONG:
            return self.layouts.shape(line.text, 0, composed) if line.whole else None
        first, last = self._columns_in_view(line)
        if not line.knows(first, last):
            return None
        text = line.text[first - line.first : max(first, min(last, line.last)) - line.first]
        if composed is not None and not first <= composed.column <= first + len(text):
            composed = None
        return self.layouts.shape(text, first, composed)

    def _columns_in_view(self, line: Line) -> tuple[int, int]:
        left = self.horizontalScrollBar().value() / self.layouts.char_width
        count = self.viewport().width() / self.layouts.char_width
        first = max(0, (int(left) // _SLICE - 1) * _SLICE)
        return min(first, line.length), (int(left + count) // _SLICE + 2) * _SLICE

    def _rows(self, number: int) -> int:
        if not self._wraps:
            return 1
        shape = self.shape(number)
        return shape.rows if shape else 1

    def visible_lines(self) -> Iterator[VisibleLine]:
        """The lines on the screen from top to bottom."""
        y = -self.place.offset
        number = self.place.line
        bottom = self.viewport().height()
        while y < bottom and number < self.document.total:
            shape = self.shape(number)
            rows = shape.rows if shape and self._wraps else 1
            yield VisibleLine(number, y, rows, shape)
            y += rows * self.layouts.row_height
            number += 1

    def origin(self, shape: Shape) -> float:
        """The x at which a shape is painted. In a long line every character before it counts as one wide."""
        return (
            self.gutter_width() + _MARGIN - self.horizontalScrollBar().value() + shape.first * self.layouts.char_width
        )

    def caret_rect(self, place: Position) -> QRect | None:
        """Where a caret at a place is in the viewport; None when its line is not on the screen or not known."""
        for line in self.visible_lines():
            if line.number == place.line:
                return self._caret_in(line, place)
        return None

    def _caret_in(self, line: VisibleLine, place: Position) -> QRect:
        height = self.layouts.row_height
        if line.shape is None:
            start = self.gutter_width() + _MARGIN - self.horizontalScrollBar().value()
            return QRect(round(start + place.column * self.layouts.char_width), line.y, 2, height)
        row, x = line.shape.place(place.column)
        width = 2.0
        if self.overwrite and self._composed is None:
            _, behind = line.shape.place(place.column + 1)
            width = behind - x if behind > x else self.layouts.char_width
        left = round(self.origin(line.shape) + x)
        return QRect(left, line.y + row * height, round(width), height)

    def place_at(self, point: QPoint | QPointF) -> Position:
        """The place in the text that is nearest to a point of the viewport."""
        nearest = Position(max(0, min(self.place.line, self.document.total - 1)), 0)
        for line in self.visible_lines():
            if line.y > point.y() and line.number > nearest.line:
                break
            row = int((point.y() - line.y) // self.layouts.row_height)
            row = min(max(row, 0), line.rows - 1)
            if line.shape is None:
                nearest = Position(line.number, 0)
            else:
                nearest = Position(line.number, line.shape.column(row, point.x() - self.origin(line.shape)))
        return nearest

    # Scrolling

    def _update_bars(self) -> None:
        bar = self.verticalScrollBar()
        total, height = self.document.total, self.viewport().height()
        step = self.place.step(total)
        self._follows_bar = False
        bar.setRange(0, self.place.bar(*self._most(), total, self._rows))
        bar.setPageStep(max(1, height // step))
        bar.setSingleStep(max(1, 3 * self.layouts.row_height // step))
        self._follows_bar = True
        self._limit()
        self._show_place()
        across = self.horizontalScrollBar()
        room = self.viewport().width() - self.gutter_width() - 2 * _MARGIN
        across.setRange(0, 0 if self._wraps and not self._has_long() else max(0, round(self._widest) - room + 40))
        across.setPageStep(max(1, room))
        across.setSingleStep(round(4 * self.layouts.char_width))

    def _has_long(self) -> bool:
        return any(line.shape is not None and line.shape.first > 0 for line in self.visible_lines()) or any(
            (found := self.document.shown(line.number)) is not None and found.length > LONG
            for line in self.visible_lines()
        )

    def _measure(self) -> None:
        """Let the horizontal scroll bar reach the end of the widest line that has been seen."""
        widest = self._widest
        for line in self.visible_lines():
            known = self.document.shown(line.number)
            if known is not None and known.length > LONG:
                widest = max(widest, known.length * self.layouts.char_width)
            elif line.shape is not None:
                widest = max(widest, line.shape.width)
        if widest > self._widest:
            self._widest = widest
            self._update_bars()

    def _limit(self) -> None:
        """No view goes behind the end of the text."""
        most = self._most()
        if (self.place.line, self.place.offset) > most:
            self.place.jump(*most)

    def _most(self) -> tuple[int, int]:
        total, height = self.document.total, self.viewport().height()
        if self._wraps:
            return self.place.last(height, total, self._rows)
        return divmod(max(0, total * self.layouts.row_height - height), self.layouts.row_height)

    def _show_place(self) -> None:
        self._follows_bar = False
        self.verticalScrollBar().setValue(
            self.place.bar(self.place.line, self.place.offset, self.document.total, self._rows)
        )
        self._follows_bar = True

    def scroll_pixels(self, pixels: int) -> None:
        """Scroll down by pixels, up by negative ones."""
        if self._wraps:
            self.place.move(pixels, self.document.total, self._rows)
        else:
            to = max(0, self.place.line * self.layouts.row_height + self.place.offset + pixels)
            self.place.jump(*divmod(to, self.layouts.row_height))
        self._limit()
        self._show_place()
        self._want()

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802  Qt's name
        if self._follows_bar and dy:
            self.place.from_bar(self.verticalScrollBar().value(), self.document.total, self._rows)
            self._limit()
        if self._follows_bar or dx:
            self._want()

    def reveal(self, place: Position, *, centred: bool = False) -> None:
        """Scroll as little as is needed to show a place; to the middle when it is far. Raises MissingLinesError."""
        height, row_height = self.viewport().height(), self.layouts.row_height
        self.document.line(place.line)
        rect = self.caret_rect(place)
        if rect is None or centred:
            far = centred or abs(place.line - self.place.line) > 2 * height // row_height
            above = (height // row_height // 2) if far else 0
            if not far and place.line > self.place.line:
                above = max(0, height // row_height - 1)
            self.place.jump(max(0, place.line - above))
            self._limit()
            self._show_place()
            self._want()
            rect = self.caret_rect(place)
        if rect is not None:
            if rect.top() < 0:
                self.scroll_pixels(rect.top())
            elif rect.bottom() >= height:
                self.scroll_pixels(rect.bottom() - height + 1)
            self._reveal_column(rect)

    def _reveal_column(self, rect: QRect) -> None:
        bar = self.horizontalScrollBar()
        left, right = self.gutter_width() + _MARGIN, self.viewport().width() - _MARGIN
        if rect.left() < left:
            bar.setValue(bar.value() + rect.left() - left - 4 * round(self.layouts.char_width))
        elif rect.right() > right:
            self._widest = max(self._widest, rect.right() - left + bar.value())
            self._update_bars()
            bar.setValue(bar.value() + rect.right() - right + 4 * round(self.layouts.char_width))

    def _want(self) -> None:
        """Ask for the lines in view that are not known, and paint as soon as they are there."""
        count = self.viewport().height() // self.layouts.row_height + 2
        missing = self.document.lines.unknown(self.place.line, count)
        if missing is None:
            around = self.document.lines.unknown(self.place.line - count, 3 * count)
            if around is not None:
                self.document.fetch(*around)
            self._want_columns()
            self.viewport().update()
            self._measure()
            return
        first = min(missing[0], max(0, self.place.line - count))
        self.document.fetch(first, max(3 * count, missing[0] + missing[1] - first))
        if not self._late.isActive():
            self._late.start()

    def _want_columns(self) -> None:
        for line in self.visible_lines():
            if line.shape is None and (known := self.document.lines.get(line.number)) is not None:
                low, high = self._columns_in_view(known) if known.length > LONG else (0, LONG + 1)
                self.document.fetch(line.number, 1, (max(0, low - LONG), high + LONG))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        if self._wraps and self.layouts.style.wrap != self._wrap_width():
            self._restyle()
        else:
            self._update_bars()
            self._want()

    # Painting

    def update_line(self, number: int) -> None:
        """Paint a line again."""
        for line in self.visible_lines():
            if line.number == number:
                height = line.rows * self.layouts.row_height
                self.viewport().update(0, line.y, self.viewport().width(), height)
                return

    def _update_edited(self, edits: Sequence[Edit]) -> None:
        if not edits:  # only the encoding is another one
            return
        total_changed = any(
            edit.start.line != edit.end.line or end_of(edit.start, edit.text).line != edit.start.line for edit in edits
        )
        if total_changed or self._wraps or len(edits) > 3:
            self._update_bars()
            self._want()
            self.viewport().update()
            return
        for edit in edits:
            self.update_line(edit.start.line)
        if self.document.lines.unknown(edits[0].start.line, 1):
            self._want()
        self._want_columns()
        self._measure()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        painter = QPainter(self.viewport())
        area = event.rect()
        gutter = self.gutter_width()
        painter.fillRect(area, self.colors.page)
        lines = [
            line
            for line in self.visible_lines()
            if line.y <= area.bottom() and line.y + line.rows * self.layouts.row_height > area.top()
        ]
        painter.setFont(self.layouts.style.font)
        for line in lines:
            self._paint_line(painter, line)
        if area.left() < gutter:
            self._paint_gutter(painter, area, gutter, lines)
        painter.end()

    def _paint_line(self, painter: QPainter, line: VisibleLine) -> None:
        caret = self.selection[1]
        height = line.rows * self.layouts.row_height
        if line.number == caret.line:
            painter.fillRect(0, line.y, self.viewport().width(), height, self.colors.current_line)
        shape = line.shape
        if shape is None:
            self._paint_caret(painter, line)
            return
        origin = QPointF(self.origin(shape), line.y)
        for bracket in self.brackets:
            if bracket.line == line.number:
                self._paint_bracket(painter, line, bracket)
        for paint in self.underlays:
            paint(painter, line)
        painter.setPen(self.colors.text)
        ranges = self._selected(line, origin, painter)
        shape.layout.draw(painter, origin, ranges, QRectF(0, line.y, self.viewport().width(), height))
        self._paint_caret(painter, line)

    def _selected(self, line: VisibleLine, origin: QPointF, painter: QPainter) -> list[QTextLayout.FormatRange]:
        start, end = ordered(self.selection)
        shape = line.shape
        if start == end or shape is None or not start.line <= line.number <= end.line:
            return []
        low = shape.unit(start.column) if line.number == start.line else 0
        high = shape.unit(end.column) if line.number == end.line else shape.columns.units
        if line.number < end.line:  # the line's end is selected too
            row, x = shape.place(shape.first + shape.columns.length)
            y = line.y + row * self.layouts.row_height
            width = self.layouts.char_width * 0.6
            painter.fillRect(QRectF(origin.x() + x, y, width, self.layouts.row_height), self.colors.selection)
        if high <= low:
            return []
        format_ = QTextCharFormat()
        format_.setForeground(self.colors.selected_text)
        if shape.right_to_left:
            format_.setBackground(self.colors.selection)  # what is selected may lie in several stretches
        else:
            for left, top, width in shape.stretches(low, high):
                rect = QRectF(origin.x() + left, line.y + top * self.layouts.row_height, width, self.layouts.row_height)
                painter.fillRect(rect, self.colors.selection)
        return [format_range(low, high - low, format_)]

    def _paint_bracket(self, painter: QPainter, line: VisibleLine, bracket: Position) -> None:
        if line.shape is None:
            return
        row, x = line.shape.place(bracket.column)
        _, behind = line.shape.place(bracket.column + 1)
        rect = QRectF(
            self.origin(line.shape) + x, line.y + row * self.layouts.row_height, behind - x, self.layouts.row_height
        )
        painter.fillRect(rect, self.colors.bracket_ground)

    def _paint_caret(self, painter: QPainter, line: VisibleLine) -> None:
        place = self._drop or self.selection[1]
        if place.line != line.number or not (self._caret_shown or self._drop):
            return
        rect = self._caret_in(line, place)
        if rect.width() > 2:
            color = QColor(self.colors.caret)
            color.setAlpha(110)
            painter.fillRect(rect, color)
        else:
            painter.fillRect(rect, self.colors.caret)

    def _paint_gutter(self, painter: QPainter, area: QRect, width: int, lines: Sequence[VisibleLine]) -> None:
        painter.fillRect(QRect(0, area.top(), width, area.height()), self.colors.gutter)
        painter.fillRect(QRect(width - 1, area.top(), 1, area.height()), self.colors.gutter_line)
        right = width - round(self.layouts.char_width)
        metrics = painter.fontMetrics()
        caret = self.selection[1].line
        for line in lines:
            text = str(line.number + 1)
            painter.setPen(self.colors.text if line.number == caret else self.colors.gutter_text)
            painter.drawText(right - metrics.horizontalAdvance(text), line.y + self.layouts.ascent, text)

    # Reading for commands

    def shape_of(self, number: int) -> Shape:
        """The layout of a line. Raises MissingLinesError."""
        shape = self.shape(number)
        if shape is None:
            line = self.document.line(number)
            low, high = self._columns_in_view(line)
            raise MissingLinesError(number, 1, (max(0, low - LONG), high + LONG) if line.length > LONG else None)
        return shape

    def palette_changed(self, _palette: QPalette) -> None:
        """Take over the colours of the system."""
        self._restyle()
