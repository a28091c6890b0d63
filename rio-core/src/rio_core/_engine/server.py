"""`rio-core serve`: a core on standard input and output."""

import logging
import os
import signal
import sys

import anyio

from rio_core._engine.core import Core, running
from rio_core._engine.folders import config_folder, state_folder
from rio_core._engine.serving.channel import Channel
from rio_core._engine.serving.connection import Connection

__all__ = ["main"]


def main(*, safe_mode: bool = False) -> int:
    """Serve the front end that started this process until it closes its end, and return the exit code."""
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("RIO_LOG", "WARNING").upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    # The channel is duplicated, and 1 pointed at 2, so that no print of any plugin can reach it.
    sys.stdout.flush()
    write = os.dup(1)
    os.dup2(2, 1)
    # Likewise nothing but the core reads what the front end sends.
    read = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    anyio.run(_serve, read, write, safe_mode)
    logging.shutdown()
    # Threads of plugins that do not come back must not keep the process.
    sys.stderr.flush()
    os._exit(0)


async def _serve(read: int, write: int, safe_mode: bool) -> None:
    async with running(config_folder(), state_folder(), safe_mode=safe_mode) as core:
        core.tasks.start_soon(_watch_signals, core)
        await Connection(core, Channel(read, write)).serve()


async def _watch_signals(core: Core) -> None:
    """End well when told to; leave Ctrl-C to the front end that shares the terminal."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as received:
        async for _ in received:
            core.stop()
            return
