"""Asking for a name."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget


class NameDialog(QDialog):
    """One line and a button with a verb."""

    chosen = Signal(str)

    def __init__(self, title: str, label: str, verb: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._line = QLineEdit(name)
        # Of a file's name, what is before its suffix is what is changed most often.
        self._line.setSelection(0, name.rfind(".") if name.rfind(".") > 0 else len(name))
        self._line.setMinimumWidth(320)
        words = QLabel(label)
        words.setBuddy(self._line)
        buttons = QDialogButtonBox()
        self._go = buttons.addButton(verb, QDialogButtonBox.ButtonRole.AcceptRole)
        self._go.setDefault(True)
        self._go.setEnabled(bool(name))
        buttons.addButton("&Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        layout = QVBoxLayout(self)
        layout.addWidget(words)
        layout.addWidget(self._line)
        layout.addWidget(buttons)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._line.textChanged.connect(lambda text: self._go.setEnabled(bool(text)))
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)

    def _accept(self) -> None:
        self.accept()
        self.chosen.emit(self._line.text())
