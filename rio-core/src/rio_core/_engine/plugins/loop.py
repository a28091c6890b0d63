"""Where plugin code runs: an event loop of its own, in a thread that can be left behind."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

import anyio

from rio_core._engine.plugins.faults import LoopLostError, PluginBlockedError
from rio_core._engine.plugins.thread import GIVE_UP, Call, PluginThread

__all__ = ["PluginLoop"]

logger = logging.getLogger(__name__)

BEATS: Final = 8
"""How many heartbeats in a row must be missed. Counted, as a clock would also tell of a process that was stopped."""

UNKNOWN: Final = "(unknown)"


class PluginLoop:
    """Runs plugin code away from the core's own event loop, on which this object is used.

    Code whose loop answers no heartbeat for `limit` seconds is left behind with its thread. Its plugin is named to
    `on_blocked(owner, report)` and gets no more calls; calls that had not begun move on to a fresh thread.
    `on_stray(owner, report)` hears of exceptions in tasks that nobody waits for.
    """

    def __init__(
        self,
        *,
        limit: float = 2.0,
        on_blocked: Callable[[str, str], None],
        on_stray: Callable[[str, str], None],
    ) -> None:
        self.limit = limit
        self._on_blocked = on_blocked
        self._on_stray = on_stray
        self._thread: PluginThread | None = None
        self._threads = 0
        self._calls: set[Call] = set()
        self._blocked: dict[str, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._asked = 0
        self._missed = 0
        self._closed = False

    async def run(self, owner: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call a plain or async function of this plugin there, and return what it returns.

        Cancelling the caller cancels it there, and gives it one second to end. Raises PluginLoopError.
        """
        call = self.start(owner, function, *args)
        try:
            await call.wait()
        finally:
            await call.cancel()
        return call.result()

    def start(self, owner: str, function: Callable[..., Any], *args: Any) -> Call:
        """Begin what `run` does, and return at once.

        Raises PluginBlockedError for a plugin that was left behind, LoopLostError once the loop is closed.
        """
        if self._closed:
            raise LoopLostError("")
        if owner in self._blocked:
            raise PluginBlockedError(owner, self._blocked[owner])
        call = Call(owner, function, args)
        self._calls.add(call)
        call.when_finished(lambda: self._calls.discard(call))
        self._current().start(call)
        if self._timer is None:
            self._missed = 0
            self._beat()
        return call

    def forgive(self, owner: str) -> None:
        """Take calls of this plugin again: what blocked has ended after all."""
        self._blocked.pop(owner, None)

    async def aclose(self) -> None:
        """Cancel what runs and end the thread; one that does not end within a second is left behind."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for call in tuple(self._calls):
            call.finish(None, LoopLostError(""))
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.leave()
            with anyio.move_on_after(2 * GIVE_UP, shield=True):
                await thread.ended()

    def _current(self) -> PluginThread:
        if self._thread is None:
            self._threads += 1
            self._thread = PluginThread(self._threads, self._on_stray)
        return self._thread

    # -- heartbeat ---------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        self._timer = None
        thread = self._thread
        if not self._calls or thread is None:
            return
        if thread.heard == self._asked:
            self._missed = 0
            self._asked += 1
            thread.ask(self._asked)
        else:
            self._missed += 1
            if self._missed >= BEATS:
                self._leave(thread)
        self._timer = asyncio.get_running_loop().call_later(self.limit / BEATS, self._beat)

    def _leave(self, thread: PluginThread) -> None:
        owner, report = thread.standing()
        thread.leave()
        begun = {call.owner for call in self._calls if call.begun}
        if not owner and len(begun) == 1:
            owner = begun.pop()
        logger.warning("plugin %s blocked the event loop of the plugins:\n%s", owner or UNKNOWN, report)
        self._thread = None
        self._asked = self._missed = 0
        for call in tuple(self._calls):
            if call.owner == owner:
                call.finish(None, PluginBlockedError(owner, report))
            elif call.begun:
                call.finish(None, LoopLostError(owner or UNKNOWN))
            else:
                self._current().start(call)
        if owner:
            self._blocked[owner] = report
            self._on_blocked(owner, report)
