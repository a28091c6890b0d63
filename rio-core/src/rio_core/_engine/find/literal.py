"""Looking for plain text, window by window, so that no large text is ever joined."""

from collections.abc import Iterator
from typing import Final

from rio_core._engine.documents.text import Text
from rio_core._engine.find.hits import Hit, matches
from rio_core._engine.find.pattern import Wanted, compiled
from rio_core._engine.find.seen import Seen

__all__ = ["windows"]

WINDOW: Final = 32_768
"""Characters that are looked at between two chances for others to run."""

_CONTEXT: Final = 2  # a character on each side, which may be a CRLF, decides whether a word ends


def windows(text: Text, wanted: Wanted, low: int, high: int, *, size: int = WINDOW) -> Iterator[list[Hit]]:
    """The hits of each window from `low` to `high`."""
    pattern = compiled(wanted)
    longest = 2 * len(wanted.pattern)
    at = low
    while at < high:
        base = max(0, at - _CONTEXT)
        to = min(high, at + size)
        piece = text.slice(base, min(to + longest + _CONTEXT, len(text)))
        seen = Seen(piece)
        hits: list[Hit] = []
        end = at
        for (start, stop), _ in matches(pattern, seen, at - base, min(high - base, len(piece)), word=wanted.word):
            if base + start >= to:
                break
            end = base + stop
            hits.append((base + start, end))
        yield hits
        at = max(to, end)
