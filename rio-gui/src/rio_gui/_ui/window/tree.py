"""The files of the project, listed as they are opened up."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent, QPalette
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QWidget

from rio_core.protocol import Event, RioError, visible_line
from rio_core.protocol.events import FsChanged
from rio_core.protocol.ops.project import Entry, ListParams, ListResult
from rio_gui._ui.link.link import Link
from rio_gui._ui.window.icons import icon

_PATH: Final = Qt.ItemDataRole.UserRole
_FOLDER: Final = Qt.ItemDataRole.UserRole + 1
_LISTED: Final = Qt.ItemDataRole.UserRole + 2


class FileTree(QTreeWidget):
    """A tree of the project's files. Ignored ones are dimmed."""

    chosen = Signal(str)
    """A file was chosen; its path from the project's root."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setAccessibleName("Files of the project")
        self._icons = {name: icon(name, self.palette()) for name in ("folder", "file")}
        self.itemExpanded.connect(self._open_up)
        self.itemActivated.connect(self._activate)
        link.happened.connect(self._happened)

    def show_project(self) -> None:
        """List the root."""
        self.clear()
        self._list(None, "", 0)

    def _list(self, item: QTreeWidgetItem | None, path: str, offset: int) -> None:
        def listed(result: ListResult) -> None:
            parent = item or self.invisibleRootItem()
            parent.addChildren(
                [
                    self._item(path, entry.name, entry.kind == "folder", entry.ignored)
                    for entry in _sorted(result.entries)
                ]
            )
            if isinstance(result.next, int):
                self._list(item, path, result.next)

        def failed(error: RioError) -> None:
            parent = item or self.invisibleRootItem()
            note = QTreeWidgetItem([error.message])
            note.setFlags(Qt.ItemFlag.NoItemFlags)
            parent.addChild(note)

        self._link.call("fs.list", ListParams(path, offset), listed, failed)

    def _item(self, folder: str, name: str, is_folder: bool, ignored: bool) -> QTreeWidgetItem:
        item = QTreeWidgetItem([visible_line(name)])
        item.setData(0, _PATH, f"{folder}/{name}" if folder else name)
        item.setData(0, _FOLDER, is_folder)
        item.setIcon(0, self._icons["folder" if is_folder else "file"])
        if is_folder:
            item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        if ignored:
            dim = self.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
            item.setForeground(0, QBrush(dim))
        return item

    def _open_up(self, item: QTreeWidgetItem) -> None:
        if not item.data(0, _LISTED):
            item.setData(0, _LISTED, True)
            self._list(item, item.data(0, _PATH), 0)

    def _activate(self, item: QTreeWidgetItem) -> None:
        if item.data(0, _FOLDER):
            item.setExpanded(not item.isExpanded())
        elif item.data(0, _PATH) is not None:
            self.chosen.emit(item.data(0, _PATH))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (item := self.currentItem()) is not None:
            self._activate(item)
        else:
            super().keyPressEvent(event)

    def _happened(self, event: Event) -> None:
        if isinstance(event, FsChanged):
            for path in event.paths:
                self._list_again(path.rpartition("/")[0])

    def _list_again(self, folder: str) -> None:
        if not folder:
            self.show_project()
            return
        item = self._find(folder)
        if item is not None and item.data(0, _LISTED):
            item.takeChildren()
            self._list(item, folder, 0)

    def _find(self, path: str) -> QTreeWidgetItem | None:
        item = self.invisibleRootItem()
        walked = ""
        for name in path.split("/"):
            walked = f"{walked}/{name}" if walked else name
            children = (item.child(number) for number in range(item.childCount()))
            found = next((child for child in children if child and child.data(0, _PATH) == walked), None)
            if found is None:
                return None
            item = found
        return item


def _sorted(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name.casefold()))
