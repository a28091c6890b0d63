"""Where a handle is: by identity, never by trust in a text.

Two things need it: an absolute path that may lead into the project, and the real name of what was reached, which is
for display and for judging what is protected (P02) and never for opening.
"""

import os
from typing import Final

from rio_core._engine.workspace.linux import flags

__all__ = ["Identity", "RootLocation", "identity"]

Identity = tuple[int, int]
"""Device and inode."""

_READ: Final = flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
_STEP: Final = _READ | flags("O_PATH")


def identity(status: os.stat_result) -> Identity:
    """What tells one file from every other while something holds it open."""
    return status.st_dev, status.st_ino


class RootLocation:
    """The place of a root folder in the file system."""

    def __init__(self, root: int, path: str) -> None:
        """Of an open root, with the absolute path by which its user named it."""
        self._root = root
        self.identity = identity(os.fstat(root))
        self._above = _ancestors(root) | _prefixes(path)

    def names_below(self, path: str) -> tuple[str, ...] | None:
        """The names below the root to which an absolute path leads, or None when it leads elsewhere.

        The path's folders are compared with the root's handle. Nothing beside the way to the root is touched, so that a
        path into an automounted or remote folder mounts and asks nothing.
        """
        names = [name for name in path.split("/") if name not in ("", ".")]
        found = tuple(names) if identity(os.stat("/")) == self.identity else None
        prefix = ""
        for index, name in enumerate(names):
            if found is not None and name != "..":
                break
            prefix = f"{prefix}/{name}"
            try:
                here = identity(os.stat(prefix))
            except OSError:
                break
            if here == self.identity:
                found = tuple(names[index + 1 :])
            elif here in self._above:
                found = None
            else:
                break
        return found

    def names_of(self, folder: int) -> tuple[str, ...] | None:
        """The names that lead from the root to an open folder as it is now; None when it is not below the root."""
        if os.fstat(folder).st_nlink == 0:
            return None
        try:
            root_path, path = (os.readlink(f"/proc/self/fd/{handle}") for handle in (self._root, folder))
        except OSError:
            return self._climb(folder)
        if path == root_path:
            return ()
        start = root_path.rstrip("/") + "/"
        return tuple(path[len(start) :].split("/")) if path.startswith(start) else None

    def _climb(self, folder: int) -> tuple[str, ...] | None:
        # Without /proc: go up by handles and look for the entry that is the folder one came from.
        names: list[str] = []
        here = os.dup(folder)
        try:
            while (child := identity(os.fstat(here))) != self.identity:
                parent = os.open("..", _READ, dir_fd=here)
                os.close(here)
                here = parent
                if identity(os.fstat(here)) == child:
                    return None
                name = _entry(here, child)
                if name is None:
                    return None
                names.append(name)
            return tuple(reversed(names))
        finally:
            os.close(here)


def _entry(folder: int, wanted: Identity) -> str | None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and identity(entry.stat(follow_symlinks=False)) == wanted:
                return entry.name
    return None


def _ancestors(root: int) -> set[Identity]:
    found: set[Identity] = set()
    here = os.dup(root)
    try:
        while True:
            parent = os.open("..", _STEP, dir_fd=here)
            os.close(here)
            here = parent
            status = identity(os.fstat(here))
            if status in found:
                return found
            found.add(status)
    except OSError:
        return found  # a folder above that may not be entered ends the way
    finally:
        os.close(here)


def _prefixes(path: str) -> set[Identity]:
    found: set[Identity] = set()
    while (path := os.path.dirname(path)) not in ("/", ""):
        try:
            found.add(identity(os.stat(path)))
        except OSError:
            break
    return found
