"""Drawing a unified diff: colours, white space that would mislead, and how much of the screen it takes."""

import difflib
from collections.abc import Iterator
from typing import Final

from rio_core._cli.cautions import LONG_RUN
from rio_core._cli.writer import Piece, Style

__all__ = ["between", "drawn", "ended", "lines_of", "rows"]

_SHORT: Final = 20
"""Characters of white space at the end of a line that are still drawn and not counted."""
_STYLES: Final[dict[str, Style]] = {"-": "removed", "+": "added", "@": "hunk", "\\": "dim"}


def drawn(diff: str) -> Iterator[list[Piece]]:
    """The lines of a diff as pieces to write. The head that names the files is left out, as it is shown otherwise."""
    lines = diff.split("\n")
    if lines[-1] == "":
        lines.pop()
    first = next((number for number, line in enumerate(lines) if line.startswith("@@")), 0)
    for line in lines[first:]:
        style = _STYLES.get(line[:1], "plain")
        yield [piece for piece in _pieces(line, style) if piece[0]]


def rows(diff: str, width: int) -> int:
    """How many rows of a terminal of this width a diff takes, about: an escape is wider than what it stands for."""
    return sum(1 + max(0, len(line) - 1) // max(1, width) for line in diff.split("\n"))


def between(old: str, new: str) -> str:
    """A unified diff of two texts."""
    return "".join(ended(line) for line in difflib.unified_diff(lines_of(old), lines_of(new), n=3))


def ended(line: str) -> str:
    """A line of a diff with its end, and with the usual note where the text has none."""
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def lines_of(text: str) -> list[str]:
    """Lines with their LF; the last may have none."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([rest] if (rest := text.rpartition("\n")[2]) else [])


def _pieces(line: str, style: Style) -> Iterator[Piece]:
    text = line[1:].rstrip(" \t") if style in ("removed", "added") else line[1:]
    end = line[1 + len(text) :]
    shown, done = line[:1], 0
    for run in LONG_RUN.finditer(text):
        yield shown + text[done : run.start()], style
        yield _counted(run[0]), "mark"
        shown, done = "", run.end()
    yield shown + text[done:], style
    yield (_counted(end) if len(end) > _SHORT else end), "mark"


def _counted(run: str) -> str:
    what = "spaces" if set(run) == {" "} else "tabs" if set(run) == {"\t"} else "spaces and tabs"
    return f"[{len(run)} {what}]"
