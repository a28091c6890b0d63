"""The files of the project, listed as they are opened up."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QBrush, QContextMenuEvent, QKeyEvent, QPalette
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QWidget

from rio_core.protocol import Event, RioError, visible_line
from rio_core.protocol.events import FsChanged
from rio_core.protocol.ops.project import Entry, ListParams, ListResult
from rio_gui._ui.link.link import Link
from rio_gui._ui.theme import mixed, readable
from rio_gui._ui.window.icons import icon

_PATH: Final = Qt.ItemDataRole.UserRole
_FOLDER: Final = Qt.ItemDataRole.UserRole + 1
_LISTED: Final = Qt.ItemDataRole.UserRole + 2
_ENTRY: Final = Qt.ItemDataRole.UserRole + 3
_KEYS: Final = {Qt.Key.Key_F2: "project.rename", Qt.Key.Key_Delete: "project.delete"}


class FileTree(QTreeWidget):
    """A tree of the project's files. Ignored ones are dimmed."""

    chosen = Signal(str)
    """A file was chosen; its path from the project's root."""
    commanded = Signal(str)
    """A key of the tree's own was pressed; the name of the command that it stands for."""
    menu_wanted = Signal(QPoint)
    """The context menu of the entry that is chosen is wanted, at a place of the screen."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._sought = ""
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
        self._list(None, "")

    def path(self) -> str:
        """The path of the entry that is chosen, from the root; empty for none."""
        item = self.currentItem()
        return str(item.data(0, _PATH) or "") if item is not None else ""

    def folder(self) -> str:
        """The folder that is chosen, or that of the file that is; empty for the root."""
        item = self.currentItem()
        return self.path() if item is not None and item.data(0, _FOLDER) else self.path().rpartition("/")[0]

    def reveal(self, path: str) -> None:
        """Open up the folders above an entry and choose it, as soon as they are listed."""
        self._sought = path
        self._seek()

    def _seek(self) -> None:
        walked = ""
        for name in self._sought.split("/"):
            walked = f"{walked}/{name}" if walked else name
            item = self._find(walked)
            if item is None:
                return
            if walked == self._sought:
                self._sought = ""
                self.setCurrentItem(item)
                self.scrollToItem(item)
                return
            item.setExpanded(True)

    def _list(self, item: QTreeWidgetItem | None, path: str, seen: Sequence[Entry] = ()) -> None:
        def listed(result: ListResult) -> None:
            entries = [*seen, *result.entries]
            if isinstance(result.next, int):
                self._list(item, path, entries)
            else:
                self._put(self._find(path) if path else self.invisibleRootItem(), path, entries)
                if self._sought:
                    self._seek()

        def failed(error: RioError) -> None:
            parent = self._find(path) if path else self.invisibleRootItem()
            if parent is not None:
                parent.takeChildren()
                note = QTreeWidgetItem([error.message])
                note.setFlags(Qt.ItemFlag.NoItemFlags)
                parent.addChild(note)

        self._link.call("fs.list", ListParams(path, len(seen)), listed, failed)

    def _put(self, parent: QTreeWidgetItem | None, folder: str, entries: Sequence[Entry]) -> None:
        """Let a folder have these entries. Those that it has already stay as they are, opened up or not."""
        if parent is None:
            return
        wanted = _sorted(entries)
        known = {(entry.name, entry.kind == "folder", entry.ignored) for entry in wanted}
        for number in reversed(range(parent.childCount())):
            child = parent.child(number)
            if child is not None and child.data(0, _ENTRY) not in known:
                parent.takeChild(number)
        for number, entry in enumerate(wanted):
            here = parent.child(number)
            key = entry.name, entry.kind == "folder", entry.ignored
            if here is None or here.data(0, _ENTRY) != key:
                parent.insertChild(number, self._item(folder, *key))

    def _item(self, folder: str, name: str, is_folder: bool, ignored: bool) -> QTreeWidgetItem:
        item = QTreeWidgetItem([visible_line(name)])
        item.setData(0, _PATH, f"{folder}/{name}" if folder else name)
        item.setData(0, _FOLDER, is_folder)
        item.setData(0, _ENTRY, (name, is_folder, ignored))
        item.setIcon(0, self._icons["folder" if is_folder else "file"])
        if is_folder:
            item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        if ignored:
            text, page = (self.palette().color(role) for role in (QPalette.ColorRole.Text, QPalette.ColorRole.Base))
            item.setForeground(0, QBrush(readable(mixed(text, page, 0.5), page)))
        return item

    def _open_up(self, item: QTreeWidgetItem) -> None:
        if not item.data(0, _LISTED):
            item.setData(0, _LISTED, True)
            self._list(item, item.data(0, _PATH))

    def _activate(self, item: QTreeWidgetItem) -> None:
        if item.data(0, _FOLDER):
            item.setExpanded(not item.isExpanded())
        elif item.data(0, _PATH) is not None:
            self.chosen.emit(item.data(0, _PATH))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (item := self.currentItem()) is not None:
            self._activate(item)
        elif plain and (command := _KEYS.get(Qt.Key(event.key()))) is not None:
            self.commanded.emit(command)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802  Qt's name
        place = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard and (item := self.currentItem()) is not None:
            place = self.viewport().mapToGlobal(self.visualItemRect(item).bottomLeft())
        self.menu_wanted.emit(place)
        event.accept()

    def _happened(self, event: Event) -> None:
        if isinstance(event, FsChanged):
            for folder in {path.rpartition("/")[0] for path in event.paths}:
                self._list_again(folder)

    def _list_again(self, folder: str) -> None:
        item = self._find(folder) if folder else None
        if not folder or (item is not None and item.data(0, _LISTED)):
            self._list(item, folder)

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


def _sorted(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name.casefold()))
