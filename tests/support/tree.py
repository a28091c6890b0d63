"""A whole folder tree as it is at one moment, to tell exactly what a run changed of it."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
}


@dataclass(frozen=True)
class Entry:
    """Everything about one name that a careless save can break. `data` is a file's bytes or a link's target."""

    kind: str
    data: bytes | None
    mode: int
    owner: tuple[int, int]
    inode: int
    links: int
    mtime_ns: int
    xattrs: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class Change:
    """One aspect of one path that is not as it was. `path` is relative, with `/`; the root itself is `.`."""

    path: str
    aspect: str
    """A field of `Entry`, or `exists`."""
    before: object
    after: object

    def __str__(self) -> str:
        if isinstance(self.before, bytes) and isinstance(self.after, bytes):
            return f"{self.path!a}: {self.aspect} {_first_difference(self.before, self.after)}"
        return f"{self.path!a}: {self.aspect} was {self.before!a}, is {self.after!a}"


class TreeSnapshot(dict[str, Entry]):
    """Entries by relative path. Links are not followed, and only regular files are opened."""

    @classmethod
    def take(cls, root: Path) -> Self:
        """Look at everything under `root`, the root itself included (as `.`)."""
        return cls(_walk(os.fspath(root), "."))

    def changes(self, after: Mapping[str, Entry]) -> list[Change]:
        """Every difference, ordered by path."""
        found: list[Change] = []
        for path in sorted(self.keys() | after.keys()):
            old, new = self.get(path), after.get(path)
            if old is None or new is None:
                found.append(Change(path, "exists", old is not None, new is not None))
                continue
            found += [
                Change(path, field.name, getattr(old, field.name), getattr(new, field.name))
                for field in fields(Entry)
                if getattr(old, field.name) != getattr(new, field.name)
            ]
        return found

    def unexplained(self, after: Mapping[str, Entry], written: Mapping[str, bytes]) -> list[Change]:
        """The differences that saving exactly `written` (bytes by path) does not explain.

        A saved file may have another time and inode, a created one everything new, and the folders that hold them
        another time, and another count of links where a folder was made. A file that is not saved as `written` says is
        a difference too.
        """
        folders = {parent for path in written for parent in _parents(path)}
        found: list[Change] = []
        for path, data in written.items():
            entry = after.get(path)
            if entry is None or entry.data != data:
                found.append(Change(path, "data", data, entry and entry.data))
        for change in self.changes(after):
            if change.path in written:
                created = change.aspect == "exists" and change.after
                explained = created or change.aspect in ("data", "mtime_ns", "inode")
            else:
                created = change.aspect == "exists" and change.after
                explained = change.path in folders and (created or change.aspect in ("mtime_ns", "links"))
            if not explained:
                found.append(change)
        return found


def _walk(root: str, relative: str) -> Iterator[tuple[str, Entry]]:
    path = os.path.join(root, relative) if relative != "." else root
    status = os.lstat(path)
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "device")
    data = None
    if kind == "file":
        data = Path(path).read_bytes()
    elif kind == "link":
        data = os.fsencode(os.readlink(path))
    yield (
        relative,
        Entry(
            kind,
            data,
            stat.S_IMODE(status.st_mode),
            (status.st_uid, status.st_gid),
            status.st_ino,
            status.st_nlink,
            status.st_mtime_ns,
            _xattrs(path),
        ),
    )
    if kind == "folder":
        for name in sorted(os.listdir(path)):
            yield from _walk(root, name if relative == "." else f"{relative}/{name}")


def _xattrs(path: str) -> tuple[tuple[str, bytes], ...]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
        return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in sorted(names))
    except (AttributeError, OSError):  # another system, or a file system without them
        return ()


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    yield "."


def _first_difference(before: bytes, after: bytes) -> str:
    pairs = enumerate(zip(before, after, strict=False))
    at = next((index for index, (old, new) in pairs if old != new), min(len(before), len(after)))
    return f"of {len(before)} bytes differ from byte {at} on: {before[at : at + 40]!r} became {after[at : at + 40]!r}"
