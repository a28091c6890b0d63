"""Every command with the key that works now."""

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from rio_gui._ui.window.actions import Actions
from rio_gui._ui.window.commands import MENUS, Command


class KeysHelp(QDialog):
    """A table of menu, command and key. It stays open while one edits."""

    def __init__(self, actions: Actions, commands: Iterable[Command], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        table = QTreeWidget()
        table.setAccessibleName("Commands and their keys")
        table.setHeaderLabels(["Menu", "Command", "Key"])
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        for command in commands:
            key = actions[command.name].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            menu = MENUS[command.menu].replace("&", "")
            table.addTopLevelItem(QTreeWidgetItem([menu, command.label.removesuffix("..."), key]))
        for column in range(3):
            table.resizeColumnToContents(column)
        buttons = QDialogButtonBox()
        buttons.addButton("&Close", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(table)
        layout.addWidget(buttons)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(460, 520)
