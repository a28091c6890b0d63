"""Reading regular files, and the stamp by which a later change on disk is seen."""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from rio_core._engine.files.errors import told
from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError

BLOCK: Final = 65_536

STRICT: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""For every `open`: follow no link, wait for no pipe. Not all systems have these; the checks around them stay."""

_SETTLED_NS: Final = 1_000_000_000  # file systems count time in steps of up to a second


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file was when it was read or written.

    `settled` is false when it had changed just before: then another change may have left the same times.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    digest: bytes
    settled: bool

    @classmethod
    def of(cls, status: os.stat_result, digest: bytes) -> Self:
        """The stamp of a file with this status and the content of this digest."""
        return cls(
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            ctime_ns=status.st_ctime_ns,
            inode=status.st_ino,
            device=status.st_dev,
            digest=digest,
            settled=time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NS,
        )

    def looks_like(self, status: os.stat_result) -> bool:
        """Whether a file surely has this content, by its status alone."""
        return self.settled and (self.size, self.mtime_ns, self.ctime_ns, self.inode, self.device) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
            status.st_dev,
        )


class Reading:
    """A regular file that is being read: iterating gives its bytes in blocks, once.

    Raises:
        RioError: `not_found`, `unsupported` for anything but a regular file, `io`.

    """

    def __init__(self, place: Place) -> None:
        from hashlib import blake2b

        self._shown = place.shown
        with told(place.shown, "open"):
            # Looked at before it is opened: opening a device can do something, opening a pipe can wait.
            check_regular(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False), place.shown)
            self._file = os.open(place.name, os.O_RDONLY | STRICT, dir_fd=place.folder)
        try:
            self._status = os.fstat(self._file)
            check_regular(self._status, place.shown)
            self.read_only = is_read_only(place, self._status)
        except BaseException:
            self.close()
            raise
        self._digest = blake2b()

    @property
    def size(self) -> int:
        """Bytes in the file when it was opened."""
        return self._status.st_size

    def __iter__(self) -> Iterator[bytes]:
        while True:
            with told(self._shown, "read"):
                block = os.read(self._file, BLOCK)
            if not block:
                return
            self._digest.update(block)
            yield block

    def stamp(self) -> Stamp:
        """The stamp of what has been read: to be asked for after the last block.

        It has the times from before the reading, so that a file that changed meanwhile counts as changed.
        """
        return Stamp.of(self._status, self._digest.digest())

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read(place: Place) -> tuple[bytes, Stamp]:
    """A small file whole, with its stamp.

    Raises:
        RioError: as for `Reading`.

    """
    with Reading(place) as reading:
        return b"".join(reading), reading.stamp()


def status_of(place: Place) -> os.stat_result | None:
    """The status of what is at a place itself, no link followed; None when nothing is."""
    with told(place.shown, "look at"):
        try:
            return os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None


def is_same(one: Place, other: Place) -> bool:
    """Whether two places are one file now: the same name in the same folder, or two names of it."""
    if one.name == other.name and os.path.sameopenfile(one.folder, other.folder):
        return True
    here, there = status_of(one), status_of(other)
    return here is not None and there is not None and os.path.samestat(here, there)


def is_read_only(place: Place, status: os.stat_result) -> bool:
    """Whether a file is not meant to be written: nobody has the right by its mode, or this user has not."""
    if not status.st_mode & 0o222:
        return True
    effective = os.access in os.supports_effective_ids
    return not os.access(place.name, os.W_OK, dir_fd=place.folder, effective_ids=effective)


def check_regular(status: os.stat_result, shown: str) -> None:
    """Refuse anything but a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a symbolic link"), (stat.S_ISFIFO, "a pipe"))
        kind = next((name for test, name in kinds if test(status.st_mode)), "a device or socket")
        raise RioError("unsupported", f"{shown} is {kind}, not a regular file.", "Choose a regular file.")


def digest_of(file: int) -> bytes:
    """The digest of an open file's whole content."""
    from hashlib import blake2b

    digest = blake2b()
    at = 0
    while block := os.pread(file, 1024 * 1024, at):
        digest.update(block)
        at += len(block)
    return digest.digest()
