"""Which projects the user trusts. Kept in the state folder: a project cannot say it of itself."""

import ctypes
import json
import logging
import os
import struct
import sys
from pathlib import Path
from typing import Final

from rio_core._engine.folders import store
from rio_core.protocol.errors import RioError

__all__ = ["Trust"]

logger = logging.getLogger(__name__)

FILE: Final = "trust.json"


class Trust:
    """Trusted roots by real path and identity: another tree at the same path is not trusted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def is_trusted(self, root: Path) -> bool:
        """Whether the folder that is there now is the one that was trusted."""
        real = os.path.realpath(root)
        known = self._read().get(real)
        return known is not None and known == _identity(real)

    def set(self, root: Path, *, trusted: bool) -> None:
        """Trust this folder, or no longer. Raises RioError: `not_found`, `io`."""
        real = os.path.realpath(root)
        roots = self._read()
        roots.pop(real, None)
        if trusted:
            identity = _identity(real)
            if identity is None:
                raise RioError("not_found", f"There is no folder {real!a}.", "Open a project that is there.")
            roots[real] = identity
        store(self._folder / FILE, json.dumps({"roots": roots}, indent=1).encode() + b"\n")

    def _read(self) -> dict[str, str]:
        try:
            data = (self._folder / FILE).read_bytes()
        except OSError:
            return {}
        try:
            roots = json.loads(data)["roots"]
            return {str(root): str(identity) for root, identity in roots.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            logger.warning("%s is damaged: no project is trusted until its user says so again", self._folder / FILE)
            return {}


def _identity(real: str) -> str | None:
    try:
        status = os.stat(real)
    except OSError:
        return None
    return f"{status.st_dev}:{status.st_ino}:{_birth(real)}"


# statx(2), Linux 4.11 and glibc 2.28; the layout is that of <linux/stat.h>.
_AT_FDCWD: Final = -100
_STATX_BTIME: Final = 0x800
_SIZE: Final = 256
_BTIME_AT: Final = 80


def _birth(real: str) -> str:
    """When the folder was made, as its file system says; empty where it does not.

    A number of an inode is given again, often at once, to what is made after a removal.
    """
    if sys.platform != "linux":
        return ""
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    buffer = ctypes.create_string_buffer(_SIZE)
    if statx is None or statx(_AT_FDCWD, os.fsencode(real), 0, _STATX_BTIME, buffer) != 0:
        return ""
    (mask,) = struct.unpack_from("=I", buffer, 0)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    return f"{seconds}.{nanoseconds:09}" if mask & _STATX_BTIME else ""
