"""The running window's side of `rio FILE`: files that another start hands over are opened here."""

import contextlib
import json
import os
import socket
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, Signal

from rio_gui._ui.arguments import Target
from rio_gui._ui.running import socket_of

_MOST: Final = 1024 * 1024


class Listening(QObject):
    """Listens for the files of one project, until it is closed. Where another window does so already, it does not."""

    wanted = Signal(list, object)
    """Files to open, as targets; and a function to call when they are closed, or None."""

    def __init__(self, project: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._socket: socket.socket | None = None
        self._guests: list[_Guest] = []
        self._path = socket_of(project)
        if self._path is not None and not _answers(self._path):
            self._listen(self._path)

    @property
    def active(self) -> bool:
        """Whether starts reach this window."""
        return self._socket is not None

    def _listen(self, path: str) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            listener.bind(path)
            listener.listen()
        except OSError:
            listener.close()
            return
        listener.setblocking(False)
        self._socket = listener
        self._notifier = QSocketNotifier(listener.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._accept)

    def _accept(self) -> None:
        if self._socket is None:
            return
        with contextlib.suppress(OSError):
            connection, _ = self._socket.accept()
            self._guests.append(_Guest(connection, self._asked, self._guests.remove, self))

    def _asked(self, targets: list[Target], done: Callable[[], None] | None) -> None:
        self.wanted.emit(targets, done)

    def close(self) -> None:
        """Listen no more."""
        for guest in list(self._guests):
            guest.close()
        if self._socket is not None and self._path is not None:
            self._notifier.setEnabled(False)
            self._socket.close()
            self._socket = None
            with contextlib.suppress(OSError):
                os.unlink(self._path)


class _Guest(QObject):
    """One other start."""

    def __init__(
        self,
        connection: socket.socket,
        asked: Callable[[list[Target], Callable[[], None] | None], None],
        gone: Callable[["_Guest"], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        connection.setblocking(False)
        self._connection: socket.socket | None = connection
        self._asked = asked
        self._gone = gone
        self._data = b""
        self._reader = QSocketNotifier(connection.fileno(), QSocketNotifier.Type.Read, self)
        self._reader.activated.connect(self._read)

    def _read(self) -> None:
        if self._connection is None:
            return
        try:
            data = self._connection.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._data += data
        if not data or len(self._data) > _MOST:
            self.close()
        elif self._data.endswith(b"\n"):
            request, self._data = self._data, b""
            self._take(request)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            targets = [
                Target(str(path), None if row is None else int(row), int(column))
                for path, row, column in message["open"]
            ]
            wait = message["wait"] is True
        except (ValueError, TypeError, KeyError, RecursionError):
            self.close()
            return
        self._say(b"taken\n")
        self._asked(targets, self._closed if wait else None)
        if not wait:
            self.close()

    def _closed(self) -> None:
        self._say(b"closed\n")
        self.close()

    def _say(self, line: bytes) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.send(line)

    def close(self) -> None:
        """End the conversation."""
        if self._connection is not None:
            self._reader.setEnabled(False)
            self._connection.close()
            self._connection = None
            self._gone(self)
            self.deleteLater()


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(1)
        try:
            channel.connect(path)
        except OSError:
            return False
        return True
