"""Overwriting a file in place, with its old bytes kept safe until the new ones are whole."""

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from rio_core._engine.files.reading import BLOCK, STRICT, Stamp, digest_of
from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError

_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def overwrite(place: Place, old: os.stat_result, pieces: Sequence[bytes], recovery: str) -> Stamp:
    """Write `pieces` over the file at a place, whose status is `old`, and cut it to length last.

    Raises:
        OSError: the system refused; the file is as it was.
        RioError: `changed_on_disk`, when it is another file now; `io`, when it does not read back as written, or
            when the old bytes could not be put back: then the message names the copy.

    """
    file = os.open(place.name, os.O_RDWR | STRICT, dir_fd=place.folder)
    try:
        if not os.path.samestat(os.fstat(file), old):
            raise RioError("changed_on_disk", f"{place.shown} was replaced while it was saved.", "Save it again.")
        copy = _copy_to(recovery, file)
        try:
            _reserve(file, old.st_size, sum(map(len, pieces)))
            digest = write_all(file, pieces)
            os.fsync(file)
            os.ftruncate(file, sum(map(len, pieces)))
            _keep_mode(file, old.st_mode)
            os.fsync(file)
            check_written(file, digest, place.shown)
        except (OSError, RioError) as error:
            try:
                _put_back(file, copy, old.st_size)
            except OSError:
                raise RioError(
                    "io",
                    f"{place.shown} was not saved and is damaged; its old bytes are in {ascii(copy)[1:-1]}.",
                    "Save the text under another name, and take the old bytes from the copy.",
                ) from error
            os.unlink(copy)
            raise
        os.unlink(copy)
        return Stamp.of(os.fstat(file), digest)
    finally:
        os.close(file)


def write_all(file: int, pieces: Iterable[bytes]) -> bytes:
    """Write every byte at the file's offset, and return the digest of what was written."""
    from hashlib import blake2b

    digest = blake2b()
    for piece in pieces:
        digest.update(piece)
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(file, rest) :]
    return digest.digest()


def check_written(file: int, digest: bytes, shown: str) -> None:
    """Read a file back, and refuse it when it is not what was written."""
    if digest_of(file) != digest:
        raise RioError(
            "io", f"{shown} does not read back as it was written.", "Check the disk. Save it in another folder."
        )


def _copy_to(folder: str, file: int) -> str:
    """A synced copy of an open file in a folder of the user's own."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"before-save-{os.urandom(6).hex()}")
    copy = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | STRICT, 0o600)
    try:
        write_all(copy, _blocks(file))
        os.fsync(copy)
        _sync_folder(folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(copy)
    return path


def _blocks(file: int) -> Iterable[bytes]:
    at = 0
    while block := os.pread(file, BLOCK, at):
        at += len(block)
        yield block


def _sync_folder(path: str) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _reserve(file: int, size: int, wanted: int) -> None:
    """Take the space for a longer file before the first old byte is overwritten."""
    if wanted <= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file, size, wanted - size)
    except OSError as error:
        if error.errno in _NO_SPACE:
            os.ftruncate(file, size)
            raise


def _keep_mode(file: int, mode: int) -> None:
    """Set again the mode bits that writing takes away, such as set-user-ID, if this user may."""
    if os.fstat(file).st_mode != mode:
        with suppress(PermissionError):
            os.fchmod(file, stat.S_IMODE(mode))


def _put_back(file: int, copy: str, size: int) -> None:
    source = os.open(copy, os.O_RDONLY | STRICT)
    try:
        os.ftruncate(file, size)
        if digest_of(file) != digest_of(source):
            os.lseek(file, 0, os.SEEK_SET)
            write_all(file, _blocks(source))
        os.fsync(file)
    finally:
        os.close(source)
