"""Writing files so that at every moment the old bytes or the new ones are there, whole.

A new file is written beside its target, synced, given everything that the old one had, checked, and renamed
into place. Where that would lose something (a second hard link, an owner, attributes) or is not allowed
(the folder), the file is overwritten in place, after its old bytes have been copied to safety.
"""

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from rio_core._engine.files import inplace
from rio_core._engine.files.errors import told
from rio_core._engine.files.reading import (
    STRICT,
    Stamp,
    check_regular,
    digest_of,
    is_read_only,
    read,
    status_of,
)
from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError

_REFUSED: Final = {errno.EACCES, errno.EPERM}
_NO_RENAME: Final = {*_REFUSED, errno.EBUSY, errno.EXDEV}
_NO_SYNC: Final = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS}
_NO_LINK: Final = {*_REFUSED, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class _InPlaceError(Exception):
    """A rename is not allowed or would lose something of the file."""


def save(place: Place, pieces: Sequence[bytes], expected: Stamp | None, *, recovery: str, force: bool = False) -> Stamp:
    """Make `pieces` the content of a file, and return its new stamp.

    `expected` is what the file was when it was last read or written, None for a file that must not exist.
    `recovery` is a folder for the old bytes while a file is overwritten in place; it is made if needed, for
    the user alone. `force` overwrites what is there, read-only or changed.

    Raises:
        RioError: `changed_on_disk`, `exists`, `read_only`, `unsupported`, `not_found` for a folder that is
            gone, `io`. The file is as it was; if even that could not be kept, the message names the copy of the
            old bytes.

    """
    with told(place.shown, "save"):
        if not os.fstat(place.folder).st_nlink:
            raise RioError(
                "not_found",
                f"The folder of {place.shown} is gone.",
                "Save the text in another folder (Save As); it is kept.",
            )
        old = status_of(place)
        if old is not None:
            check_regular(old, place.shown)
        if not force:
            _check_unchanged(place, old, expected)
        if old is None:
            return _create(place, pieces)
        if not force and is_read_only(place, old):
            raise RioError(
                "read_only",
                f"{place.shown} is read-only.",
                "Save it under another name (Save As), or overwrite it (force).",
            )
        if old.st_nlink > 1:
            return inplace.overwrite(place, old, pieces, recovery)
        try:
            return _replace(place, pieces, None if force else expected)
        except _InPlaceError:
            return inplace.overwrite(place, old, pieces, recovery)


def stamp_if_written(place: Place, pieces: Iterable[bytes]) -> Stamp | None:
    """The stamp of a file that holds `pieces`, else None: to be asked after a save that failed.

    A failure behind the rename, of syncing the folder say, leaves the new bytes in place; they are no other
    program's.
    """
    from hashlib import blake2b

    digest = blake2b()
    for piece in pieces:
        digest.update(piece)
    with suppress(RioError):
        _, stamp = read(place)
        return stamp if stamp.digest == digest.digest() else None
    return None


def write_private(place: Place, data: bytes) -> None:
    """Make `data` the content of a file that its owner alone can read, from the first instant.

    Whatever has the name, a link too, is replaced and not followed.

    Raises:
        RioError: `io`, `unsupported` for a folder. What was there is as it was.

    """
    with told(place.shown, "write"):
        name, file = _temporary(place, 0o600)
        try:
            os.fchmod(file, 0o600)
            inplace.write_all(file, [data])
            os.fsync(file)
            os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        except BaseException:
            _remove(place, name)
            raise
        finally:
            os.close(file)
        _sync(place.folder)


def _check_unchanged(place: Place, old: os.stat_result | None, expected: Stamp | None) -> None:
    if old is None:
        if expected is not None:
            raise RioError(
                "changed_on_disk",
                f"{place.shown} was deleted.",
                "Save it again (force), or under another name (Save As).",
            )
        return
    if expected is None:
        raise RioError("exists", f"{place.shown} exists.", "Choose another name, or overwrite it (force).")
    if expected.looks_like(old):
        return
    if old.st_size == expected.size:
        file = os.open(place.name, os.O_RDONLY | STRICT, dir_fd=place.folder)
        try:
            if digest_of(file) == expected.digest:
                return
        finally:
            os.close(file)
    raise RioError(
        "changed_on_disk",
        f"{place.shown} was changed by another program.",
        "Compare the two, then reload it, overwrite it (force) or save under another name (Save As).",
    )


def _temporary(place: Place, mode: int) -> tuple[str, int]:
    """A new empty file beside the target. Its short name fits wherever the target's does."""
    while True:
        name = f".rio-{os.urandom(6).hex()}"
        with suppress(FileExistsError):
            return name, os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | STRICT, mode, dir_fd=place.folder)


def _remove(place: Place, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=place.folder)


def _sync(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_SYNC:  # some network file systems sync no folder
            raise


def _create(place: Place, pieces: Iterable[bytes]) -> Stamp:
    name, file = _temporary(place, 0o666)
    try:
        digest = inplace.write_all(file, pieces)
        os.fsync(file)
        inplace.check_written(file, digest, place.shown)
        try:
            # Unlike a rename, a link does not replace a file that appeared meanwhile.
            os.link(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder, follow_symlinks=False)
        except FileExistsError:
            raise RioError(
                "exists", f"{place.shown} exists now.", "Choose another name, or overwrite it (force)."
            ) from None
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        else:
            os.unlink(name, dir_fd=place.folder)
        _sync(place.folder)
        return _stamp(place, file, digest)
    except BaseException:
        _remove(place, name)
        raise
    finally:
        os.close(file)


def _replace(place: Place, pieces: Iterable[bytes], expected: Stamp | None) -> Stamp:
    try:
        name, file = _temporary(place, 0o600)
    except OSError as error:
        if error.errno in _REFUSED:
            raise _InPlaceError from error
        raise
    try:
        digest = inplace.write_all(file, pieces)
        _keep_attributes(place, file)
        os.fsync(file)
        inplace.check_written(file, digest, place.shown)
        if expected is not None:  # writing takes time, in which another program may have written too
            _check_unchanged(place, status_of(place), expected)
        try:
            os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        except OSError as error:
            if error.errno in _NO_RENAME:
                raise _InPlaceError from error
            raise
        _sync(place.folder)
        return _stamp(place, file, digest)
    except BaseException:
        _remove(place, name)
        raise
    finally:
        os.close(file)


def _keep_attributes(place: Place, file: int) -> None:
    """Give a new file the owner, group, extended attributes (access lists are such) and mode of the one at a place."""
    try:
        source = os.open(place.name, os.O_RDONLY | STRICT, dir_fd=place.folder)
    except PermissionError as error:
        raise _InPlaceError from error
    try:
        old = os.fstat(source)
        new = os.fstat(file)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(file, old.st_uid, old.st_gid)
        if hasattr(os, "listxattr"):
            _keep_xattrs(source, file)
        os.fchmod(file, stat.S_IMODE(old.st_mode))
        new = os.fstat(file)
        if (old.st_uid, old.st_gid, old.st_mode) != (new.st_uid, new.st_gid, new.st_mode):
            raise _InPlaceError
    except OSError as error:
        if error.errno in (*_REFUSED, errno.EOPNOTSUPP, errno.EINVAL):
            raise _InPlaceError from error
        raise
    finally:
        os.close(source)


def _keep_xattrs(source: int, file: int) -> None:
    try:
        wanted = {name: os.getxattr(source, name) for name in os.listxattr(source)}
        has = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:  # a file system without them
            return
        raise
    for name in has.keys() - wanted.keys():  # inherited from the folder
        os.removexattr(file, name)
    for name, value in wanted.items():
        if has.get(name) != value:
            os.setxattr(file, name, value)


def _stamp(place: Place, file: int, digest: bytes) -> Stamp:
    """The stamp of a file that was renamed into place, after a look at what is there by that name."""
    status = os.fstat(file)
    there = status_of(place)
    if there is None or not os.path.samestat(there, status):
        raise RioError(
            "changed_on_disk",
            f"{place.shown} was saved, and another program replaced it at once.",
            "Compare the two, then save again (force) or reload.",
        )
    return Stamp.of(status, digest)
