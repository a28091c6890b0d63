"""From a new text to the few edits that make it of the old one, line by line."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rio_core._engine.documents import lines
from rio_core._engine.documents.edits import Edit
from rio_core._engine.documents.text import CHUNK, Text

MAX_PAIRS: Final = 1_000_000
"""Pairs of equal lines up to which two texts are compared line by line; beyond, what differs is one hunk."""

MAX_CHARACTERS: Final = 4 * 1024 * 1024
"""What of a reloaded text is compared line by line; beyond, what differs is one edit."""

Hunk = tuple[int, int, int, int]
"""The lines `a1` to `a2` of the one text are the lines `b1` to `b2` of the other."""


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Where two lists of lines differ, in order. Between two hunks is at least one equal line."""
    from difflib import SequenceMatcher

    limit = min(len(old), len(new))
    same = 0
    while same < limit and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < limit - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old, new = old[same : len(old) - tail], new[same : len(new) - tail]
    if not old and not new:
        return []
    often = Counter(new)
    if sum(often[line] for line in old) > MAX_PAIRS:
        return [(same, same + len(old), same, same + len(new))]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(same + a1, same + a2, same + b1, same + b2) for code, a1, a2, b1, b2 in codes if code != "equal"]


def apply_lines(text: Text, start: int, old: str, new: str, *, default: lines.Ending = "lf") -> list[Edit]:
    """The edits that put `new` in the place of `old`, which is at the offset `start`; both have LF.

    Lines that are equal keep their bytes. A new line takes the end of the line that it replaces, else of
    the line before, else of the document's first line, else the `default`. The edits are in the order in
    which they are to be applied, from the last hunk to the first, so that each is right in the text as it
    is now.

    Raises:
        ValueError: `old` is not there.

    """
    there = text.slice(start, start + len(old) + old.count("\n"))
    there = there[: lines.original(len(old), lines.crlf_places(there))]
    if lines.to_lf(there) != old:
        raise ValueError(start)
    offsets = [start]
    for content, end in lines.split(there):
        offsets.append(offsets[-1] + len(content) + len(end))
    fresh = _whole_lines(new)
    first, column = text.position(start)
    edits = []
    for a1, a2, b1, b2 in changed_lines(_whole_lines(old), fresh):
        at, to = offsets[a1], offsets[a2]
        divided = a1 == 0 and column > 0  # what is inserted goes into this line
        ends = _ends(text, first + a1, max(a2 - a1, int(divided)), b2 - b1, lines.ENDS[default])
        content = _joined(fresh[b1:b2], ends, text.slice(at - 1, at), text.slice(to, to + 1))
        edits.append(Edit(text.position(at), text.position(to), content))
    return edits[::-1]


def differences(old: Text, new: Text) -> list[Edit]:
    """The edits that make one text of the other, to be applied in order: the last place comes first."""
    start = _same_start(old, new)
    limit = min(len(old), len(new))
    if start == len(old) == len(new):
        return []
    tail = _same_end(old, new, limit - start)
    # What is compared are whole lines of both texts: no border is inside a line or between a CR and its LF.
    if old.slice(start - 1, start) == "\r":
        start -= 1
    while tail and old.slice(len(old) - tail, len(old) - tail + 1) == "\n":
        tail -= 1
    start = old.line_spans(old.position(start).line, 1)[0][0]
    stop = len(old) - tail
    line, column = old.position(stop)
    if column or new.position(len(new) - tail).column:
        stop = old.line_spans(line, 1)[0][2]
    new_stop = len(new) - (len(old) - stop)
    gone, come = old.slice(start, stop), new.slice(start, new_stop)
    if max(len(gone), len(come)) > MAX_CHARACTERS:
        return [Edit(old.position(start), old.position(stop), come)]
    was = ["".join(line) for line in lines.split(gone)]
    fresh = ["".join(line) for line in lines.split(come)]
    offsets = [start]
    for whole in was:
        offsets.append(offsets[-1] + len(whole))
    hunks = changed_lines(was, fresh)
    return [
        Edit(old.position(offsets[a1]), old.position(offsets[a2]), "".join(fresh[b1:b2]))
        for a1, a2, b1, b2 in reversed(hunks)
    ]


def _whole_lines(text: str) -> list[str]:
    """The lines of a text with LF, all but the last with their end."""
    return ["".join(line) for line in lines.split(text)]


def _ends(text: Text, line: int, replaced: int, wanted: int, default: str) -> list[str]:
    """The ends of new lines that come in the place of so many lines of the document from `line` on."""
    ends = [text.slice(end, behind) for _, end, behind in text.line_spans(line, replaced)]
    _, end, behind = text.line_spans(max(0, line - 1), 1)[0]
    before = text.slice(end, behind) or default
    chosen = []
    for index in range(wanted):
        if index < len(ends) and ends[index]:
            before = ends[index]
        chosen.append(before)
    return chosen


def _joined(new: Sequence[str], ends: Sequence[str], before: str, behind: str) -> str:
    """New lines with their ends, in such a way that no CR and LF of two lines become one end."""
    parts: list[str] = []
    last = before
    for line, wanted in zip(new, ends, strict=True):
        end = wanted
        if not line.endswith("\n"):
            end = ""
        elif line == "\n" and last == "\r" and end == "\n":
            end = "\r\n"
        parts.append(line.removesuffix("\n") + end)
        last = parts[-1][-1:] or last
    if last == "\r" and behind == "\n":
        parts.append("\n")
    return "".join(parts)


def _same_start(one: Text, other: Text) -> int:
    """How many characters two texts have in common from their start."""
    limit = min(len(one), len(other))
    at = 0
    while at < limit:
        a, b = one.slice(at, min(at + CHUNK, limit)), other.slice(at, min(at + CHUNK, limit))
        if a != b:
            return at + _same_prefix(a, b)
        at += len(a)
    return at


def _same_end(one: Text, other: Text, limit: int) -> int:
    """How many characters two texts have in common at their end, up to a limit."""
    at = 0
    while at < limit:
        step = min(CHUNK, limit - at)
        a = one.slice(len(one) - at - step, len(one) - at)
        b = other.slice(len(other) - at - step, len(other) - at)
        if a != b:
            return at + _same_prefix(a[::-1], b[::-1])
        at += step
    return at


def _same_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
