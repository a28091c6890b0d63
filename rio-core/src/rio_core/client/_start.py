"""Starting a core and being its client."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.abc import Process

from rio_core.client._client import Client
from rio_core.client._process import LastWords, end_process, spawn
from rio_core.protocol import PROTOCOL, Lines, LineTooLongError, RioError

__all__ = ["start_core"]

_GRACE: Final = 1.0
"""Seconds from the first sign of a core's death until it counts as dead, for its status and last words to come."""
_SHUTDOWN: Final = 2.0
"""Seconds for the core to answer that it ends."""


@asynccontextmanager
async def start_core(
    *,
    project: str | None,
    command: Sequence[str] | None = None,
    approve: bool = True,
    client: str = "rio_core.client",
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Client]:
    """Start a core, greet it, open the project (an absolute path), and give a Client for it.

    `approve` asks to own decisions. `command` takes the place of this Python's own `rio_core serve`, `environment`
    that of this process's variables. Leaving the block ends the core and waits for it, in a bounded time; no task,
    process or pipe stays. Raises RioError when the core cannot be started, refuses, or serves another protocol.
    """
    process = await spawn(
        command if command is not None else (sys.executable, "-P", "-m", "rio_core", "serve"),
        os.environ if environment is None else environment,
    )
    connection = _Connection(process)
    failure: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        try:
            await _greet(connection.client, client, project, approve=approve)
            yield connection.client
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001  raised below: from within, the task group would wrap it
            failure = error
        finally:
            with anyio.CancelScope(shield=True):
                await connection.close()
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _greet(client: Client, name: str, project: str | None, *, approve: bool) -> None:
    client.hello = await client.call("core.hello", protocol=PROTOCOL, client=name, approve=approve)
    if client.hello.protocol != PROTOCOL:
        message = f"The core speaks protocol {client.hello.protocol}, this front end {PROTOCOL}."
        raise RioError("conflict", message, "Install rio-core in one version for both.")
    if project is not None:
        client.project = await client.call("project.open", path=project)


class _Connection:
    """A client and the process behind it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._words = LastWords()
        self._broken = anyio.Event()
        self._fault = ""
        self._sending = anyio.Lock(fast_acquire=True)
        self.client = Client(self._send)

    async def run(self) -> None:
        """Read until the core is dead, then tell the client."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read)
            tasks.start_soon(self._listen)
            tasks.start_soon(self._watch)
            await self._broken.wait()
            with anyio.move_on_after(_GRACE):
                await self._process.wait()
                await self._words.ended.wait()
            self.client.end(self._obituary())
            tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """End the core: by asking it, else as `end_process` does."""
        with anyio.move_on_after(_SHUTDOWN), suppress(RioError):
            await self.client.call("core.shutdown")
        self.client.end(RioError("conflict", "This client is closed.", "Start a new one."))
        await end_process(self._process)

    async def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101  it was started with a pipe
        try:
            async with self._sending:
                await self._process.stdin.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._broken.set()  # the call learns of the death as those before it do

    async def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101  it was started with a pipe
        lines = Lines()
        try:
            async for data in self._process.stdout:
                for line in lines.feed(data):
                    self.client.take(line)
        except LineTooLongError:
            self._fault = "a line that is too long"
        except UnicodeDecodeError:
            self._fault = "bytes that are not UTF-8"
        self._broken.set()

    async def _listen(self) -> None:
        assert self._process.stderr is not None  # noqa: S101  it was started with a pipe
        await self._words.listen(self._process.stderr)

    async def _watch(self) -> None:
        # What the core started may hold its pipes open: then their end is no sign of its death.
        await self._process.wait()
        self._broken.set()

    def _obituary(self) -> RioError:
        status = self._process.returncode
        if self._fault:
            what = f"The core sent {self._fault}"
        elif status is None:
            what = "The core closed its connection"
        elif status < 0:
            what = f"The core was killed by signal {-status} ({signal.strsignal(-status)})"
        else:
            what = f"The core ended with status {status}"
        words = str(self._words)
        message = f"{what}. Its last words: {words}" if words else f"{what} without a word."
        return RioError("internal", message, "Start it again: what was saved is on disk, the conversation is kept.")
