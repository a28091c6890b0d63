"""Answers that come in pages: none is larger than 256 KiB on the wire."""

import json
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["ANSWER", "cut", "fitting"]

ANSWER: Final = 240 * 1024
"""Bytes of JSON that a page of text may take; the rest of an answer fits beside it."""


def cut(text: str, first: int, limit: int) -> tuple[str, int | None]:
    """A piece of a text from offset `first` that fits into an answer, and where the next one begins."""
    end = min(len(text), first + max(limit, 1))
    piece = text[first:end]
    while len(json.dumps(piece)) > ANSWER:
        piece = piece[: max(1, len(piece) // 2)]
    following = first + len(piece)
    return piece, following if following < len(text) else None


def fitting(lines: Iterable[str]) -> Iterator[str]:
    """Lines until an answer is full; a first one that does not fit alone is cut."""
    room = ANSWER
    for number, line in enumerate(lines):
        size = len(json.dumps(line)) + 16  # the length of the line goes along
        if size > room:
            if number == 0:
                yield cut(line, 0, len(line))[0]
            return
        room -= size
        yield line
