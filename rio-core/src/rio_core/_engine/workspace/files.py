"""Opening what a place holds, and the place of a file outside the project."""

import errno
import os
import stat
from typing import Final

from rio_core._engine.place import Place
from rio_core._engine.workspace.failures import changed_meanwhile, is_a_folder, not_regular, told
from rio_core._engine.workspace.linux import flags
from rio_core._engine.workspace.paths import parse, shown
from rio_core.protocol.errors import RioError

__all__ = ["link_target", "open_regular", "outside_place", "status"]

_FOLDER: Final = flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
_FILE: Final = flags("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW", "O_CLOEXEC")
_RETRIES: Final = 20


def status(place: Place) -> os.stat_result:
    """The status of what is at a place, a link's own if it is one.

    Raises:
        OSError: FileNotFoundError when nothing is there.
    """
    return os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)


def link_target(place: Place) -> str | None:
    """Where the link at a place points, as text; None when it is no link or nothing is there."""
    try:
        return os.readlink(place.name, dir_fd=place.folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def open_regular(place: Place) -> int:
    """A descriptor for reading the regular file at a place, owned by the caller.

    The type is looked at before opening, so that no pipe is waited for and no device is touched (F2, P09), and again
    after it, because it may have been swapped.

    Raises:
        RioError: `unsupported` for everything that is not a regular file, `conflict` when it turned into a link.
    """
    with told(place.shown):
        _require_regular(status(place), place.shown)
        try:
            handle = os.open(place.name, _FILE, dir_fd=place.folder)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise changed_meanwhile(place.shown) from error
            raise
        try:
            _require_regular(os.fstat(handle), place.shown)
        except BaseException:
            os.close(handle)
            raise
        return handle


def _require_regular(found: os.stat_result, label: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise is_a_folder(label)
    if stat.S_ISLNK(found.st_mode):
        raise changed_meanwhile(label)
    if not stat.S_ISREG(found.st_mode):
        raise not_regular(label)


def outside_place(path: str) -> Place:
    """The place of a file outside the project that the user opened by its absolute path. Never for tools."""
    parse(path)
    label = shown(path)
    if not path.startswith("/"):
        raise RioError("bad_message", f"{label} is not an absolute path.", "Name the file by its full path.")
    with told(label):
        for _ in range(_RETRIES):
            folder, name = os.path.split(os.path.realpath(path))
            if not name:
                raise is_a_folder(label)
            place = Place(os.open(folder, _FOLDER), name, label)
            try:
                if link_target(place) is None:
                    return place
            except BaseException:
                place.close()
                raise
            place.close()
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
