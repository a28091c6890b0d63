"""Lines from standard input of any kind, read through the event loop."""

import os
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel

from rio_core.protocol import Lines

__all__ = ["incoming_lines"]


async def incoming_lines(descriptor: int) -> AsyncIterator[bytes]:
    """Lines without their ends, until the input ends; a last one without an end counts.

    Raises LineTooLongError for a line over the cap of the protocol.
    """
    lines = Lines()
    data = b"."
    while data:
        try:
            await anyio.wait_readable(descriptor)
        except PermissionError:  # epoll refuses files and /dev/null, which are always readable
            await anyio.lowlevel.checkpoint()
        data = os.read(descriptor, 65536)
        for line in lines.feed(data if data or not lines.pending else b"\n"):
            yield line
