"""From any thread to one event loop."""

import asyncio
import contextlib
from collections import deque
from typing import Generic, TypeVar

__all__ = ["Crossing"]

T = TypeVar("T")


class Crossing(Generic[T]):
    """A queue into an event loop. The loop is woken once for a batch, as waking costs more than an item does."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._items: deque[T] = deque()
        self._arrived = asyncio.Event()
        self._waking = False

    def put(self, item: T) -> None:
        """Add an item, from any thread. Never waits; after the end of the loop the item is dropped."""
        self._items.append(item)
        # The order counts: `take` clears the flag before it looks, so an item that sees the flag up is still found.
        if not self._waking:
            self._waking = True
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._arrived.set)

    async def take(self) -> list[T]:
        """Wait for items, and take all that are there, in order. One caller at a time, on the loop."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            self._waking = False
            if items := self.take_now():
                return items

    def take_now(self) -> list[T]:
        """All items that are there, without waiting."""
        return [self._items.popleft() for _ in range(len(self._items))]
