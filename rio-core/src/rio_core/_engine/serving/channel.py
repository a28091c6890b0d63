"""A pair of descriptors as a stream of bytes, through the event loop and with bounded memory."""

import contextlib
import os
from collections import deque
from typing import Final

import anyio

__all__ = ["Channel"]

_READ: Final = 256 * 1024
_HIGH: Final = 1024 * 1024  # bytes that may wait before producers are held back
_MOST: Final = 128 * 1024 * 1024  # bytes after which a peer that takes nothing counts as gone


class Channel:
    """Reads one descriptor and writes another. Both stay the caller's to close.

    Writing never blocks the loop: what the peer does not take is kept, and `drain` holds back who produces more.
    """

    def __init__(self, read: int, write: int) -> None:
        self._read = read
        self._write = write
        self._waits = True
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._some = anyio.Event()
        self._room = anyio.Event()
        self._broken = False

    async def receive(self) -> bytes:
        """The next bytes, empty at the end of the stream."""
        if self._waits:
            try:
                await anyio.wait_readable(self._read)
            except PermissionError:  # epoll's word for what never blocks: a regular file, the null device
                self._waits = False
        try:
            return os.read(self._read, _READ)
        except (ConnectionError, BlockingIOError):
            return b""

    def send(self, data: bytes) -> None:
        """Queue bytes. After the peer is gone they are dropped."""
        if self._broken:
            return
        self._parts.append(data)
        self._size += len(data)
        self._some.set()
        if self._size > _MOST:
            self._give_up()

    @property
    def is_broken(self) -> bool:
        """Whether the peer is gone, or takes nothing."""
        return self._broken

    async def drain(self) -> None:
        """Wait until little enough is waiting to be taken by the peer."""
        await self._wait_for(_HIGH)

    async def flush(self) -> None:
        """Wait until everything is written, or the peer is gone."""
        await self._wait_for(0)

    async def write_forever(self) -> None:
        """Write what is queued; to be run as a task for as long as the channel is used."""
        with contextlib.suppress(OSError):
            os.set_blocking(self._write, False)
        try:
            while True:
                await self._some.wait()
                self._some = anyio.Event()
                while self._parts:
                    data = b"".join(self._parts)
                    self._parts.clear()
                    await self._put(data)
        finally:
            self._give_up()

    async def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view and not self._broken:
            try:
                view = view[os.write(self._write, view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._write)
            except OSError:  # the peer is gone; reading ends by itself
                self._give_up()
                return
            self._size = len(view) + sum(map(len, self._parts))
            if self._size <= _HIGH:
                self._room.set()

    async def _wait_for(self, most: int) -> None:
        while self._size > most and not self._broken:
            if self._room.is_set():  # else others wait for it, and must not be left with one that nobody sets
                self._room = anyio.Event()
            await self._room.wait()

    def _give_up(self) -> None:
        """Drop what waits, now and later, and hold nobody back any more."""
        self._broken = True
        self._parts.clear()
        self._size = 0
        self._room.set()
