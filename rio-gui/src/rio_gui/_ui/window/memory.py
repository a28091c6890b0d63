"""What a window remembers between starts, and how other starts reach it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow

from rio_core.protocol import RioError, visible_line
from rio_core.protocol.ops import Nothing
from rio_core.protocol.ops.core import StatusResult
from rio_gui._ui.arguments import Target
from rio_gui._ui.link.link import Link
from rio_gui._ui.window.recent import Recent
from rio_gui._ui.window.tabs import Tabs
from rio_gui._ui.window.waiting import Waiting

if TYPE_CHECKING:
    from rio_gui._ui.window.listening import Listening
    from rio_gui._ui.window.session import Session

_LATER: Final = 50  # milliseconds


class Memory(QObject):
    """The session, the recent files and projects, and the socket of one window."""

    project_chosen = Signal(str)
    """A recent project was chosen."""

    def __init__(self, window: QMainWindow, link: Link, tabs: Tabs) -> None:
        super().__init__(window)
        self._window = window
        self._tabs = tabs
        self._folder: Path | None = None
        self._project: str | None = None
        self._begin: Callable[[], None] | None = None
        self._session: Session | None = None
        self._listening: Listening | None = None
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self.recent = Recent(self)
        self.recent.chosen.connect(self._chosen)
        self.recent.gone.connect(self._gone)
        tabs.opened.connect(self._opened)
        link.call("core.status", Nothing(), self._take_status, tabs.failed.emit)

    def _take_status(self, status: StatusResult) -> None:
        self._folder = Path(status.state_folder)
        self.recent.keep_in(self._folder)
        if self._begin is not None:
            self._begin()

    def begin(self, project: str | None, *, front: bool) -> None:
        """Restore the session of a project, or of a window without one, and keep it from now on."""
        self._project = project
        if project is not None:
            self.recent.add("projects", project)
            # What it imports is not needed for the first picture.
            self._later.timeout.connect(lambda: self._listen(project))
            self._later.start(_LATER)

        def begin() -> None:
            if self._folder is not None and self._session is None:
                from rio_gui._ui.window.session import Session

                self._session = Session(self._window, self._tabs, self._folder, project)
                self._session.restore(front=front)
                self._tabs.kept.connect(self._session.stays_open)
                self._tabs.failed.connect(self._session.stays_open)

        self._begin = begin
        if self._folder is not None:
            begin()

    def _listen(self, project: str) -> None:
        from rio_gui._ui.window.listening import Listening

        self._listening = Listening(project, self)
        self._listening.wanted.connect(self._wanted)

    def _wanted(self, targets: list[Target], done: Callable[[], None] | None) -> None:
        files = [target for target in targets if not target.is_folder]
        if files:
            Waiting(self._tabs, files, done or _nothing)
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.raise_()
        self._window.activateWindow()

    def _opened(self, path: str) -> None:
        self.recent.add("files", os.path.join(self._project or "/", path))

    def _chosen(self, kind: str, path: str) -> None:
        if kind == "files":
            self._tabs.open(path)
        else:
            self.project_chosen.emit(path)

    def _gone(self, path: str) -> None:
        message = f"{visible_line(path)} is not there any more."
        self._tabs.failed.emit(RioError("not_found", message, "It was taken off the list."))

    def about_to_close(self) -> None:
        """The files are about to be closed, though their user can still call it off."""
        if self._session is not None:
            self._session.about_to_close()

    def close(self) -> None:
        """The window is closed."""
        self._later.stop()
        if self._listening is not None:
            self._listening.close()
        if self._session is not None:
            self._session.close()
            self._session = None


def _nothing() -> None:
    """After files that nobody waits for."""
