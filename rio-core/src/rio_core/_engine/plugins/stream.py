"""The events of one answer, on their way from the plugin loop to the core."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final

from rio_core._engine.plugins.crossing import Crossing
from rio_core._engine.plugins.posted import checked, whole
from rio_core.api import Delta, Done, Failure, Posted, Thinking, Usage, Waiting

__all__ = ["Stream"]

FULL: Final = 1_000
"""Events on their way with which a provider that awaits its posts has to wait."""
FLOODED: Final = 100_000
"""Events on their way with which one that does not is ended: nothing may grow without bound."""


class Stream:
    """Takes events until the first end, whatever comes, and makes sure that there is one.

    `post` belongs to the provider and may be called in any thread; the rest belongs to the core. `fault(reason)` makes
    the failure for a provider that breaks the rules.
    """

    def __init__(self, fault: Callable[[str], Failure]) -> None:
        self._fault = fault
        self._crossing: Crossing[Posted | None] = Crossing(asyncio.get_running_loop())
        self._lock = threading.Lock()
        self._on_the_way = 0
        self._ended = False
        self._closed = False
        self._half = ""
        self._half_of: type[Delta | Thinking] = Delta
        self._room = _Room(self)
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    # -- for the provider --------------------------------------------------------------------------------------

    def post(self, event: Posted, /) -> Awaitable[None]:
        """Take an event at once (see `rio_core.api.Post`)."""
        if self._ended:
            return _ENDED
        try:
            clean = checked(event)
        except ValueError as error:
            clean = self._fault(f"posted what it must not: {error}")
        # Under the lock there are clean values only: no foreign code could hold the core up.
        with self._lock:
            if not self._ended:
                self._take(clean)
            if self._on_the_way > FLOODED and not self._ended:
                self._end(self._fault(f"posted more than {FLOODED:,} events without awaiting"))
        return self._room

    def _take(self, event: Posted) -> None:
        if isinstance(event, Delta | Thinking):
            self._take_text(event)
            return
        if not isinstance(event, Usage | Waiting):
            self._flush()
        if isinstance(event, Done | Failure):
            self._end(event)
        else:
            self._put(event)

    def _take_text(self, event: Delta | Thinking) -> None:
        kind = type(event)
        if kind is not self._half_of:
            self._flush()
            self._half_of = kind
        text = self._half + event.text
        self._half = ""
        if "\ud800" <= text[-1:] <= "\udbff":
            # The first half of a character, whose second half may come with the next chunk.
            text, self._half = text[:-1], text[-1]
        if text or not event.text:  # a thought may be without text: what the service wants back is its own form
            self._put(kind(whole(text, "the text")))

    def _flush(self) -> None:
        if self._half:
            half, self._half = self._half, ""
            self._put(self._half_of(whole(half, "the text")))

    def _end(self, end: Done | Failure) -> None:
        self._flush()
        self._ended = True
        self._put(end)

    def _put(self, event: Posted) -> None:
        self._on_the_way += 1
        self._crossing.put(event)

    @property
    def is_full(self) -> bool:
        """Whether a post has to be waited for."""
        return self._on_the_way > FULL and not self._ended

    async def wait_for_room(self) -> None:
        """Wait until it is not full. On the plugin loop."""
        while True:
            with self._lock:
                if not self.is_full:
                    return
                loop = asyncio.get_running_loop()
                free = loop.create_future()
                self._waiting.append((loop, free))
            await free

    # -- for the core ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """The provider has returned: what was posted is all there is."""
        self._crossing.put(None)

    async def next(self) -> list[Posted]:
        """Wait for events; none when the stream is closed. The last is the end, once there is one."""
        events: list[Posted] = []
        while not events and not self._closed:
            items = await self._crossing.take()
            events = [item for item in items if item is not None]
            self._closed = len(events) < len(items)
        return events

    def end(self, failure: Failure) -> list[Posted]:
        """Take this as the end, unless there is one. Returns all that had not been given yet."""
        with self._lock:
            if not self._ended:
                self._end(failure)
        return [item for item in self._crossing.take_now() if item is not None]

    def delivered(self, count: int) -> None:
        """So many events have arrived: let a waiting provider go on."""
        with self._lock:
            self._on_the_way -= count
            if self.is_full:
                return
            waiting, self._waiting = self._waiting, []
        for loop, free in waiting:
            loop.call_soon_threadsafe(_set, free)


def _set(free: "asyncio.Future[None]") -> None:
    if not free.done():
        free.set_result(None)


class _Room:
    """Waits where there is no room for more. Nothing is lost when it is not awaited."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __await__(self) -> Generator[Any, Any, None]:
        if self._stream.is_full:
            yield from self._stream.wait_for_room().__await__()


class _Ended:
    """Lets others run, so that a provider that goes on posting can be cancelled."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield


_ENDED: Final = _Ended()
