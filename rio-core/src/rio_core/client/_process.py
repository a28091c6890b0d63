"""The core as a child process: its environment, its last words and its end."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process

from rio_core.protocol import RioError, visible_line

__all__ = ["LastWords", "clean_environment", "end_process", "spawn"]

# Through these, Python runs code that its user did not name, or finds its own library elsewhere
# (https://docs.python.org/3/using/cmdline.html#environment-variables).
_FOREIGN: Final = frozenset({
    "PYTHONBREAKPOINT", "PYTHONCASEOK", "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH",
    "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP", "PYTHONWARNINGS",
})  # fmt: skip
_ROOT: Final = os.path.abspath(os.sep)
_PATIENCE: Final = 2.0
"""Seconds that a core gets for each step of its end before the next, harsher one."""


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what would make Python run foreign code."""
    return {name: value for name, value in environment.items() if name.upper() not in _FOREIGN}


async def spawn(command: Sequence[str], environment: Mapping[str, str]) -> Process:
    """Start a core. Raises RioError when its program cannot be run.

    It gets a session of its own, so that Ctrl-C at the terminal reaches the front end alone, and starts in the root
    folder, so that nothing in a project can be imported.
    """
    try:
        return await anyio.open_process(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_ROOT,
            env=clean_environment(environment),
            start_new_session=True,
        )
    except OSError as error:
        message = f"The core cannot be started: {visible_line(command[0])}: {error.strerror or error}."
        raise RioError("io", message, "Check that rio-core is installed for this Python.") from None


class LastWords:
    """The end of what a core writes to standard error, for the message about its death."""

    CAP: Final = 8192
    LINES: Final = 12

    def __init__(self) -> None:
        self._tail = b""
        self.ended = anyio.Event()

    async def listen(self, stream: ByteReceiveStream) -> None:
        """Read until the stream ends."""
        async for data in stream:
            self._tail = (self._tail + data)[-self.CAP :]
        self.ended.set()

    def __str__(self) -> str:
        text = self._tail.decode("utf-8", "backslashreplace").strip()
        return " | ".join(visible_line(line) for line in text.split("\n")[-self.LINES :] if line.strip())


async def end_process(process: Process) -> None:
    """End a process and give back its pipes: end of its input, then TERM, then KILL. Takes a bounded time."""
    if process.stdin is not None:
        await process.stdin.aclose()
    for force in (None, process.terminate, process.kill):
        if force is not None:
            with suppress(ProcessLookupError):
                force()
        with anyio.move_on_after(_PATIENCE):
            await process.wait()
            break
    # A grandchild may hold the pipes open beyond the process: closing ours does not wait for it.
    await process.aclose()
