"""Files and projects that were opened lately, in menus of their own."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from rio_core.protocol import visible_line
from rio_gui._ui.window.state import StateFile

Kind = Literal["files", "projects"]
SHOWN: Final = 9
"""As many as there are digits to choose them by."""

_TITLES: Final[dict[Kind, str]] = {"files": "Recent &Files", "projects": "Recent &Projects"}
_WIDEST: Final = 60


class Recent(QObject):
    """The two lists, shared by all windows: the one used last comes first."""

    chosen = Signal(str, str)
    """A path was chosen; `files` or `projects`, and the path."""
    gone = Signal(str)
    """A path was chosen that is not there any more, and is off the list now."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._file: StateFile | None = None
        self._early: list[tuple[Kind, str]] = []

    def keep_in(self, folder: Path) -> None:
        """Keep the lists in this folder from now on."""
        self._file = StateFile(folder / "recent.json")
        for kind, path in self._early:
            self.add(kind, path)
        self._early.clear()

    def paths(self, kind: Kind) -> list[str]:
        """The paths, as every window left them."""
        found = self._file.load()[0].get(kind) if self._file is not None else None
        return [path for path in found if isinstance(path, str)][:SHOWN] if isinstance(found, list) else []

    def add(self, kind: Kind, path: str) -> None:
        """A path was opened."""
        if self._file is None:
            self._early.append((kind, path))
        else:
            self._put(kind, [path, *(old for old in self.paths(kind) if old != path)])

    def _put(self, kind: Kind, paths: list[str]) -> None:
        if self._file is not None:
            other: Kind = "projects" if kind == "files" else "files"
            self._file.store({kind: paths[:SHOWN], other: self.paths(other)})

    def clear(self, kind: Kind) -> None:
        """Empty a list."""
        self._put(kind, [])

    def choose(self, kind: Kind, path: str) -> None:
        """Act on a choice."""
        if os.path.exists(path):
            self.chosen.emit(kind, path)
        else:
            self._put(kind, [other for other in self.paths(kind) if other != path])
            self.gone.emit(path)

    def add_menus(self, menu: QMenu, before: QAction) -> None:
        """Put a menu of each list into another menu."""
        for kind, title in _TITLES.items():
            sub = QMenu(title, menu)
            sub.aboutToShow.connect(lambda sub=sub, kind=kind: self._fill(sub, kind))
            menu.insertMenu(before, sub)
        menu.insertSeparator(before)

    def _fill(self, menu: QMenu, kind: Kind) -> None:
        menu.clear()
        paths = self.paths(kind)
        for number, path in enumerate(paths, 1):
            action = menu.addAction(f"&{number} {menu_text(path)}")
            action.setStatusTip(visible_line(path))
            action.triggered.connect(self._choosing(kind, path))
        if paths:
            menu.addSeparator()
            menu.addAction("&Clear").triggered.connect(lambda: self.clear(kind))
        else:
            menu.addAction("None").setEnabled(False)

    def _choosing(self, kind: Kind, path: str) -> Callable[[], None]:
        return lambda: self.choose(kind, path)


def menu_text(path: str) -> str:
    """A path or name in a menu: in one line, not too wide, and without an access letter of its own."""
    text = visible_line(path)
    if len(text) > _WIDEST:
        text = f"{text[:18]}...{text[21 - _WIDEST :]}"
    return text.replace("&", "&&")
