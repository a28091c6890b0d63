"""Some lines of a text, wherever they are in it, kept right while the text changes.

Of a very long line only a run of columns may be known. What an edit does to lines that are not known is known exactly:
how many there are, and where each of the known ones is now.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rio_gui._ui.document.edits import Edit, split_lines

KEPT: Final = 2_000
"""Lines that are kept; those farthest from the last ones used go first."""


class Line(NamedTuple):
    """A line of `length` code points, of which `text`, from column `first` on, is known."""

    text: str
    first: int
    length: int

    @property
    def last(self) -> int:
        """The column behind the known ones."""
        return self.first + len(self.text)

    @property
    def whole(self) -> bool:
        """Whether all of it is known."""
        return len(self.text) == self.length

    def knows(self, start: int, end: int) -> bool:
        """Whether the columns from `start` to `end` are known, as far as the line has them."""
        start, end = max(start, 0), min(end, self.length)
        return start >= end or (self.first <= start and end <= self.last)

    def before(self, column: int) -> "Line":
        """The line up to a column."""
        return Line(self.text[: max(0, column - self.first)], min(self.first, column), column)

    def behind(self, column: int) -> "Line":
        """The line from a column on."""
        if self.first >= column:
            return Line(self.text, self.first - column, self.length - column)
        return Line(self.text[column - self.first :], 0, self.length - column)

    def __add__(self, other: "Line") -> "Line":  # type: ignore[override]  # lines are joined, not tuples
        length = self.length + other.length
        if self.last == self.length and other.first == 0:
            return Line(self.text + other.text, self.first, length)
        if len(self.text) >= len(other.text):
            return Line(self.text, self.first, length)
        return Line(other.text, self.length + other.first, length)


def whole(text: str) -> Line:
    """A line that is known from end to end."""
    return Line(text, 0, len(text))


class SparseLines:
    """The known lines of a text of `total` lines."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._lines: dict[int, Line] = {}
        self._used = 0

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, number: int) -> Line | None:
        """A line, if it is known."""
        return self._lines.get(number)

    def put(self, first: int, lines: Iterable[Line]) -> None:
        """These lines, from line `first` on, are known from now on."""
        for number, line in enumerate(lines, first):
            self._lines[number] = line
        self._trim(first)

    def numbers(self) -> Sequence[int]:
        """The numbers of the known lines, in no order."""
        return list(self._lines)

    def clear(self) -> None:
        """Forget all lines, not how many there are."""
        self._lines.clear()

    def unknown(self, first: int, count: int) -> tuple[int, int] | None:
        """The smallest run, as first and count, that holds every unknown line of a run; None if there is none."""
        numbers = [n for n in range(max(first, 0), min(first + count, self.total)) if n not in self._lines]
        return (numbers[0], numbers[-1] - numbers[0] + 1) if numbers else None

    def apply(self, edit: Edit) -> None:
        """Change the text."""
        (first, start), (last, end), text = edit
        nothing = whole("")
        old_head, old_tail = self._lines.get(first), self._lines.get(last)
        head = old_head.before(start) if old_head else nothing if start == 0 else None
        tail = old_tail.behind(end) if old_tail else None
        inserted = [whole(line) for line in split_lines(text)]
        more = len(inserted) - 1
        self._move(first, last, more)
        if more == 0:
            if head is not None and tail is not None:
                self._lines[first] = head + inserted[0] + tail
        else:
            if head is not None:
                self._lines[first] = head + inserted[0]
            if tail is not None:
                self._lines[first + more] = inserted[-1] + tail
            # Of a very long insertion, the lines around its ends, where the caret and the eye will be.
            for index in {*range(1, min(more, KEPT // 4)), *range(max(1, more - KEPT // 4), more)}:
                self._lines[first + index] = inserted[index]
        self._trim(first + more)

    def _move(self, first: int, last: int, more: int) -> None:
        """Forget the lines from `first` to `last`, and number those behind as if `first` now had `more` lines added."""
        by = first + more - last
        self.total += by
        if by == 0 and first == last:
            self._lines.pop(first, None)
            return
        self._lines = {
            number if number < first else number + by: line
            for number, line in self._lines.items()
            if not first <= number <= last
        }

    def _trim(self, used: int) -> None:
        self._used = used
        if len(self._lines) > KEPT:
            nearest = sorted(self._lines, key=lambda number: abs(number - used))
            for number in nearest[KEPT * 3 // 4 :]:
                del self._lines[number]
