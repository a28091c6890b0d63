"""Finding in the files of the project: a dock with what to find, and a list of hits that stays."""

from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDockWidget,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from rio_core.protocol import RioError, visible_line
from rio_core.protocol.ops import Done
from rio_core.protocol.ops.search import FileHits, FilesParams, FilesResult, StopParams
from rio_gui._ui.editor.reading import known_text
from rio_gui._ui.link.link import Link
from rio_gui._ui.text.operations import ordered
from rio_gui._ui.window.find_bar import History
from rio_gui._ui.window.tabs import Tabs

_SEARCH: Final = "files"
_PLACE: Final = Qt.ItemDataRole.UserRole
_CUTS: Final = {
    "files": "too many files; there are more",
    "hits": "too many lines; there are more",
    "bytes": "too much text; there is more",
    "time": "stopped when its time was over; there may be more",
}


class FindInFiles(QDockWidget):
    """The dock."""

    def __init__(self, link: Link, tabs: Tabs, window: QMainWindow) -> None:
        super().__init__("Find in Files", window)
        self.setObjectName("find_in_files")
        self._link = link
        self._tabs = tabs
        self._turn = 0
        self._pattern = History("Find")
        self._glob = QLineEdit()
        self._glob.setPlaceholderText("*.py, src/**/*.{c,h}, !tests; empty: all files that git does not ignore")
        self._case = QCheckBox("Match &case")
        self._word = QCheckBox("Wh&ole words")
        self._regex = QCheckBox("Re&gular expression")
        self._find = QPushButton("Find &All")
        self._stop = QPushButton("S&top")
        self._stop.setEnabled(False)
        self._said = QLabel()
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._list = QTreeWidget()
        self._list.setHeaderHidden(True)
        self._list.setUniformRowHeights(True)
        self._list.setAccessibleName("Lines that were found")
        self.setWidget(self._body())
        self._find.clicked.connect(lambda _checked=False: self.search())
        self._stop.clicked.connect(lambda _checked=False: self._stop_search())
        self._list.itemActivated.connect(lambda item, _column: self._open(item))
        for field in (self._pattern.lineEdit(), self._glob):
            if field is not None:
                field.returnPressed.connect(self.search)
        leave = QShortcut(QKeySequence(Qt.Key.Key_Escape), self.widget(), self._leave)
        leave.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self)
        self.hide()

    def _body(self) -> QWidget:
        body = QWidget()
        pattern_label, glob_label = QLabel("Fi&nd:"), QLabel("&In files:")
        pattern_label.setBuddy(self._pattern)
        glob_label.setBuddy(self._glob)
        grid = QGridLayout(body)
        grid.setContentsMargins(6, 4, 6, 4)
        grid.addWidget(pattern_label, 0, 0)
        grid.addWidget(self._pattern, 0, 1)
        grid.addWidget(self._find, 0, 2)
        grid.addWidget(glob_label, 1, 0)
        grid.addWidget(self._glob, 1, 1)
        grid.addWidget(self._stop, 1, 2)
        row = QHBoxLayout()
        row.setSpacing(12)
        for box in (self._case, self._word, self._regex):
            row.addWidget(box)
        self._said.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row.addWidget(self._said, 1)
        grid.addLayout(row, 2, 1, 1, 2)
        grid.addWidget(self._list, 3, 0, 1, 3)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(3, 1)
        return body

    def ask(self) -> None:
        """Show it, with what is selected to be found."""
        editor = self._tabs.current()
        if editor is not None:
            start, end = ordered(editor.selection)
            if start.line == end.line and (text := known_text(editor.document, start, end)):
                self._pattern.setEditText(text)
        self.show()
        self.raise_()
        line = self._pattern.lineEdit()
        if line is not None:
            line.setFocus(Qt.FocusReason.ShortcutFocusReason)
            line.selectAll()

    def search(self) -> None:
        """Search; what was found before stays until the answer is there."""
        pattern = self._pattern.currentText()
        if not pattern:
            return
        self._pattern.remember()
        self._turn += 1
        turn = self._turn

        def found(result: FilesResult) -> None:
            if turn == self._turn:
                self._stop.setEnabled(False)
                self._show_result(result)

        def failed(error: RioError) -> None:
            if turn == self._turn:
                self._stop.setEnabled(False)
                self._say(f"{error.message} {error.action}")

        params = FilesParams(
            pattern,
            regex=self._regex.isChecked(),
            case=self._case.isChecked(),
            word=self._word.isChecked(),
            glob=self._glob.text().strip() or None,
            token=_SEARCH,
        )
        self._stop.setEnabled(True)
        self._say("Searching...")
        self._link.call("search.files", params, found, failed)

    def _stop_search(self) -> None:
        self._link.call("search.stop", StopParams(_SEARCH), _nothing, lambda error: self._say(error.message))

    def _say(self, text: str) -> None:
        self._said.setText(text)
        self._said.setToolTip(text)

    def _show_result(self, result: FilesResult) -> None:
        blocker = QSignalBlocker(self._list)
        self._list.clear()
        lines = 0
        for file in result.files:
            self._list.addTopLevelItem(_file_item(file))
            lines += len(file.hits) + file.more
        self._list.expandAll()
        blocker.unblock()
        files = len(result.files)
        said = f"{lines} line{'' if lines == 1 else 's'} in {files} file{'' if files == 1 else 's'}"
        self._say(f"{said} ({_CUTS.get(result.cut, result.cut)})" if result.cut else said)
        if hits := self._hits():
            self._list.setCurrentItem(hits[0])
            self._list.setFocus()

    def step(self, by: int) -> None:
        """Open the next hit of the list, or the one before."""
        items = self._hits()
        if not items:
            self.ask()
            return
        current = self._list.currentItem()
        at = next((index for index, item in enumerate(items) if item is current), None)
        if at is None:
            at = 0 if by > 0 else len(items) - 1
        elif self._opened:
            at = (at + by) % len(items)
        self._open(items[at])

    @property
    def _opened(self) -> bool:
        current = self._list.currentItem()
        return current is not None and bool(current.data(0, _PLACE + 1))

    def _hits(self) -> list[QTreeWidgetItem]:
        items: list[QTreeWidgetItem] = []
        for number in range(self._list.topLevelItemCount()):
            if (top := self._list.topLevelItem(number)) is not None:
                items += (child for index in range(top.childCount()) if (child := top.child(index)) is not None)
        return items

    def _open(self, item: QTreeWidgetItem) -> None:
        place = item.data(0, _PLACE)
        if place is None:
            item.setExpanded(not item.isExpanded())
            return
        path, line, column = place
        self._list.setCurrentItem(item)
        item.setData(0, _PLACE + 1, True)
        self._tabs.open(path, line, column)

    def _leave(self) -> None:
        if (editor := self._tabs.current()) is not None:
            editor.setFocus()


def _file_item(file: FileHits) -> QTreeWidgetItem:
    more = f", {file.more} more" if file.more else ""
    unsaved = ", not saved" if file.unsaved else ""
    item = QTreeWidgetItem([f"{visible_line(file.path)} ({len(file.hits)}{more}{unsaved})"])
    for hit in file.hits:
        line, column = hit.position
        child = QTreeWidgetItem([f"{line + 1}: {visible_line(hit.text.strip())}"])
        child.setData(0, _PLACE, (file.path, line, column))
        item.addChild(child)
    return item


def _nothing(_done: Done) -> None:
    """The search says itself that it was stopped."""
