"""Searching with ripgrep. What it says of files is a hint on where to look; every byte that leaves is read by rio.

Two runs: one over the folder gives the names of files that match, and one over the texts of those files, read through
the root, gives the places. So a link swapped in while ripgrep walks shows nothing, lines are those of rio's own rule,
and unsaved texts are searched like files.

The first run sees bytes, so it does not find a letter beyond ASCII in a file that is not Unicode, nor an anchor at a
line that ends in a lone CR. Before ripgrep 14 a `.rgignore` hides files from it.

Sources: rg(1) of ripgrep 13 to 15.
"""

import os
import shutil
import stat
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from rio_core._engine.workspace.hits import Match
from rio_core._engine.workspace.process import PATH, Outcome, run
from rio_core._engine.workspace.query import Names, Query
from rio_core.protocol.errors import RioError
from rio_core.protocol.visible import visible_line

__all__ = ["candidates", "find_ripgrep", "match"]

MAX_NAMES: Final = 5000
"""Files with matches that are taken from ripgrep."""
MAX_MATCHES: Final = 200_000
"""Matches in one run over texts, after which the rest is dropped."""


@cache
def find_ripgrep() -> str | None:
    """The full path of ripgrep: the system's, or that of a wheel beside the interpreter; never one of a project."""
    beside = Path(sys.executable).parent / "rg"
    return shutil.which("rg", path=PATH) or (str(beside) if os.access(beside, os.X_OK) and beside.is_file() else None)


async def candidates(query: Query, root: int, *, ignoring: bool) -> list[Names]:
    """The names of files that may match, in any order. `root` is the handle of the root folder."""
    arguments = [
        *_start(query),
        *("--files-with-matches", "--null", "--hidden", "--no-follow", "--crlf"),
        *("--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-dot"),
        *(_ignore_files(query, root) if ignoring else ("--no-ignore",)),
        *(() if query.glob is None else (f"--glob={query.glob}",)),
        "--glob=!.git",  # the last glob decides
        f"--regexp={query.pattern}",
        *("--", "/".join((".", *query.base))),
    ]
    found: list[Names] = []
    rest = b""

    def take(block: bytes) -> bool:
        nonlocal rest
        *names, rest = (rest + block).split(b"\0")
        found.extend(tuple(os.fsdecode(name).split("/")[1:]) for name in names)
        return len(found) < MAX_NAMES

    _check(await run(arguments, take, cwd=root), query)
    return found


async def match(query: Query, texts: Sequence[Sequence[str]]) -> list[list[Match]]:
    """The first match of each matching line, for each of several texts given as lines."""
    arguments = [
        *_start(query),
        *("--only-matching", "--line-number", "--column", "--no-filename", "--no-heading", "--color=never"),
        *("--text", "--encoding=none"),
        f"--regexp={query.pattern}",
        "-",
    ]
    lines = [line for text in texts for line in text]
    found: dict[int, tuple[int, int]] = {}
    count = 0
    rest = b""

    def take(block: bytes) -> bool:
        nonlocal rest, count
        *records, rest = (rest + block).split(b"\n")
        for record in records:
            number, column, matched = record.split(b":", 2)
            found.setdefault(int(number) - 1, (int(column) - 1, len(matched.decode("utf-8", "replace"))))
        count += len(records)
        return count < MAX_MATCHES

    feed = "\n".join(lines).encode("utf-8", "replace")
    _check(await run(arguments, take, feed=feed), query)
    answer: list[list[Match]] = []
    first = 0
    for text in texts:
        numbers = [number for number in range(first, first + len(text)) if number in found]
        answer.append(
            [(number - first, _column(lines[number], found[number][0]), found[number][1]) for number in numbers]
        )
        first += len(text)
    return answer


def _ignore_files(query: Query, root: int) -> list[str]:
    # Below a subfolder ripgrep would not know the rules of the root. A pipe of that name would keep it waiting.
    try:
        regular = stat.S_ISREG(os.stat(".gitignore", dir_fd=root, follow_symlinks=False).st_mode)
    except OSError:
        regular = False
    return ["--ignore-file=.gitignore"] if query.base and regular else []


def _start(query: Query) -> list[str]:
    program = find_ripgrep()
    if program is None:
        raise RioError("unsupported", "ripgrep is not installed.", "Install it, or search without it.")
    return [program, "--no-config", "--no-messages", "--case-sensitive", *(() if query.regex else ("--fixed-strings",))]


def _column(line: str, column: int) -> int:
    return len(line.encode("utf-8", "replace")[:column].decode("utf-8", "replace"))


def _check(outcome: Outcome, query: Query) -> None:
    # 0 and 1 are found and not found; 2 is a failure, also of some file, which is said with no message.
    if outcome.code == 2 and outcome.errors.strip():
        reason = visible_line(" ".join(outcome.errors.split()))
        raise RioError("bad_message", f"ripgrep refuses the search: {reason}", "Mend the pattern or the glob.")
