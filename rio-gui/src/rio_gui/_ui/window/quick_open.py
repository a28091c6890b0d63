"""Quick open: a file of the project by a part of its name."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from rio_core.protocol import visible_line
from rio_core.protocol.ops.project import ListParams, ListResult
from rio_gui._ui.link.link import Link

SHOWN: Final = 100
_AT_ONCE: Final = 8  # folders that are asked for at the same time
_MOST: Final = 200_000


def score(pattern: str, path: str) -> int | None:
    """How well a pattern fits a path, less being better; None when its letters are not in it in this order."""
    name = path.rpartition("/")[2].casefold()
    folded = path.casefold()
    if pattern in name:
        return name.index(pattern) + len(name) - len(pattern)
    if pattern in folded:
        return 1_000 + len(path)
    at = -1
    gaps = 0
    for char in pattern:
        found = folded.find(char, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1
        at = found
    return 10_000 + gaps


def best(pattern: str, paths: Sequence[str], count: int = SHOWN) -> list[str]:
    """The paths that fit a pattern best."""
    pattern = pattern.casefold().replace(" ", "")
    scored = [(points, path) for path in paths if (points := score(pattern, path)) is not None]
    scored.sort()
    return [path for _, path in scored[:count]]


class FileNames(QObject):
    """The names of all files of the project that git does not ignore, gathered folder by folder."""

    grown = Signal()

    def __init__(self, link: Link, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self.paths: list[str] = []
        self._folders: list[tuple[str, int]] = []
        self._asked = 0
        self._round = 0

    def gather(self) -> None:
        """Look again from the root on."""
        self._round += 1
        self.paths = []
        self._folders = [("", 0)]
        self._asked = 0
        self._ask()

    def _ask(self) -> None:
        while self._folders and self._asked < _AT_ONCE and len(self.paths) < _MOST:
            folder, offset = self._folders.pop()
            self._asked += 1
            self._list(folder, offset, self._round)

    def _list(self, folder: str, offset: int, turn: int) -> None:
        self._link.call(
            "fs.list",
            ListParams(folder, offset),
            lambda result: self._take(turn, folder, result),
            lambda _error: self._take(turn, folder, None),
        )

    def _take(self, turn: int, folder: str, result: ListResult | None) -> None:
        if turn != self._round:
            return
        self._asked -= 1
        for entry in result.entries if result is not None else ():
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.ignored or entry.name == ".git":
                continue
            if entry.kind == "folder":
                self._folders.append((path, 0))
            elif entry.kind == "file":
                self.paths.append(path)
        if result is not None and isinstance(result.next, int):
            self._folders.append((folder, result.next))
        self._ask()
        if not self._asked or len(self.paths) % 500 < len(result.entries if result else ()):
            self.grown.emit()


class QuickOpen(QDialog):
    """A line to type in and the files that fit."""

    chosen = Signal(str)

    def __init__(self, names: FileNames, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Quick Open")
        self._names = names
        self._line = QLineEdit()
        self._line.setClearButtonEnabled(True)
        label = QLabel("&Part of the name:")
        label.setBuddy(self._line)
        self._list = QListWidget()
        self._list.setUniformItemSizes(True)
        self._list.setAccessibleName("Files that fit")
        layout = QVBoxLayout(self)
        layout.addWidget(label)
        layout.addWidget(self._line)
        layout.addWidget(self._list)
        self.resize(560, 380)
        self._line.textChanged.connect(self._fill)
        self._line.installEventFilter(self)
        self._list.itemActivated.connect(self._activate)
        names.grown.connect(self._fill)
        names.gather()

    def _fill(self) -> None:
        self._list.clear()
        for path in best(self._line.text(), self._names.paths):
            item = QListWidgetItem(visible_line(path))
            item.setData(Qt.ItemDataRole.UserRole, path)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _activate(self, item: QListWidgetItem) -> None:
        self.accept()
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if watched is self._line and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 10, Qt.Key.Key_PageUp: -10}.get(
                Qt.Key(event.key())
            )
            if step is not None:
                self._list.setCurrentRow(min(max(0, self._list.currentRow() + step), self._list.count() - 1))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if (item := self._list.currentItem()) is not None:
                    self._activate(item)
                return True
        return super().eventFilter(watched, event)
