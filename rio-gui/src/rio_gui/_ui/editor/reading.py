"""Reading a stretch of a document that may be longer than what is known of it, page by page."""

from collections.abc import Callable
from typing import Final

from rio_core.protocol import RioError
from rio_core.protocol.ops.buffer import LinesParams, LinesResult
from rio_gui._ui.document.document import Core, Document
from rio_gui._ui.document.edits import Position

_LINES: Final = 2_000
_COLUMNS: Final = 30_000  # an answer is at most 256 KiB, of which one code point can take 12 bytes
MOST: Final = 64 * 1024 * 1024
"""Code points that are read."""

Done = Callable[[str], None]
Failed = Callable[[RioError], None]


def known_text(document: Document, start: Position, end: Position, most: int = 5_000) -> str | None:
    """The text from `start` to `end`, with LF, if all of it is known and it has not too many lines."""
    if end.line - start.line > most:
        return None
    parts = []
    for number in range(start.line, end.line + 1):
        line = document.lines.get(number)
        low = start.column if number == start.line else 0
        if line is None:
            return None
        high = end.column if number == end.line else line.length
        if not line.knows(low, high):
            return None
        parts.append(line.text[low - line.first : high - line.first] if high > low else "")
    return "\n".join(parts)


class Reading:
    """One reading. It ends with one of the two functions, or with neither when it is cancelled."""

    def __init__(
        self, core: Core, document: Document, start: Position, end: Position, done: Done, failed: Failed
    ) -> None:
        self._core = core
        self._document = document
        self._end = end
        self._done = done
        self._failed = failed
        self._at = start
        self._parts: list[str] = []
        self._size = 0
        self._revision: int | None = None
        self._cancelled = False
        document.when_settled(lambda _: self._ask(), failed)

    def cancel(self) -> None:
        """Stop."""
        self._cancelled = True

    def _ask(self) -> None:
        if self._cancelled:
            return
        number, column = self._at
        count = 1 if column else min(_LINES, self._end.line - number + 1)
        window = (column, column + _COLUMNS)
        params = LinesParams(self._document.buffer, number, count, window)
        self._core.call("buffer.lines", params, self._take, self._failed)

    def _take(self, result: LinesResult) -> None:
        if self._cancelled:
            return
        if self._revision not in (None, result.revision):
            self._failed(RioError("stale", "The text changed while it was being read.", "Try again."))
            return
        self._revision = result.revision
        for text, length in zip(result.lines, result.lengths, strict=True):
            number, column = self._at
            high = self._end.column if number == self._end.line else length
            piece = text[: max(0, high - column)]
            self._parts.append(piece)
            self._size += len(piece)
            if column + len(piece) < high and piece:
                self._at = Position(number, column + len(piece))
                break
            if number == self._end.line:
                self._done("".join(self._parts))
                return
            self._parts.append("\n")
            self._at = Position(number + 1, 0)
        if not result.lines or self._size > MOST:
            self._failed(RioError("unsupported", "The selection is too large for this.", "Select less."))
            return
        self._ask()
