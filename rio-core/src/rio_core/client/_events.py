"""Events on their way from the connection to whoever listens."""

from collections import deque
from collections.abc import Callable
from typing import Generic, Self, TypeVar

import anyio

from rio_core.protocol import Notification, RioError

__all__ = ["Events"]

T = TypeVar("T")


class Events(Generic[T]):
    """An async iterator over everything that the core says from the moment this was made.

    It has no bound: answers to calls arrive on the same pipe, so a listener that is slow must not hold them up. Use it
    as a context manager, or `close` it, when you stop listening before the core ends. Iteration ends when the client
    is closed, and raises RioError when the core died.
    """

    def __init__(self, convert: Callable[[Notification], T | None], detach: Callable[["Events[T]"], None]) -> None:
        self._convert = convert
        self._detach = detach
        self._queue: deque[T] = deque()
        self._news = anyio.Event()
        self._ended = False
        self._failure: RioError | None = None

    def take(self, notification: Notification) -> None:
        """Queue one notification; one that `convert` gives None for is left out."""
        event = self._convert(notification)
        if event is not None:
            self._queue.append(event)
            self._news.set()

    def end(self, failure: RioError | None) -> None:
        """Nothing more will come. What is queued can still be read."""
        self._ended = True
        self._failure = failure
        self._news.set()

    def close(self) -> None:
        """Stop listening and forget what is queued."""
        self._detach(self)
        self._queue.clear()
        self.end(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._queue:
            if self._failure is not None:
                raise RioError(self._failure.kind, self._failure.message, self._failure.action)
            if self._ended:
                raise StopAsyncIteration
            self._news = anyio.Event()
            await self._news.wait()
        return self._queue.popleft()
