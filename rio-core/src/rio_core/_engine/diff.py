"""Line differences, for showing and for applying an edit piece by piece."""

from collections.abc import Sequence
from typing import Final

from rio_core._engine.documents.hunks import changed_lines
from rio_core.protocol.values import Hunk
from rio_core.protocol.visible import visible_line

__all__ = ["CONTEXT", "hunks", "keep", "unified"]

CONTEXT: Final = 3
"""Lines of unchanged text that a unified diff shows around a change."""


def hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Runs of changed lines in order, with ids from 0. Equal beginnings and ends are never part of one."""
    return [
        Hunk(id=number, old_start=a1, old_lines=a2 - a1, new_start=b1, new_lines=b2 - b1)
        for number, (a1, a2, b1, b2) in enumerate(changed_lines(old, new))
    ]


def keep(old: Sequence[str], new: Sequence[str], chosen: Sequence[Hunk]) -> list[str]:
    """`old` with only the chosen hunks changed to what they are in `new`."""
    lines: list[str] = []
    at = 0
    for hunk in sorted(chosen, key=lambda one: one.old_start):
        lines.extend(old[at : hunk.old_start])
        lines.extend(new[hunk.new_start : hunk.new_start + hunk.new_lines])
        at = hunk.old_start + hunk.old_lines
    lines.extend(old[at:])
    return lines


def unified(path: str, old: Sequence[str], new: Sequence[str], *, first: int = 0, created: bool = False) -> str:
    """A unified diff of lines with LF ends (the last one may lack it), `first` lines from the start of the file.

    The format is that of POSIX `diff -u`, with git's line for a missing end.
    """
    changed = hunks(old, new)
    name = visible_line(path)  # one with a line end could pose as part of the diff
    parts = [f"--- {'/dev/null' if created else 'a/' + name}\n+++ b/{name}\n"]
    group: list[Hunk] = []
    for hunk in [*changed, None]:
        if group and (hunk is None or hunk.old_start - group[-1].old_start - group[-1].old_lines > 2 * CONTEXT):
            parts.extend(_group(old, new, group, first))
            group = []
        if hunk is not None:
            group.append(hunk)
    return "".join(parts)


def _group(old: Sequence[str], new: Sequence[str], group: list[Hunk], first: int) -> list[str]:
    start = max(0, group[0].old_start - CONTEXT)
    end = min(len(old), group[-1].old_start + group[-1].old_lines + CONTEXT)
    new_start = group[0].new_start - (group[0].old_start - start)
    new_end = group[-1].new_start + group[-1].new_lines + (end - group[-1].old_start - group[-1].old_lines)
    lines = [f"@@ -{_range(first + start, end - start)} +{_range(first + new_start, new_end - new_start)} @@\n"]
    at = start
    for hunk in group:
        lines.extend(_marked(" ", old[at : hunk.old_start]))
        at = hunk.old_start + hunk.old_lines
        lines.extend(_marked("-", old[hunk.old_start : at]))
        lines.extend(_marked("+", new[hunk.new_start : hunk.new_start + hunk.new_lines]))
    lines.extend(_marked(" ", old[at:end]))
    return lines


def _range(start: int, count: int) -> str:
    # An empty range names the line before it.
    return f"{start + 1},{count}" if count else f"{start},0"


def _marked(sign: str, lines: Sequence[str]) -> list[str]:
    return [
        f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n" for line in lines
    ]
