"""Server-sent events from bytes, whatever pieces they come in.

Source: WHATWG HTML, 9.2.6 "Interpreting an event stream". Lines end at LF, CR or CRLF and nowhere else, the text is
UTF-8, and an event without its blank line is never dispatched. Names of events are not given: this service repeats
them in the data.
"""

from typing import Final

__all__ = ["Events", "TooLongError"]

LIMIT: Final = 32 * 1024 * 1024
"""Bytes of one event that are kept at most."""

_MARK: Final = b"\xef\xbb\xbf"


class TooLongError(Exception):
    """An event is larger than anything the service sends."""


class Events:
    """Takes bytes, gives the data of each event that is complete."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # the pieces of the line that is still open
        self._line_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._after_cr = False
        self._first = True

    def feed(self, chunk: bytes) -> list[str]:
        """Add bytes. A CR ends its line at once, so that no event waits for the next piece. Raises `TooLongError`."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = chunk.split(b"\n")
        events: list[str] = []
        if lines:
            lines[0] = b"".join((*self._line, lines[0]))
            self._line.clear()
            self._line_size = 0
            for line in lines:
                self._take(line, events)
        self._line.append(rest)
        self._line_size += len(rest)
        if self._line_size + self._data_size > LIMIT:
            raise TooLongError
        return events

    def _take(self, line: bytes, events: list[str]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_MARK)
        if line.startswith(b"data:"):
            value = line[6:] if line[5:6] == b" " else line[5:]
            self._data.append(value)
            self._data_size += len(value) + 1
        elif line == b"data":
            self._data.append(b"")
            self._data_size += 1
        elif not line and self._data:
            data = b"\n".join(self._data).decode("utf-8", "replace")
            self._data.clear()
            self._data_size = 0
            if data:
                events.append(data)
