"""The open files in the Window menu, and a list of all of them."""

from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.window.recent import menu_text
from rio_gui._ui.window.tabs import Tabs

NUMBERED: Final = 9


class OpenFiles(QObject):
    """Keeps the numbered entries of a menu as the tabs are, whenever it is shown."""

    def __init__(self, menu: QMenu, tabs: Tabs) -> None:
        super().__init__(menu)
        self._menu = menu
        self._tabs = tabs
        self._entries: list[QAction] = []
        menu.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        for old in self._entries:
            self._menu.removeAction(old)
            old.deleteLater()
        editors = self._tabs.editors()[:NUMBERED]
        self._entries = [self._menu.addSeparator()] if editors else []
        for number, editor in enumerate(editors, 1):
            action = self._menu.addAction(f"&{number} {menu_text(title(self._tabs, editor))}")
            action.setCheckable(True)
            action.setChecked(editor is self._tabs.current())
            action.triggered.connect(lambda _=False, editor=editor: self._tabs.bring_forward(editor))
            self._entries.append(action)


def title(tabs: Tabs, editor: Editor) -> str:
    """A file's name, with a star when it is not saved."""
    return f"{tabs.name(editor)} *" if editor.document.dirty else tabs.name(editor)


class FileList(QDialog):
    """All open files, to go to one."""

    def __init__(self, tabs: Tabs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Open Files")
        self._tabs = tabs
        self._list = QListWidget()
        self._editors = tabs.editors()
        for editor in self._editors:
            item = QListWidgetItem(title(tabs, editor))
            item.setToolTip(editor.document.info.path or "")
            self._list.addItem(item)
        self._list.setCurrentRow(tabs.currentIndex())
        label = QLabel("&File:")
        label.setBuddy(self._list)
        buttons = QDialogButtonBox()
        go = buttons.addButton("&Go", QDialogButtonBox.ButtonRole.AcceptRole)
        go.setDefault(True)
        buttons.addButton("&Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        layout = QVBoxLayout(self)
        layout.addWidget(label)
        layout.addWidget(self._list)
        layout.addWidget(buttons)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(420, 320)
        buttons.accepted.connect(self._go)
        buttons.rejected.connect(self.reject)
        self._list.itemActivated.connect(self._go)

    def _go(self) -> None:
        row = self._list.currentRow()
        self.accept()
        if row >= 0 and self._editors[row] in self._tabs.editors():
            self._tabs.bring_forward(self._editors[row])
