"""Go to a line and column. It stays open while one edits."""

import re
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

_PLACE: Final = re.compile(r"\s*(\d{1,12})(?:\s*[:,]\s*(\d{1,12}))?\s*")


def place(text: str) -> tuple[int, int] | None:
    """Line and column from 0 of `LINE` or `LINE:COLUMN`, which count from 1; None for anything else."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    return max(0, int(found[1]) - 1), max(0, int(found[2] or 1) - 1)


class GoToLine(QDialog):
    """Asks for a line."""

    chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Go to Line")
        self._line = QLineEdit()
        label = QLabel("&Line, or line:column (a tab counts as one column):")
        label.setBuddy(self._line)
        buttons = QDialogButtonBox()
        self._go = buttons.addButton("&Go", QDialogButtonBox.ButtonRole.AcceptRole)
        close = buttons.addButton("&Close", QDialogButtonBox.ButtonRole.RejectRole)
        close.setAutoDefault(False)
        self._go.setDefault(True)
        self._go.setEnabled(False)
        layout = QVBoxLayout(self)
        layout.addWidget(label)
        layout.addWidget(self._line)
        layout.addWidget(buttons)
        self._line.textChanged.connect(lambda text: self._go.setEnabled(place(text) is not None))
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)

    def ask(self) -> None:
        """Show it, ready to be typed in."""
        self.show()
        self.raise_()
        self._line.setFocus()
        self._line.selectAll()

    def _accept(self) -> None:
        if (found := place(self._line.text())) is not None:
            self.chosen.emit(*found)
            self.hide()
