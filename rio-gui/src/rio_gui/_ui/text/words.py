"""Where words begin and end in a line."""

import re
from typing import Final

_RUN: Final = re.compile(r"\s+|[\w\u0300-\u036f\u200c\u200d]+|[^\w\s]+")


def word_at(text: str, column: int) -> tuple[int, int]:
    """The word, run of signs or run of spaces around a column, as start and end; a word goes before what is no word."""
    found = (column, column)
    for run in _RUN.finditer(text):
        if run.start() <= column <= run.end():
            touches_word = run[0][0].isalnum() or run[0][0] == "_"
            if run.start() <= column < run.end() or touches_word or found == (column, column):
                found = run.span()
            if touches_word:
                break
    return found


def next_word(text: str, column: int) -> int:
    """The start of the next word behind a column, or the end of the line."""
    for run in _RUN.finditer(text):
        if run.start() > column and not run[0].isspace():
            return run.start()
    return len(text)


def previous_word(text: str, column: int) -> int:
    """The start of the word before a column, or the start of the line."""
    start = 0
    for run in _RUN.finditer(text):
        if run.start() >= column:
            break
        if not run[0].isspace():
            start = run.start()
    return start
