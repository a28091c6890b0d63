"""The pipes to a child process, read and written by Qt's event loop without ever waiting."""

import contextlib
import os
import signal
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

from rio_core.protocol import Lines, LineTooLongError
from rio_gui._ui.link.child import Child

_READ: Final = 1024 * 1024
_COMPLAINTS: Final = 8_192  # bytes of the child's standard error that are kept


class Pipe(QObject):
    """Sends lines to a child and gives its lines. `ended` comes once, with what the child last said on its stderr."""

    received = Signal(list)
    ended = Signal(str)
    gone = Signal()
    """After the pipes, the process has ended too."""

    def __init__(self, child: Child, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._child: Child | None = child
        self._lines = Lines()
        self._out = bytearray()
        self._complaints = b""
        self._pid = child.pid
        self._reaper = QTimer(self)
        self._reaper.setInterval(20)
        self._reaper.timeout.connect(self._reap)
        self._reader = QSocketNotifier(child.receive, QSocketNotifier.Type.Read, self)
        self._reader.activated.connect(self._read)
        self._writer = QSocketNotifier(child.send, QSocketNotifier.Type.Write, self)
        self._writer.setEnabled(False)
        self._writer.activated.connect(self._write)
        self._listener = QSocketNotifier(child.complaints, QSocketNotifier.Type.Read, self)
        self._listener.activated.connect(self._listen)

    @property
    def open(self) -> bool:
        """Whether the child is there."""
        return self._child is not None

    def send(self, line: bytes) -> None:
        """Send a line with its end. What the child does not take now is kept and sent when it does."""
        if self._child is None:
            return
        self._out += line
        self._write()

    def close(self) -> None:
        """Close the child's standard input, upon which a core ends, and forget the child."""
        self._end(say=False)

    def kill(self) -> None:
        """End a child that does not listen any more."""
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child.pid, signal.SIGKILL)
        self.close()

    def _write(self) -> None:
        if self._child is None:
            return
        try:
            while self._out:
                del self._out[: os.write(self._child.send, self._out)]
        except BlockingIOError:
            self._writer.setEnabled(True)
            return
        except OSError:
            self._out.clear()  # the reader will see the end
        self._writer.setEnabled(False)

    def _read(self) -> None:
        if self._child is None:
            return
        try:
            data = os.read(self._child.receive, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end(say=True)
            return
        try:
            lines = self._lines.feed(data)
        except LineTooLongError:
            self._end(say=True)
            return
        if lines:
            self.received.emit(lines)

    def _listen(self) -> None:
        if self._child is None:
            return
        try:
            data = os.read(self._child.complaints, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._listener.setEnabled(False)
        self._complaints = (self._complaints + data)[-_COMPLAINTS:]

    def _reap(self) -> None:
        """Take the exit status, so that no dead child stays behind while the window goes on."""
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(self._pid, os.WNOHANG) == (0, 0):
                return
        self._reaper.stop()
        self.gone.emit()

    def _end(self, *, say: bool) -> None:
        child = self._child
        if child is None:
            return
        self._listen()
        self._child = None
        for notifier in (self._reader, self._writer, self._listener):
            notifier.setEnabled(False)
        for descriptor in (child.send, child.receive, child.complaints):
            os.close(descriptor)
        self._pid = child.pid
        self._reaper.start()
        self._reap()
        if say:
            self.ended.emit(self._complaints.decode("utf-8", "replace"))
