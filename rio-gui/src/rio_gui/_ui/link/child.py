"""Starting a core as a child process, before anything costly is imported.

No Qt and no rio_core here: the child must be on its way while this process still imports those. `posix_spawn` needs
neither the `subprocess` module (17 ms) nor a fork of this process.
"""

import os
import signal
import sys
from typing import Final, NamedTuple

COMMAND: Final = (sys.executable, "-P", "-m", "rio_core", "serve")
"""`-P`: the folder that rio is started in is never imported from."""


class Child(NamedTuple):
    """A running core and the descriptors of its standard input, output and error, which do not block here."""

    pid: int
    send: int
    receive: int
    complaints: int


def start(command: tuple[str, ...] = COMMAND) -> Child:
    """Start a core. Raises OSError."""
    child_in, send = os.pipe()
    receive, child_out = os.pipe()
    complaints, child_err = os.pipe()
    try:
        pid = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, child_in, 0),
                (os.POSIX_SPAWN_DUP2, child_out, 1),
                (os.POSIX_SPAWN_DUP2, child_err, 2),
            ],
            # A terminal's Ctrl+C is for the window, which ends the core in good order.
            setpgroup=0,
            setsigdef=[signal.SIGPIPE],
        )
    except OSError:
        for descriptor in (send, receive, complaints):
            os.close(descriptor)
        raise
    finally:
        for descriptor in (child_in, child_out, child_err):
            os.close(descriptor)
    for descriptor in (send, receive, complaints):
        os.set_blocking(descriptor, False)
    return Child(pid, send, receive, complaints)
