"""Which matches count, and what is kept of them."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from rio_core._engine.find.seen import Seen

__all__ = ["MOST", "Hit", "Page", "Replaced", "matches", "merged", "touches_word"]

MOST: Final = 1_000_000
"""Hits that are counted, or replaced at once."""

_APART: Final = 1_000
_TOGETHER: Final = 16_384

Hit = tuple[int, int]
"""Start and end, offsets in the text as it is."""


class Replaced(NamedTuple):
    """The text from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


def touches_word(plain: str, at: int) -> bool:
    """Whether there are word characters on both sides of an offset."""
    return 0 < at < len(plain) and all(char.isalnum() or char == "_" for char in plain[at - 1 : at + 1])


def matches(
    pattern: re.Pattern[str], seen: Seen, low: int, high: int, *, word: bool
) -> Iterator[tuple[Hit, re.Match[str]]]:
    """The matches from `low` to `high` (offsets in the text as it is), which do not overlap.

    An empty match counts once, and not where the match before it ends, nor at `high` behind a line end: what follows
    the last line end is no line (A19, A20).
    """
    plain = seen.plain
    last = seen.seen(high)
    first = seen.seen(low)
    behind = -1
    for match in pattern.finditer(plain, first, last):
        start, end = match.span()
        if start == end and (start == behind or (start == last > first and plain[start - 1] == "\n")):
            continue
        if word and end == last and touches_word(plain, end):
            continue  # the pattern sees nothing behind the range
        behind = end
        yield (seen.original(start), seen.original(end)), match


class Page:
    """The hits around an offset, and the number of all: up to `back` that begin before `first`, `limit` from there."""

    def __init__(self, first: int, back: int, limit: int) -> None:
        self.total = 0
        self.more = False
        self._first = first
        self._limit = limit
        self._back: deque[tuple[Hit, re.Match[str] | None]] = deque(maxlen=back)
        self._later: list[tuple[Hit, re.Match[str] | None]] = []
        self._before = 0

    def take(self, hit: Hit, match: re.Match[str] | None = None) -> bool:
        """Take the next hit; whether another one is wanted."""
        if self.total == MOST:
            self.more = True
            return False
        self.total += 1
        if hit[0] < self._first:
            self._before += 1
            self._back.append((hit, match))
        elif len(self._later) < self._limit:
            self._later.append((hit, match))
        return True

    @property
    def hits(self) -> list[Hit]:
        """The hits of the page."""
        return [hit for hit, _ in (*self._back, *self._later)]

    @property
    def matches(self) -> list[re.Match[str]]:
        """What was taken with the hits of the page."""
        return [match for _, match in (*self._back, *self._later) if match is not None]

    @property
    def before(self) -> int:
        """How many hits are before the page."""
        return self._before - len(self._back)


def merged(hits: Iterable[Replaced], count: int, between: Callable[[int, int], str]) -> list[Replaced]:
    """The replacements as edits of a text, none touching the next.

    Of very many, those that are near each other become one edit; `between` gives the text that lies between two.
    """
    reach = 0 if count <= _APART else _TOGETHER
    edits: list[Replaced] = []
    start, end = -1, -1
    parts: list[str] = []
    for hit in hits:
        if parts and (hit.start == end or hit.start - start < reach):
            parts += (between(end, hit.start), hit.text)
        else:
            if parts:
                edits.append(Replaced(start, end, "".join(parts)))
            start = hit.start
            parts = [hit.text]
        end = hit.end
    if parts:
        edits.append(Replaced(start, end, "".join(parts)))
    return edits
