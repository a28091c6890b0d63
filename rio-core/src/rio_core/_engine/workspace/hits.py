"""What a search finds, and the text that is searched."""

import codecs
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rio_core._engine.documents.encoding import MARKS
from rio_core._engine.documents.lines import to_lf
from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.files import open_regular
from rio_core._engine.workspace.paths import render
from rio_core._engine.workspace.reading import is_binary, read_up_to
from rio_core.protocol.errors import RioError

__all__ = ["Cut", "FileHits", "Found", "Hit", "Limits", "Match", "hits_of", "lines_of", "searchable_lines"]

Cut = Literal["files", "hits", "bytes", "time"]
Match = tuple[int, int, int]
"""Line and column, from 0, and length: the first match in a line. Columns and lengths in code points."""

_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a search stops. `hits_per_file` and `width` (characters) shorten; the others end it."""

    files: int = 200
    hits: int = 1000
    hits_per_file: int = 100
    bytes: int = 128 * 1024
    seconds: float = 10.0
    width: int = 300
    file_bytes: int = 8 * 1024 * 1024
    """Of one file; what goes beyond is not searched."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches. `line` and `column` count from 1, the column in code points.

    `text` is the line, or what is around its first match in a long one; the match is `length` characters from `at` on.
    """

    line: int
    column: int
    text: str
    at: int
    length: int


@dataclass(frozen=True, slots=True)
class FileHits:
    """The matching lines of one file. `more` counts those left out; `unsaved` is said of the text of an open buffer."""

    path: str
    hits: Sequence[Hit]
    more: int = 0
    unsaved: bool = False


@dataclass(slots=True)
class Found:
    """The answer, in the order of paths. `cut` names the limit that ended the search early; None is a whole answer."""

    files: list[FileHits] = field(default_factory=list)
    cut: Cut | None = None

    def add(self, file: FileHits, limits: Limits) -> bool:
        """Take the hits of a file as far as the limits allow; False when nothing more is wanted."""
        if len(self.files) >= limits.files:
            self.cut = "files"
            return False
        room = limits.hits - sum(len(known.hits) for known in self.files)
        left = limits.bytes - sum(_size(hit) for known in self.files for hit in known.hits)
        kept: list[Hit] = []
        for hit in file.hits:
            left -= _size(hit)
            if len(kept) >= room or left < 0:
                self.cut = "hits" if len(kept) >= room else "bytes"
                break
            kept.append(hit)
        if kept:
            more = file.more + len(file.hits) - len(kept)
            self.files.append(FileHits(file.path, kept, more, file.unsaved))
        return self.cut is None


def _size(hit: Hit) -> int:
    return len(hit.text.encode("utf-8", "replace"))


def searchable_lines(root: Root, names: tuple[str, ...], limits: Limits) -> list[str] | None:
    """The lines of a real file below the root, None for what is not searched.

    That is a binary, a special file, a link, and one that is gone.
    """
    try:
        with root.place(render(names), follow=False) as place:
            if root.real_names(place) != names:
                return None
            handle = open_regular(place)
        try:
            data = read_up_to(handle, limits.file_bytes + 1)
        finally:
            os.close(handle)
    except (RioError, OSError):
        return None
    if is_binary(data):
        return None
    return lines_of(_decode(data[: limits.file_bytes], whole=len(data) <= limits.file_bytes))


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends, by the one rule of what ends a line (A07)."""
    return to_lf(text).split("\n")


def _decode(data: bytes, *, whole: bool) -> str:
    marked = [(name, mark) for name, mark in MARKS.items() if data.startswith(mark)]
    for name, mark in [*marked, ("utf-8", b"")]:
        try:
            return codecs.getincrementaldecoder(name)().decode(data[len(mark) :], whole)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def hits_of(
    path: str, lines: Sequence[str], matches: Iterable[Match], limits: Limits, *, unsaved: bool = False
) -> FileHits:
    """The hits for the matches in a file's lines; each line counts once."""
    hits: list[Hit] = []
    more = 0
    for line, column, length in matches:
        if len(hits) < limits.hits_per_file:
            hits.append(_hit(lines[line], line, column, length, limits.width))
        else:
            more += 1
    return FileHits(path, hits, more, unsaved)


def _hit(text: str, line: int, column: int, length: int, width: int) -> Hit:
    start = 0 if len(text) <= width else max(0, min(column - width // 3, len(text) - width))
    end = min(len(text), start + width)
    before, behind = _ELLIPSIS if start else "", _ELLIPSIS if end < len(text) else ""
    shown = f"{before}{text[start:end]}{behind}"
    return Hit(line + 1, column + 1, shown, column - start + len(before), min(length, end - column))
