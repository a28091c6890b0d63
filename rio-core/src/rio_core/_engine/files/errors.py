"""What the system refuses, as an error with the next action."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rio_core.protocol.errors import Kind, RioError

_SAVE_ELSEWHERE: Final = "Save it under another name or in another folder."

_REASONS: Final[dict[int, tuple[Kind, str, str]]] = {
    errno.ENOENT: ("not_found", "it is not there", "Check the name, or create it."),
    errno.ENOTDIR: ("not_found", "its folder is not a folder", "Check the name."),
    errno.ELOOP: ("unsupported", "it is a symbolic link now", "Open the file that the link leads to."),
    errno.EISDIR: ("unsupported", "it is a folder", "Choose a file."),
    errno.ENXIO: ("unsupported", "it is not a regular file", "Choose a regular file."),
    errno.ENOSPC: ("io", "the disk is full", f"Free some space and try again. {_SAVE_ELSEWHERE}"),
    errno.EDQUOT: ("io", "your disk quota is used up", f"Delete something and try again. {_SAVE_ELSEWHERE}"),
    errno.EFBIG: ("io", "it would be larger than is allowed", f"Raise the limit (ulimit -f). {_SAVE_ELSEWHERE}"),
    errno.EROFS: ("io", "the disk is read-only", _SAVE_ELSEWHERE),
    errno.EACCES: ("io", "you have no right to do that", f"Change its rights. {_SAVE_ELSEWHERE}"),
    errno.EPERM: ("io", "the system does not permit it", f"Change its owner or attributes. {_SAVE_ELSEWHERE}"),
    errno.EIO: ("io", "the device failed", f"Check the disk. {_SAVE_ELSEWHERE}"),
    errno.ETXTBSY: ("io", "it is a program that runs now", "End the program and try again."),
    errno.ENAMETOOLONG: ("io", "its name is too long", "Choose a shorter name."),
    errno.EMFILE: ("io", "too many files are open", "Close some and try again."),
    errno.ENFILE: ("io", "too many files are open on this machine", "End some programs and try again."),
}


@contextmanager
def told(shown: str, doing: str) -> Iterator[None]:
    """Turn an `OSError` into a `RioError` that names the file and says what to do.

    `doing` completes "cannot ... FILE".
    """
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "no code")
        kind, reason, action = _REASONS.get(
            error.errno or 0, ("io", "the system refused it", f"Try again. {_SAVE_ELSEWHERE}")
        )
        raise RioError(kind, f"Cannot {doing} {shown}: {reason} ({name}).", action) from error
