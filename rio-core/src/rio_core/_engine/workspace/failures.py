"""What the system refuses, said to the user. A `label` is a path as `paths.shown` gives it."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rio_core.protocol.errors import Kind, RioError

__all__ = ["LeadsOutError", "changed_meanwhile", "is_a_folder", "leads_out", "not_regular", "told"]

_NO_RIGHT: Final[tuple[Kind, str, str]] = (
    "io",
    "is not yours to use",
    "Ask for the right to it, or choose another file.",
)
_FAILURES: Final[dict[int, tuple[Kind, str, str]]] = {
    errno.ENOENT: ("not_found", "does not exist", "Check the path; fs.list shows what is there."),
    errno.ENOTDIR: ("not_found", "leads through a file as if it were a folder", "Check the path."),
    errno.EEXIST: ("exists", "exists already", "Choose another name, or change the one that is there."),
    errno.ENOTEMPTY: ("conflict", "is a folder that is not empty", "Delete what it holds first."),
    errno.EISDIR: ("unsupported", "is a folder", "Name a file."),
    errno.ELOOP: ("unsupported", "leads through links that cannot be followed", "Name the file itself."),
    errno.ENAMETOOLONG: ("bad_message", "is longer than the file system allows", "Use a shorter name."),
    errno.EINVAL: ("conflict", "cannot be there", "A folder cannot be moved into itself; choose another place."),
    errno.EACCES: _NO_RIGHT,
    errno.EPERM: _NO_RIGHT,
    errno.EROFS: ("io", "is on a file system that is read-only", "Choose another place."),
    errno.ENOSPC: ("io", "has no room: the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("io", "has no room: your quota is used up", "Free some space and try again."),
}


class LeadsOutError(Exception):
    """A path leads above the root. Told to the user as `outside`."""


@contextmanager
def told(label: str) -> Iterator[None]:
    """Turn what the system refuses about a path into the error for the user."""
    try:
        yield
    except LeadsOutError as error:
        raise leads_out(label) from error
    except OSError as error:
        raise _system_failure(error, label) from error


def _system_failure(error: OSError, label: str) -> RioError:
    failure = _FAILURES.get(error.errno or 0)
    if failure is None:
        return RioError("io", f"{label}: {error.strerror}.", "Try again; if it stays, check the disk.")
    kind, what, action = failure
    return RioError(kind, f"{label} {what}.", action)


def leads_out(label: str) -> RioError:
    """The error for a path out of the project. It is the same whether or not anything is there (P01)."""
    return RioError("outside", f"{label} leads out of the project.", "Use a path inside the project.")


def is_a_folder(label: str) -> RioError:
    """The error for a folder where a file is meant."""
    return RioError("unsupported", f"{label} is a folder.", "Name a file in it.")


def not_regular(label: str) -> RioError:
    """The error for a pipe, socket or device where a file is meant."""
    return RioError("unsupported", f"{label} is a pipe, socket or device.", "Name a regular file.")


def changed_meanwhile(label: str) -> RioError:
    """The error for what was moved, swapped or deleted between two looks at it."""
    return RioError("conflict", f"{label} was moved or replaced just now.", "Try again.")
