"""What a folder holds, and the walk through a whole project. Links are named and never followed."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.failures import told
from rio_core._engine.workspace.ignore import Ignore
from rio_core._engine.workspace.paths import render, shown
from rio_core.protocol.errors import RioError

__all__ = ["Entry", "Kind", "Listing", "list_folder", "walk"]

Kind = Literal["file", "folder", "link", "other"]

MAX_SCANNED: Final = 100_000
"""Names of one folder that are looked at; a folder that holds more is listed in part."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder. `size` is in bytes, of files only."""

    name: str
    kind: Kind
    size: int | None
    ignored: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a folder. `total` counts its names; with `partial` there are more, which were not looked at."""

    names: tuple[str, ...]
    entries: list[Entry]
    offset: int
    total: int
    partial: bool

    @property
    def more(self) -> int:
        """How many entries follow this page."""
        return max(0, self.total - self.offset - len(self.entries))


def list_folder(root: Root, path: str = ".", *, offset: int = 0, limit: int = 1000) -> Listing:
    """The entries `offset` to `offset + limit` of a folder: folders first, then all else, each by name."""
    handle = root.open_folder(path)
    try:
        names = root.folder_names(handle)
        with told(shown(path)):
            found, partial = _scan(handle)
            found.sort(key=lambda item: (item[1] != "folder", item[0].casefold(), item[0]))
            ignore = Ignore(root)
            page = [
                Entry(name, kind, _size(handle, name, kind), ignore.ignored((*names, name), is_folder=kind == "folder"))
                for name, kind in found[offset : offset + limit]
            ]
    finally:
        os.close(handle)
    return Listing(names, page, offset, len(found), partial)


def walk(root: Root, start: tuple[str, ...] = (), ignore: Ignore | None = None) -> Iterator[tuple[str, ...]]:
    """The real names of every regular file below a real folder, each once, in the order of their names.

    Links, git's own folder, what `ignore` ignores and folders that may not be read are left out (A29, F1).
    """
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        try:
            handle = root.open_folder(render(folder), follow=False)
        except RioError:
            continue
        try:
            found, _ = _scan(handle)
        except OSError:
            continue
        finally:
            os.close(handle)
        inner = []
        for name, kind in sorted(found):
            names = (*folder, name)
            if kind in ("link", "other") or name == ".git":
                continue
            if ignore is not None and ignore.ignored(names, is_folder=kind == "folder"):
                continue
            if kind == "folder":
                inner.append(names)
            else:
                yield names
        waiting += reversed(inner)


def _scan(folder: int) -> tuple[list[tuple[str, Kind]], bool]:
    found: list[tuple[str, Kind]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) == MAX_SCANNED:
                return found, True
            found.append((entry.name, _kind(entry)))
    return found, False


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _size(folder: int, name: str, kind: Kind) -> int | None:
    if kind != "file":
        return None
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None  # deleted just now
    return found.st_size if stat.S_ISREG(found.st_mode) else None
