"""Handing files to the window that already runs for their project.

The asking side; no Qt and no rio_core here, as it is passed through at each start. A window with a project listens on a
socket in a folder of its user's alone. The socket is named after the project folder's device and inode, so that every
name of the folder leads to it.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Sequence
from typing import Any, Final

from rio_gui._ui.arguments import Target

ANSWER_TIME: Final = 5.0
"""Seconds within which a running window must answer; one that does not is left alone, and another one started."""

_LONGEST: Final = 103  # bytes of a socket's path, which Linux limits to 107 and others to 103


def folder() -> str | None:
    """The folder of the sockets, made where it is missing; None where there can be none, or it is not safe to use."""
    if sys.platform == "win32":
        return None
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base) and os.path.isdir(base):
        path = os.path.join(base, "rio")
    else:
        path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"rio-{os.getuid()}")  # noqa: S108  checked below
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        found = os.lstat(path)
    except OSError:
        return None
    safe = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return path if safe else None


def socket_of(project: str) -> str | None:
    """Where the window of a project listens, whether it runs or not."""
    try:
        found = os.stat(project)
    except OSError:
        return None
    base = folder()
    path = os.path.join(base or "", f"{found.st_dev:x}-{found.st_ino:x}")
    return path if base and len(os.fsencode(path)) <= _LONGEST else None


def hand_over(targets: Sequence[Target], *, wait: bool) -> int | None:
    """Let the running window of their project open these, and on request wait until they are closed there.

    The exit code; None if no such window runs.
    """
    places = {_window_of(target) for target in targets}
    place = places.pop() if len(places) == 1 else None
    if place is None:
        return None
    import json
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(ANSWER_TIME)
        try:
            channel.connect(place)
        except (ConnectionRefusedError, FileNotFoundError):
            with contextlib.suppress(OSError):
                os.unlink(place)  # its window was killed
            return None
        except OSError:
            return None
        message: dict[str, Any] = {"open": [list(target) for target in targets], "wait": wait}
        answers = channel.makefile("rb")
        try:
            channel.sendall(json.dumps(message).encode("ascii") + b"\n")
            if answers.readline() != b"taken\n":
                return None
            channel.settimeout(None)
            if wait and answers.readline() != b"closed\n":
                sys.stderr.write("rio: the window ended before the file was closed.\n")
                return 1
        except OSError:
            return None
        finally:
            answers.close()
    return 0


def _window_of(target: Target) -> str | None:
    path = os.path.realpath(target.path)
    if not target.is_folder:
        path = os.path.dirname(path)
    while True:
        place = socket_of(path)
        if place is not None and os.path.exists(place):
            return place
        above = os.path.dirname(path)
        if target.is_folder or above == path:
            return None
        path = above
