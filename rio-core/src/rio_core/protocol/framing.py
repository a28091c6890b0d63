"""One JSON message a line: cutting a stream of bytes into lines, and writing a message as one.

Lines are split on byte 0A only, so that U+2028, U+0085 and the like inside a text never cut a message. Messages are
written as ASCII, which also carries file names whose bytes are not UTF-8 (as lone surrogates, PEP 383) without loss.
"""

import json
from typing import Any, Final

import msgspec

__all__ = ["LINE_CAP", "LineTooLongError", "Lines", "encode"]

LINE_CAP: Final = 64 * 1024 * 1024
"""Bytes of the longest line that is read, its end not counted."""


class LineTooLongError(Exception):
    """A line passed the cap. No byte after its beginning may be parsed: close the connection."""


class Lines:
    """Collects bytes and gives whole lines, without their LF. Memory is bounded by the cap and one read."""

    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        # One array and no list of pieces: a peer that sends single bytes must not make each cost an object.
        self._begun = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes as they came; return the lines that they complete.

        Raises LineTooLongError when a line is longer than the cap, whether or not its end has come. Lines completed
        earlier in the same bytes are on the error as `error.args[0]`.
        """
        lines: list[bytes] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if len(self._begun) + end - start > self._cap:
                raise LineTooLongError(lines)
            lines.append(bytes(self._begun) + data[start:end])
            self._begun.clear()
            start = end + 1
        if len(self._begun) + len(data) - start > self._cap:
            raise LineTooLongError(lines)
        self._begun += data[start:]
        return lines

    @property
    def pending(self) -> int:
        """Bytes of a line that has not ended."""
        return len(self._begun)


_to_json = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def encode(message: Any) -> bytes:
    """A message (a msgspec struct or plain data) as one line of ASCII JSON with its LF."""
    return _to_json(msgspec.to_builtins(message)).encode("ascii") + b"\n"
