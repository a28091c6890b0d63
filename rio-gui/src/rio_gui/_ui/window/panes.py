"""The status bar: a message, and a pane for each thing that one wants to know about the text. A double click acts."""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel, QStatusBar

from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.text.operations import ordered

_ENDS: Final = {"lf": "LF", "crlf": "CRLF", "cr": "CR", "mixed": "Mixed"}
_PANES: Final = {
    "position": ("Ln 99999, Col 9999", "Line and column; a tab counts as one column. Double click: go to a line"),
    "selection": ("99999 lines", "How much is selected"),
    "mode": ("OVR", "Whether typed text goes between or over. Double click: the other one"),
    "encoding": ("UTF-8 + BOM", "The encoding of the file. Double click: change, or read again as another"),
    "line_end": ("Mixed", "How lines end. Double click: change"),
    "indent": ("Spaces: 8", "How lines are indented"),
    "access": ("RO", "RW, or RO for a file that cannot be written"),
}


class Pane(QLabel):
    """One pane."""

    activated = Signal()

    def __init__(self, widest: str, tip: str) -> None:
        super().__init__()
        self.setFrameStyle(QFrame.Shape.Panel | QFrame.Shadow.Sunken)
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self.setContentsMargins(4, 0, 4, 0)
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(widest) + 14)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        self.activated.emit()


class Panes:
    """The panes of a status bar."""

    def __init__(self, bar: QStatusBar) -> None:
        self._panes = {name: Pane(*texts) for name, texts in _PANES.items()}
        for pane in self._panes.values():
            bar.addPermanentWidget(pane)
        bar.setSizeGripEnabled(False)

    def __getitem__(self, name: str) -> Pane:
        return self._panes[name]

    def show_editor(self, editor: Editor | None) -> None:
        """Say what is to be said of an editor."""
        if editor is None:
            for pane in self._panes.values():
                pane.clear()
            return
        info = editor.document.info
        start, end = ordered(editor.selection)
        caret = editor.selection[1]
        if start == end:
            selected = ""
        elif start.line == end.line:
            selected = f"Sel {end.column - start.column}"
        else:
            selected = f"{end.line - start.line + 1} lines"
        indent = editor.indent
        texts = {
            "position": f"Ln {caret.line + 1}, Col {caret.column + 1}",
            "selection": selected,
            "mode": "OVR" if editor.overwrite else "INS",
            "encoding": f"{info.encoding.upper()}{' + BOM' if info.bom else ''}{'' if info.clean else ' (!)'}",
            "line_end": _ENDS[info.line_ending],
            "indent": f"Tabs: {indent.tab}" if indent.tabs else f"Spaces: {indent.width}",
            "access": "RO" if info.read_only else "RW",
        }
        for name, text in texts.items():
            self._panes[name].setText(text)
