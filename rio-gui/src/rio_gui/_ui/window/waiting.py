"""Telling somebody when the files that he waits for are closed."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from rio_core.protocol import RioError
from rio_gui._ui.arguments import Target
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.window.tabs import Tabs


class Waiting(QObject):
    """Opens files, and calls `done` when the last of them is closed or could not be opened."""

    def __init__(self, tabs: Tabs, targets: Sequence[Target], done: Callable[[], None]) -> None:
        super().__init__(tabs)
        self._tabs = tabs
        self._done = done
        self._opening = len(targets)
        self._buffers: set[str] = set()
        tabs.closed.connect(self._closed)
        for target in targets:
            tabs.open(target.path, target.line, target.column, self._opened, self._failed)

    def _opened(self, editor: Editor) -> None:
        self._opening -= 1
        self._buffers.add(editor.document.buffer)

    def _failed(self, error: RioError) -> None:
        self._opening -= 1
        self._tabs.failed.emit(error)
        self._look()

    def _closed(self, buffer: str) -> None:
        self._buffers.discard(buffer)
        self._look()

    def _look(self) -> None:
        if not self._buffers and not self._opening:
            self._tabs.closed.disconnect(self._closed)
            self.deleteLater()
            self._done()
