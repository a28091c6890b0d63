"""What a window is like, to be put back at the next start: its size and docks, its files, and where one was in them."""

import base64
import hashlib
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QByteArray, QObject, QTimer
from PySide6.QtWidgets import QMainWindow

from rio_core.protocol import RioError
from rio_gui._ui.document.edits import Position
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.window.state import Slot
from rio_gui._ui.window.tabs import Tabs

_DELAY: Final = 1_000  # milliseconds after a change until it is written
_FILES: Final = 200
_BARE: Final = "no-project"


class Session(QObject):
    """The session of one window. Two windows on one project have one each."""

    def __init__(self, window: QMainWindow, tabs: Tabs, folder: Path, project: str | None) -> None:
        super().__init__(window)
        self._window = window
        self._tabs = tabs
        name = hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:24] if project else _BARE
        self._slot = Slot(folder / "windows", name)
        self._project = project
        self._closing: dict[str, Any] | None = None
        self._gone: list[str] = []
        self._front: Editor | None = None
        self._opening = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._timer.timeout.connect(self._store)

    def restore(self, *, front: bool) -> None:
        """Put everything back. With `front`, the file that was in front is again; else the one that is stays."""
        found, damaged = self._slot.file.load()
        if damaged:
            self._say("The last session could not be read.", "What there was is kept beside its file in rio's state.")
        for put_back, name in ((self._window.restoreGeometry, "geometry"), (self._window.restoreState, "state")):
            put_back(QByteArray(_bytes(found.get(name))))
        files = found.get("files")
        files = [entry for entry in files if isinstance(entry, dict)] if isinstance(files, list) else []
        for number, entry in enumerate(files[:_FILES]):
            if isinstance(path := entry.get("path"), str):
                self._opening += 1
                self._open(path, entry, front=front and number == found.get("front"))
        self._tabs.changed.connect(self._timer.start)

    def _open(self, path: str, entry: dict[str, Any], *, front: bool) -> None:
        def opened(editor: Editor) -> None:
            editor.put_back(_place(entry.get("anchor")), _place(entry.get("caret")), _place(entry.get("top")))
            if front:
                self._front = editor
            self._opened()

        def failed(_error: RioError) -> None:
            self._gone.append(path)
            self._opened()

        self._tabs.open_again(path, opened, failed)

    def _opened(self) -> None:
        self._opening -= 1
        if self._opening:
            return
        if self._front is not None:
            self._tabs.bring_forward(self._front)
        if self._gone:
            names = ", ".join(self._gone[:3]) + (", ..." if len(self._gone) > 3 else "")
            self._say(f"Not opened again, as they cannot be read: {names}.", "")

    def _say(self, message: str, action: str) -> None:
        self._tabs.failed.emit(RioError("not_found", message, action))

    def _now(self) -> dict[str, Any]:
        editors = [editor for editor in self._tabs.editors() if editor.document.info.path is not None]
        current = self._tabs.current()
        return {
            "project": self._project,
            "geometry": _text(self._window.saveGeometry()),
            "state": _text(self._window.saveState()),
            "front": editors.index(current) if current in editors else None,
            "files": [
                {
                    "path": editor.document.info.path,
                    "anchor": editor.selection[0],
                    "caret": editor.selection[1],
                    "top": (editor.place.line, editor.place.offset),
                }
                for editor in editors
            ],
        }

    def _store(self) -> None:
        if self._closing is None and not self._opening:
            self._slot.file.store(self._now())

    def about_to_close(self) -> None:
        """Note how everything is before the files are closed, which their user can still call off."""
        if not self._opening:
            self._closing = self._now()

    def stays_open(self, *_: object) -> None:
        """The window was not closed after all, or not yet."""
        self._closing = None
        self._timer.start()

    def close(self) -> None:
        """The window is closed."""
        self._timer.stop()
        if self._closing is None:
            self.about_to_close()
        if self._closing is not None:
            self._slot.file.store(self._closing, last=True)
        self._slot.release()


def _text(data: QByteArray) -> str:
    return base64.b64encode(bytes(data.data())).decode("ascii")


def _bytes(text: object) -> bytes:
    try:
        return base64.b64decode(text) if isinstance(text, str) else b""
    except ValueError:
        return b""


def _place(pair: object) -> Position:
    if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, int) and part >= 0 for part in pair):
        return Position(*pair)
    return Position(0, 0)
