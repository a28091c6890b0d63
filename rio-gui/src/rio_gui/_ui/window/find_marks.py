"""The marks of what was found, in one editor: they are painted under its text and follow what is typed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QPainter

from rio_core.protocol import RioError
from rio_gui._ui.document.edits import Edit, Span, carried, shifted
from rio_gui._ui.document.outbox import Selection
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.editor.view import VisibleLine


class Marks(QObject):
    """Hits in an editor, and the range that is searched. `edited` is told of every change of the text."""

    edited = Signal()

    def __init__(self, editor: Editor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.editor = editor
        self.hits: list[Selection] = []
        self.within: Selection | None = None
        self._by_line: dict[int, list[Selection]] = {}
        editor.document.views.append(self)
        editor.underlays.append(self._paint)

    def detach(self) -> None:
        """Leave the editor."""
        self.editor.document.views.remove(self)
        self.editor.underlays.remove(self._paint)
        self.editor.viewport().update()

    def show_hits(self, hits: Iterable[Selection]) -> None:
        """Mark these and no others."""
        self.hits = list(hits)
        by_line: defaultdict[int, list[Selection]] = defaultdict(list)
        for start, end in self.hits:
            for line in range(start.line, min(end.line, start.line + 1_000) + 1):
                by_line[line].append((start, end))
        self._by_line = dict(by_line)
        self.editor.viewport().update()

    # What a document tells its views

    def changed(self, edits: Sequence[Edit], *, own: bool) -> None:
        """Follow a change; a hit that was changed is one no more."""
        for edit in edits:
            if self.within is not None:
                start, end = self.within
                self.within = start if edit.start <= start <= edit.end else carried(start, edit), carried(end, edit)
        if edits and self.hits:
            spans = [Span.of(edit) for edit in edits]
            self.show_hits(hit for hit in (_kept(hit, spans) for hit in self.hits) if hit is not None)
        if edits:
            self.edited.emit()

    def arrived(self) -> None:
        """Nothing to do."""

    def state_changed(self) -> None:
        """Nothing to do."""

    def set_aside(self, texts: Sequence[str], error: RioError) -> None:
        """Nothing to do."""

    # Painting

    def _paint(self, painter: QPainter, line: VisibleLine) -> None:
        shape = line.shape
        if shape is None:
            return
        view = self.editor
        height = view.layouts.row_height
        left = view.origin(shape)
        painter.setPen(view.colors.gutter_text)
        painter.setBrush(view.colors.found)
        for start, end in self._by_line.get(line.number, ()):
            low = shape.unit(start.column) if start.line == line.number else 0
            high = shape.unit(end.column) if end.line == line.number else shape.columns.units
            if low < high and not shape.right_to_left:
                for x, row, width in shape.stretches(low, high):
                    painter.drawRect(QRectF(left + x, line.y + row * height, width, height - 1))
            elif start == end:
                row, x = shape.place(start.column)
                painter.fillRect(QRectF(left + x - 1, line.y + row * height, 3, height), view.colors.gutter_text)
            elif low < high:  # the stretches of such a text lie in any order: its columns one by one
                for column in range(max(start.column, shape.first), min(end.column, start.column + 1_000)):
                    (row, one), (_, other) = shape.place(column), shape.place(column + 1)
                    x, width = min(one, other), abs(other - one)
                    painter.fillRect(QRectF(left + x, line.y + row * height, width, height), view.colors.found)


def _kept(hit: Selection, spans: Sequence[Span]) -> Selection | None:
    start, end = hit
    for span in spans:
        if start >= span.end:
            start, end = shifted(start, span), shifted(end, span)
        elif span.start < end:
            return None
    return start, end
