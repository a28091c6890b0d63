"""Reading what is piped into `rio -`, without the window ever waiting for it."""

import os
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, Signal

_READ: Final = 256 * 1024
MOST: Final = 4 * 1024 * 1024
"""Bytes that are read; what a core is sent in one message is limited."""


class StandardInput(QObject):
    """Everything up to the end of a descriptor, or to the most that is read."""

    ended = Signal(str, bool)
    """The text, and whether more of it was left unread."""

    def __init__(self, descriptor: int = 0, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._descriptor = descriptor
        self._data = bytearray()
        self._reader = QSocketNotifier(descriptor, QSocketNotifier.Type.Read, self)
        self._reader.activated.connect(self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, _READ)
        except OSError:
            data = b""
        self._data += data
        if data and len(self._data) <= MOST:
            return
        self._reader.setEnabled(False)
        whole, more = bytes(self._data[:MOST]), len(self._data) > MOST
        self._data.clear()
        try:
            text = whole.decode("utf-8", "strict" if not more else "ignore")
        except UnicodeDecodeError:
            text = whole.decode("latin-1")
        self.ended.emit(text, more)
