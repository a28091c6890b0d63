"""Lines laid out for painting, kept as long as they are of use."""

import math
import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, NamedTuple

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from rio_gui._ui.text.columns import Columns, revealed, utf16_length
from rio_gui._ui.text.graphemes import snapped
from rio_gui._ui.theme import Theme

_KEPT: Final = 400
_WIDE: Final = 1 << 24  # pixels; a layout counts in 1/64 of them, in 32 bits
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_BLANKS: Final = re.compile(r"[ \t]+")


def _x(line: QTextLine, unit: int) -> float:
    x = line.cursorToX(unit)
    return float(x[0] if isinstance(x, tuple) else x)  # type: ignore[arg-type]  # PySide6 gives (x, unit)


class Style(NamedTuple):
    """Everything that the layout of a line depends on, beside its text."""

    font: QFont
    tab: int = 8
    wrap: float | None = None
    """Width in pixels at which lines are wrapped."""
    blanks: bool = False
    """Spaces and tabs are shown."""


class Composed(NamedTuple):
    """Text that an input method is composing, at a column of a line."""

    column: int
    text: str
    formats: tuple[QTextLayout.FormatRange, ...]
    caret: int | None
    """UTF-16 unit in the text; None where there is no caret to show."""


class Shape:
    """A run of text of one line, from column `first` on, laid out in rows. Places are relative to its upper left."""

    __slots__ = ("_char_width", "_composed", "columns", "first", "layout", "rows", "text", "width")

    def __init__(
        self, text: str, first: int, columns: Columns, layout: QTextLayout, char_width: float, composed: Composed | None
    ) -> None:
        self.text = text
        self.first = first
        self.columns = columns
        self.layout = layout
        self.rows = max(1, layout.lineCount())
        self.width = max(
            (layout.lineAt(row).naturalTextRect().right() for row in range(layout.lineCount())), default=0.0
        )
        self._char_width = char_width
        self._composed = composed

    def unit(self, column: int) -> int:
        """The unit of a column of the line in the layout, without what is being composed."""
        return self.columns.unit(column - self.first)

    def place(self, column: int) -> tuple[int, float]:
        """The row and x of a column. Columns outside the run are as wide as a digit."""
        if column < self.first:
            return 0, (column - self.first) * self._char_width
        if column > self.first + self.columns.length:
            return 0, self.width + (column - self.first - self.columns.length) * self._char_width
        unit = self.unit(column)
        if self._composed is not None and column == self._composed.column:
            unit += self._composed.caret if self._composed.caret is not None else 0
        elif self._composed is not None and column > self._composed.column:
            unit += utf16_length(self._composed.text)
        line = self.layout.lineForTextPosition(unit)
        if not line.isValid():
            return 0, 0.0
        return line.lineNumber(), _x(line, unit)

    def column(self, row: int, x: float) -> int:
        """The column whose beginning is nearest to an x of a row; never one inside a character."""
        line = self.layout.lineAt(min(max(row, 0), self.rows - 1))
        if not line.isValid():
            return self.first
        unit = line.xToCursor(x)
        end = line.textStart() + line.textLength()
        if unit >= end and line.lineNumber() < self.rows - 1:
            unit = end - 1  # the place behind a wrapped row is the next row's first
        return self.first + snapped(self.text, self.columns.column(unit))

    @property
    def right_to_left(self) -> bool:
        """Whether some of it may run from right to left."""
        return not self.text.isascii() and _RIGHT_TO_LEFT.search(self.text) is not None

    def stretches(self, low: int, high: int) -> Iterator[tuple[float, int, float]]:
        """Where the units from `low` to `high` are, as x, row and width, of a text that runs from left to right."""
        for row in range(self.layout.lineCount()):
            line = self.layout.lineAt(row)
            start, end = max(low, line.textStart()), min(high, line.textStart() + line.textLength())
            if start < end:
                left, right = _x(line, start), _x(line, end)
                yield left, row, right - left

    def row_columns(self, row: int) -> tuple[int, int]:
        """The columns at which a row begins and behind which it ends."""
        line = self.layout.lineAt(min(max(row, 0), self.rows - 1))
        start, end = line.textStart(), line.textStart() + line.textLength()
        return self.first + self.columns.column(start), self.first + self.columns.column(end)


class Layouts:
    """Makes shapes of lines and keeps the last ones used."""

    def __init__(self, style: Style, colors: Theme) -> None:
        self._shapes: OrderedDict[tuple[str, int], Shape] = OrderedDict()
        self.configure(style, colors)

    def configure(self, style: Style, colors: Theme) -> None:
        """Lay out in another way from now on."""
        self._shapes.clear()
        self.style = style
        metrics = QFontMetricsF(style.font)
        self.char_width = metrics.horizontalAdvance("0")
        self.ascent = math.ceil(metrics.ascent())
        self.row_height = max(1, self.ascent + math.ceil(metrics.descent()) + max(1, round(metrics.height() * 0.08)))
        self._option = QTextOption()
        self._option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self._option.setTabStopDistance(self.char_width * style.tab)
        wrapped, unwrapped = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere, QTextOption.WrapMode.NoWrap
        self._option.setWrapMode(unwrapped if style.wrap is None else wrapped)
        flags = QTextOption.Flag.IncludeTrailingSpaces
        if style.blanks:
            flags |= QTextOption.Flag.ShowTabsAndSpaces
        self._option.setFlags(flags)
        self._sign = QTextCharFormat()
        self._sign.setForeground(colors.sign)
        self._sign.setBackground(colors.sign_ground)
        self._blank = QTextCharFormat()
        self._blank.setForeground(colors.blanks)

    def shape(self, text: str, first: int = 0, composed: Composed | None = None) -> Shape:
        """Lay out a text that begins at a column of its line."""
        if composed is not None:
            return self._made(text, first, composed)
        key = text, first
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = self._made(text, first, None)
            if len(self._shapes) > _KEPT:
                self._shapes.popitem(last=False)
        else:
            self._shapes.move_to_end(key)
        return shape

    def _made(self, text: str, first: int, composed: Composed | None) -> Shape:
        columns = revealed(text)
        layout = QTextLayout(columns.shown, self.style.font)
        layout.setTextOption(self._option)
        layout.setCacheEnabled(True)
        formats = [format_range(start, count, self._sign) for start, count in columns.signs]
        if self.style.blanks:
            formats += [
                format_range(columns.unit(found.start()), len(found[0]), self._blank)
                for found in _BLANKS.finditer(text)
            ]
        if composed is not None:
            at = columns.unit(composed.column - first)
            layout.setPreeditArea(at, composed.text)
            formats += [format_range(at + part.start, part.length, part.format) for part in composed.formats]
        if formats:
            layout.setFormats(formats)
        self._lay_rows(layout, text, wrap=self.style.wrap if first == 0 else None)
        return Shape(text, first, columns, layout, self.char_width, composed)

    def _lay_rows(self, layout: QTextLayout, text: str, wrap: float | None) -> None:
        hanging = 0.0
        if wrap is not None:
            blanks = len(text) - len(text.lstrip(" \t"))
            width = sum(self.style.tab if char == "\t" else 1 for char in text[:blanks]) * self.char_width
            hanging = min(width + 2 * self.char_width, wrap / 2)
        layout.beginLayout()
        row = 0
        while (line := layout.createLine()).isValid():
            x = hanging if row else 0.0
            line.setLineWidth(_WIDE if wrap is None else max(wrap - x, self.char_width))
            # Rows are equally high whatever fonts their characters come from.
            line.setPosition(QPointF(x, row * self.row_height + self.ascent - line.ascent()))
            row += 1
        layout.endLayout()


def format_range(start: int, length: int, format_: QTextCharFormat) -> QTextLayout.FormatRange:
    """A format for a run of units."""
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, format_
    return made
