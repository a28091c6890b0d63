"""The process of a window: Qt's application, the link to the core, and what is opened at the start."""

import gc
import os
import sys
from collections.abc import Sequence

from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from rio_core.protocol import RioError
from rio_gui._ui import missing
from rio_gui._ui.arguments import Target
from rio_gui._ui.link.child import Child
from rio_gui._ui.link.early import Early
from rio_gui._ui.link.link import Link
from rio_gui._ui.link.pipe import Pipe
from rio_gui._ui.standard_input import MOST, StandardInput
from rio_gui._ui.window.main_window import MainWindow
from rio_gui._ui.window.waiting import Waiting

_SIZE = 10.0  # points


class Application:
    """One window on one core."""

    def __init__(
        self, core: Child, sent: Sequence[Early], targets: Sequence[Target], *, wait: bool = False, piped: bool = False
    ) -> None:
        qInstallMessageHandler(_take_message)
        self._qt = QApplication([sys.argv[0]])
        self._qt.setApplicationName("rio")
        self._qt.setDesktopFileName("rio")
        self._link = Link(Pipe(core), early=sent)
        self._link.greet("rio")
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(_SIZE)
        self.window = MainWindow(self._link, font)
        files = [place for place in targets if not place.is_folder]
        for place in targets:
            if place.is_folder:
                self.window.open_project(place.path, front=not files)
        if wait:
            Waiting(self.window.tabs, files, lambda: QTimer.singleShot(0, self.window.close))
        else:
            for place in files:
                self.window.tabs.open(place.path, place.line, place.column)
        if piped:
            self._input = StandardInput(parent=self.window)
            self._input.ended.connect(self._take_input)
        if not targets and not piped:
            self.window.memory.begin(None, front=True)

    def _take_input(self, text: str, more: bool) -> None:  # what the signal carries
        self.window.tabs.new(text=text)
        if more:
            error = RioError("unsupported", "What was piped in is too long.", f"Its first {MOST:,} bytes are shown.")
            self.window.tabs.failed.emit(error)

    def run(self) -> int:
        """Show the window until it is closed; the exit code."""
        # The core has answered by now: the window appears where and as it was.
        self._qt.processEvents()
        self.window.show()
        QTimer.singleShot(500, _collect)
        code = self._qt.exec()
        self._link.close()
        return code


def _collect() -> None:
    gc.freeze()
    gc.enable()


def _take_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    if kind == QtMsgType.QtFatalMsg and "platform plugin" in message:
        sys.stderr.write(missing.explain_platform())
        sys.stderr.flush()
        os._exit(1)  # Qt would abort with a core dump
    if kind != QtMsgType.QtDebugMsg and not message.startswith(
        ("From 6.5.0, xcb-cursor0", "could not connect", "Could not load the Qt platform")
    ):
        sys.stderr.write(f"rio: {message}\n")
