"""The text of a document, in immutable chunks with counted lines.

An edit rewrites the chunk that it touches and nothing else. Sums over the chunks before a place are kept as
far as they are known and extended when a place behind them is asked for: edits at one place, or in order
through the text, pay nothing for its size. A CRLF is always inside one chunk, so the ends of the chunks add
up to the ends of the text.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from rio_core._engine.documents import lines
from rio_core._engine.documents.edits import Position, bad_params

CHUNK: Final = 65_536
"""Characters in a chunk: from a quarter of it to twice as many."""

_SUMS: Final = 256  # chunks whose sums are made at a time

_ASK_AGAIN: Final = "Ask for the lines of the text as it is now."


class Chunk(NamedTuple):
    """A piece of text with what has been counted in it."""

    text: str
    tally: lines.Tally
    ends: int


def _chunk(text: str) -> Chunk:
    ends = lines.tally(text)
    return Chunk(text, ends, ends.ends)


def _cut(text: str) -> list[Chunk]:
    chunks = []
    at = 0
    while len(text) - at > 2 * CHUNK:
        to = at + CHUNK
        if lines.splits_crlf(text, to):
            to += 1
        chunks.append(_chunk(text[at:to]))
        at = to
    chunks.append(_chunk(text[at:] if at else text))
    return chunks


def _sum(chunks: list[Chunk]) -> lines.Tally:
    return lines.Tally(*map(sum, zip(*(chunk.tally for chunk in chunks), strict=True)))


class Text:
    """A text that can be changed anywhere. Offsets count code points from 0.

    Not for two threads at once, not even for reading: `snapshot` gives each thread its own.
    """

    __slots__ = ("_chunks", "_firsts", "_length", "_starts", "_tally")

    def __init__(self, pieces: Iterable[str] = ()) -> None:
        self._chunks: list[Chunk] = []
        parts: list[str] = []
        size = 0
        for piece in pieces:
            parts.append(piece)
            size += len(piece)
            if size >= CHUNK // 2:
                whole = "".join(parts)
                parts = []
                if whole[-1] == "\r":  # its LF may come next
                    whole = whole[:-1]
                    parts.append("\r")
                size = len(parts)
                self._chunks += _cut(whole)
        if size or not self._chunks:
            self._chunks += _cut("".join(parts))
        self._length = sum(len(chunk.text) for chunk in self._chunks)
        self._tally = _sum(self._chunks)
        self._starts = [0]  # offset of each chunk, as far as known
        self._firsts = [0]  # line ends before each chunk, as far as known

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return "".join(self.chunks())

    @property
    def line_count(self) -> int:
        """The number of lines, at least one."""
        return self._tally.ends + 1

    def line_ending(self, default: lines.Ending = "lf") -> lines.LineEnding:
        """What ends the lines; `default` for a text without line ends."""
        return self._tally.line_ending(default)

    @property
    def has_lone_cr(self) -> bool:
        """Whether a CR without LF ends a line."""
        return self._tally.cr > 0

    def chunks(self) -> Iterator[str]:
        """The whole text in pieces; no CRLF is divided."""
        return (chunk.text for chunk in self._chunks)

    def snapshot(self) -> "Text":
        """The text as it is now. It shares the characters and costs microseconds."""
        return _Snapshot(self._chunks.copy(), self._length, self._tally)

    def slice(self, start: int, end: int) -> str:
        """The characters from `start` to `end`; what is outside the text is left out."""
        start, end = max(0, start), min(end, self._length)
        if start >= end:
            return ""
        first = self._at(start)
        last = self._before(end)
        at = start - self._starts[first]
        to = end - self._starts[last]
        if first == last:
            return self._chunks[first].text[at:to]
        middle = (chunk.text for chunk in self._chunks[first + 1 : last])
        return "".join((self._chunks[first].text[at:], *middle, self._chunks[last].text[:to]))

    def replace(self, start: int, end: int, text: str) -> str:
        """Put `text` in the place of what is from `start` to `end`, and return that."""
        if not 0 <= start <= end <= self._length:
            raise ValueError((start, end, self._length))
        removed = self.slice(start, end)
        low = self._at(start)
        high = self._before(end) if end > start else low
        head = self._chunks[low].text[: start - self._starts[low]]
        tail = self._chunks[high].text[end - self._starts[high] :]
        piece = f"{head}{text}{tail}"
        high += 1
        # Neighbours are taken in when the piece is small, and when a CRLF would be divided.
        if low > 0:
            before = self._chunks[low - 1].text
            if len(piece) < CHUNK // 4 or (piece[0] == "\n" and before[-1] == "\r"):
                piece = before + piece
                low -= 1
        if high < len(self._chunks):
            behind = self._chunks[high].text
            if len(piece) < CHUNK // 4 or (piece[-1] == "\r" and behind[0] == "\n"):
                piece += behind
                high += 1
        chunks = _cut(piece)
        gone, come = _sum(self._chunks[low:high]), _sum(chunks)
        self._tally = lines.Tally(*(a - b + c for a, b, c in zip(self._tally, gone, come, strict=True)))
        self._length += len(text) - len(removed)
        self._chunks[low:high] = chunks
        del self._starts[low + 1 :], self._firsts[low + 1 :]
        return removed

    def offset(self, position: Position) -> int:
        """Where a position is.

        Raises:
            RioError: `bad_message`, for a line or a column that the text does not have.

        """
        return self.offsets(position, position)[0]

    def offsets(self, start: Position, end: Position) -> tuple[int, int]:
        """Where two positions are.

        Raises:
            RioError: `bad_message`, for a line or a column that the text does not have.

        """
        span = self._span(start.line)
        return _inside(start, span), _inside(end, span if end.line == start.line else self._span(end.line))

    def _span(self, line: int) -> tuple[int, int, int]:
        if not 0 <= line < self.line_count:
            raise bad_params(f"There is no line {line + 1}: the text has {self.line_count}.", _ASK_AGAIN)
        return self.line_spans(line, 1)[0]

    def position(self, offset: int) -> Position:
        """The line and column of an offset, which is not between a CR and its LF."""
        if not 0 <= offset <= self._length:
            raise ValueError(offset)
        index = self._at(offset)
        chunk = self._chunks[index]
        inside = offset - self._starts[index]
        if lines.splits_crlf(chunk.text, inside):
            raise ValueError(offset)
        ends = lines.tally(chunk.text, inside).ends if chunk.ends else 0
        line = self._firsts[index] + ends
        if not ends:
            return Position(line, offset - self._line_start(line))
        start = chunk.text.rfind("\n", 0, inside) + 1
        if chunk.tally.cr:
            start = max(start, chunk.text.rfind("\r", 0, inside) + 1)
        return Position(line, inside - start)

    def lines(self, first: int, count: int) -> list[tuple[str, str]]:
        """Up to `count` lines from `first` on, as (content, end)."""
        spans = self.line_spans(first, count)
        if not spans:
            return []
        found = lines.split(self.slice(spans[0][0], spans[-1][2]))
        return found[: len(spans)]

    def line_spans(self, first: int, count: int) -> list[tuple[int, int, int]]:
        """The offsets of up to `count` lines: start, end of the content, start of the next line.

        Nothing is copied, so a line of many megabytes costs no more than a short one.
        """
        last = min(first + count, self.line_count)
        spans: list[tuple[int, int, int]] = []
        if not 0 <= first < last:
            return spans
        start = self._line_start(first)
        index = self._at(start)
        at = start - self._starts[index]
        while index < len(self._chunks):
            chunk = self._chunks[index]
            base = self._known_start(index)
            if chunk.ends:
                for found in lines.END.finditer(chunk.text, at):
                    spans.append((start, base + found.start(), base + found.end()))
                    if len(spans) == last - first:
                        return spans
                    start = base + found.end()
            index += 1
            at = 0
        spans.append((start, self._length, self._length))
        return spans

    def find_all(self, needle: str, limit: int) -> list[tuple[int, int]]:
        """The first `limit` places, overlapping ones too, where `needle` is, as (start, end).

        Any kind of line end matches any other. An empty needle is nowhere.
        """
        needle = lines.to_lf(needle)
        hits: list[tuple[int, int]] = []
        if not needle:
            return hits
        longest = len(needle) + needle.count("\n")
        base = 0
        first = 0
        while first < len(self._chunks) and len(hits) < limit:
            own, last = self._take(first, max(4 * CHUNK, 4 * longest))
            more, _ = self._take(last, longest)
            hits += _find(own + more, needle, base, len(own), limit - len(hits))
            base += len(own)
            first = last
        return hits

    def _take(self, first: int, least: int) -> tuple[str, int]:
        """Whole chunks from `first` on with at least so many characters, and the index of the next one."""
        parts: list[str] = []
        size = 0
        while first < len(self._chunks) and size < least:
            parts.append(self._chunks[first].text)
            size += len(parts[-1])
            first += 1
        return "".join(parts), first

    def _line_start(self, line: int) -> int:
        if line == 0:
            return 0
        while self._firsts[-1] + self._chunks[len(self._firsts) - 1].ends < line:
            self._extend()
        index = bisect_left(self._firsts, line) - 1
        chunk = self._chunks[index]
        return self._starts[index] + lines.behind_end(chunk.text, line - self._firsts[index], chunk.tally)

    def _known_start(self, index: int) -> int:
        while len(self._starts) <= index:
            self._extend()
        return self._starts[index]

    def _at(self, offset: int) -> int:
        """The chunk that holds the character at an offset, the last one for the end of the text."""
        self._reach(offset)
        return bisect_right(self._starts, offset) - 1

    def _before(self, offset: int) -> int:
        """The chunk that holds the character before an offset above 0."""
        self._reach(offset)
        return bisect_left(self._starts, offset) - 1

    def _reach(self, offset: int) -> None:
        while (
            len(self._starts) < len(self._chunks)
            and self._starts[-1] + len(self._chunks[len(self._starts) - 1].text) <= offset
        ):
            self._extend()

    def _extend(self) -> None:
        known = len(self._starts) - 1
        more = self._chunks[known : min(known + _SUMS, len(self._chunks) - 1)]
        self._starts[known:] = accumulate((len(chunk.text) for chunk in more), initial=self._starts[known])
        self._firsts[known:] = accumulate((chunk.ends for chunk in more), initial=self._firsts[known])


def _inside(position: Position, span: tuple[int, int, int]) -> int:
    line, column = position
    start, end, _ = span
    if not 0 <= column <= end - start:
        raise bad_params(
            f"There is no column {column + 1} in line {line + 1}: it has {end - start} characters.", _ASK_AGAIN
        )
    return start + column


def _find(window: str, needle: str, base: int, own: int, limit: int) -> list[tuple[int, int]]:
    """Hits that begin in the first `own` characters of a window, which begins at the offset `base`."""
    plain = lines.to_lf(window)
    hits: list[tuple[int, int]] = []
    at = plain.find(needle)
    if at < 0:
        return hits
    places = lines.crlf_places(window)
    while at >= 0 and len(hits) < limit:
        start = lines.original(at, places)
        if start >= own:
            break
        hits.append((base + start, base + lines.original(at + len(needle), places)))
        at = plain.find(needle, at + 1)
    return hits


class _Snapshot(Text):
    """A text of chunks that have been counted."""

    __slots__ = ()

    def __init__(self, chunks: list[Chunk], length: int, ends: lines.Tally) -> None:
        self._chunks = chunks
        self._length = length
        self._tally = ends
        self._starts = [0]
        self._firsts = [0]
