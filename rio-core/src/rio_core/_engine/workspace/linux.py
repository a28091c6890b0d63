"""The two Linux calls that Python has no function for, openat2 and renameat2, and flags that not every system has.

Sources: openat2(2), renameat2(2); include/uapi/linux/openat2.h. From number 424 on, system calls have the same number
on every architecture that Linux was given since.
"""

import errno
import operator
import os
import sys
from collections.abc import Callable
from functools import cache, reduce
from typing import Any, Final

__all__ = [
    "RESOLVE_BENEATH",
    "RESOLVE_NO_MAGICLINKS",
    "RESOLVE_NO_SYMLINKS",
    "flags",
    "has_openat2",
    "openat2",
    "rename_new",
]

RESOLVE_NO_MAGICLINKS: Final = 0x02
RESOLVE_NO_SYMLINKS: Final = 0x04
RESOLVE_BENEATH: Final = 0x08

_SYS_OPENAT2: Final = 437
_RENAME_NOREPLACE: Final = 1


def flags(*names: str) -> int:
    """The open(2) flags of these names; those that this system lacks count as 0."""
    return reduce(operator.or_, (getattr(os, name, 0) for name in names), 0)


@cache
def _openat2() -> Callable[[int, bytes, int, int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    syscall: Any = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    size = ctypes.c_size_t(ctypes.sizeof(OpenHow))

    def call(folder: int, path: bytes, opening: int, resolve: int) -> int:
        how = OpenHow(opening, 0, resolve)
        while True:
            number, handle = ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder)
            result: int = syscall(number, handle, ctypes.c_char_p(path), ctypes.byref(how), size)
            if result >= 0:
                return result
            code = ctypes.get_errno()
            if code != errno.EINTR:
                raise OSError(code, os.strerror(code), os.fsdecode(path))

    return call


def openat2(folder: int, path: str, how: int, resolve: int) -> int:
    """Open `path` below the folder handle under the RESOLVE_ rules given; the caller owns the descriptor.

    Raises:
        OSError: as openat2(2) says: EXDEV when the path leaves the folder, EAGAIN when a rename raced with it.
    """
    call = _openat2()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return call(folder, os.fsencode(path), how, resolve)


@cache
def has_openat2() -> bool:
    """Whether the kernel has openat2 and lets this process use it (a container's filter may refuse it)."""
    try:
        os.close(openat2(-100, "/", os.O_RDONLY | os.O_CLOEXEC, 0))  # -100 is AT_FDCWD
    except OSError:
        return False
    return True


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    function: Any = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(old_folder: int, old: bytes, new_folder: int, new: bytes) -> int:
        if function(old_folder, old, new_folder, new, _RENAME_NOREPLACE) == 0:
            return 0
        return ctypes.get_errno()

    return call


def rename_new(old_folder: int, old: str, new_folder: int, new: str) -> bool:
    """Rename below folder handles without replacing anything. False when system or file system cannot promise that.

    Raises:
        OSError: as renameat2(2) says: EEXIST when the new name is taken.
    """
    call = _renameat2()
    code = errno.ENOSYS if call is None else call(old_folder, os.fsencode(old), new_folder, os.fsencode(new))
    if code == 0:
        return True
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code), new)
