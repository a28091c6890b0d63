"""Opening a folder below a handle so that the opening itself is what confines.

Two ways give the same answers: the kernel's own (openat2 with RESOLVE_BENEATH), and a walk that opens one name after
the other without following links and expands each link by hand. The walk serves older kernels, filtered containers and
other systems, and the one case that the kernel refuses as a whole: an absolute link that leads back into the root.
Neither compares path texts, so no rename or link swap between a check and a use can lead out.
"""

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rio_core._engine.workspace.failures import LeadsOutError
from rio_core._engine.workspace.linux import (
    RESOLVE_BENEATH,
    RESOLVE_NO_MAGICLINKS,
    RESOLVE_NO_SYMLINKS,
    flags,
    openat2,
)

__all__ = ["MAX_LINKS", "Locate", "link_names", "open_by_kernel", "open_by_walk"]

MAX_LINKS: Final = 40
"""Links followed for one path: the limit of the Linux kernel (path_resolution(7))."""

Locate = Callable[[str], "tuple[str, ...] | None"]
"""Gives the names below the root to which an absolute path leads, or None."""

_FOLDER: Final = flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
_STEP: Final = flags("O_PATH", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")


def link_names(target: str) -> list[str]:
    """The names in a link's target."""
    return [name for name in target.split("/") if name not in ("", ".")]


def open_by_kernel(root: int, names: Sequence[str], *, follow: bool) -> int:
    """Open a folder below `root` with openat2.

    Raises:
        LeadsOutError: the path or a link in it leads above the root or is absolute.
        OSError: EAGAIN when a rename above raced with it.
    """
    resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (0 if follow else RESOLVE_NO_SYMLINKS)
    try:
        return openat2(root, "/".join(names) or ".", _FOLDER, resolve)
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise LeadsOutError from error
        raise


def open_by_walk(root: int, names: Sequence[str], locate: Locate, *, follow: bool) -> int:
    """Open a folder below `root` name by name.

    Only names that are no links are ever opened, each in the handle of the one before; `..` goes back to the root and
    down again by the names gone so far, never through a folder's own `..`.

    Raises:
        LeadsOutError: the path or a link in it leads above the root.
    """
    here = os.dup(root)
    gone: list[str] = []
    todo = list(reversed(names))
    links = 0
    try:
        while todo:
            name = todo.pop()
            if name == "..":
                if not gone:
                    raise LeadsOutError
                gone.pop()
                here = _swap(here, _descend(root, gone))
                continue
            try:
                here = _swap(here, os.open(name, _STEP, dir_fd=here))
            except OSError as error:
                target = _link_target(name, here, error)
                links += 1
                if not follow or links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
                if target.startswith("/"):
                    inside = locate(target)
                    if inside is None:
                        raise LeadsOutError from None
                    todo.extend(reversed(inside))
                    gone.clear()
                    here = _swap(here, os.dup(root))
                else:
                    todo.extend(reversed(link_names(target)))
            else:
                gone.append(name)
        return os.open(".", _FOLDER, dir_fd=here)
    finally:
        os.close(here)


def _link_target(name: str, folder: int, failure: OSError) -> str:
    # A link opened with O_DIRECTORY | O_NOFOLLOW fails with ENOTDIR on Linux, with ELOOP elsewhere.
    if failure.errno not in (errno.ENOTDIR, errno.ELOOP):
        raise failure
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        raise failure from error


def _descend(root: int, names: Iterable[str]) -> int:
    here = os.dup(root)
    try:
        for name in names:
            here = _swap(here, os.open(name, _STEP, dir_fd=here))
    except BaseException:
        os.close(here)
        raise
    return here


def _swap(old: int, new: int) -> int:
    os.close(old)
    return new
