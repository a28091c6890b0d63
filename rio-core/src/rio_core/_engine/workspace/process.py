"""A child process that is fed and drained, and that never outlives the wait for it."""

import os
import signal
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

__all__ = ["Outcome", "run"]

PATH: Final = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
"""Where programs are looked for, whatever the environment says: never in a project."""

_ENVIRONMENT: Final = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
_MAX_ERRORS: Final = 4096


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended. `code` is None when it was stopped because `take` wanted no more."""

    code: int | None
    errors: str


async def run(
    arguments: Sequence[str],
    take: Callable[[bytes], bool],
    *,
    feed: bytes = b"",
    cwd: int | None = None,
    handles: Collection[int] = (),
) -> Outcome:
    """Run a program with an environment of nothing but a path, in the folder `cwd` (a handle).

    `take` gets the output as it comes and says whether to go on. Cancelling kills the child.
    """
    # Cancelled half-way, asyncio would lose a child that has begun.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            arguments,
            cwd=None if cwd is None else f"/proc/self/fd/{cwd}",
            env=_ENVIRONMENT,
            pass_fds=tuple(handles),
            start_new_session=True,
        )
    errors = bytearray()
    wanted = True
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_feed, process.stdin, feed)
            group.start_soon(_collect, process.stderr, errors)
            if process.stdout is not None:
                async for block in process.stdout:
                    if not take(block):
                        wanted = False
                        break
            if wanted:
                await process.wait()
            else:
                group.cancel_scope.cancel()
    finally:
        await _end(process)
    return Outcome(process.returncode if wanted else None, os.fsdecode(bytes(errors)))


async def _feed(stream: ByteSendStream | None, data: bytes) -> None:
    if stream is not None:
        try:
            await stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it ended without reading all, and its outcome says why
        finally:
            with anyio.CancelScope(shield=True):
                await stream.aclose()


async def _collect(stream: ByteReceiveStream | None, found: bytearray) -> None:
    if stream is not None:
        async for block in stream:
            found += block[: _MAX_ERRORS - len(found)]


async def _end(process: Process) -> None:
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            # Not process.kill(): that one reaps a child that has just ended, and asyncio then misses it. As the leader
            # of a session the child has a group of its own number.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await process.aclose()
