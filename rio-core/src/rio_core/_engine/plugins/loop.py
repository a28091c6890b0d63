"""Where plugin code runs: an event loop of its own, in a thread that can be left behind.

PluginLoopError          plugin code gave no result
  PluginFaultError       it raised
  PluginBlockedError     it kept its event loop from running, and was left behind
  LoopLostError          another plugin did, on the same loop
"""

import asyncio
import contextlib
import contextvars
import inspect
import logging
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

import anyio

from rio_core._engine.plugins.crossing import Crossing
from rio_core.protocol.visible import visible_line

__all__ = ["Call", "LoopLostError", "PluginBlockedError", "PluginFaultError", "PluginLoop", "PluginLoopError"]

logger = logging.getLogger(__name__)

GIVE_UP: Final = 1.0
"""Seconds that cancelled code has to end."""

BEATS: Final = 8
"""How many heartbeats in a row must be missed. Counted, as a clock would also tell of a process that was stopped."""

LINE: Final = 300
"""Characters of an exception that are shown in one line."""

REPORT: Final = 20_000
"""Characters of a traceback that are kept, from its end."""

UNKNOWN: Final = "(unknown)"

_OWNER: contextvars.ContextVar[str] = contextvars.ContextVar("rio_plugin", default="")


class PluginLoopError(Exception):
    """Plugin code gave no result."""


class PluginFaultError(PluginLoopError):
    """Plugin code raised `error`. `line` says it in one line, `report` is its traceback.

    Both were made on the plugin loop: even to print a foreign exception is to run foreign code.
    """

    def __init__(self, line: str, report: str, error: BaseException) -> None:
        super().__init__(line)
        self.line = line
        self.report = report
        self.error = error


class PluginBlockedError(PluginLoopError):
    """The plugin kept its event loop from running. `report` says where it stood."""

    def __init__(self, owner: str, report: str) -> None:
        super().__init__(f"plugin {owner} blocked its event loop")
        self.owner = owner
        self.report = report


class LoopLostError(PluginLoopError):
    """The call was cut off, as another plugin blocked the loop of both; or, with an empty `owner`, the core ends."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"plugin {owner} blocked the event loop of the plugins" if owner else "the core ends")
        self.owner = owner


class Call:
    """One piece of plugin code that runs, or ran. Used on the core's event loop."""

    def __init__(self, owner: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.owner = owner
        self.begun = False
        self.thread: _Thread | None = None
        self.error: PluginLoopError | None = None
        self.late: Callable[[Any, PluginLoopError | None], None] | None = None
        self._value: Any = None
        self._function = function
        self._args = args
        self._main = asyncio.get_running_loop()
        self._finished = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def finished(self) -> bool:
        """Whether it has ended or was left behind."""
        return self._finished.is_set()

    def when_finished(self, listener: Callable[[], None]) -> None:
        """Call this as soon as it is finished, on the core's loop; at once when it is."""
        if self.finished:
            listener()
        else:
            self._listeners.append(listener)

    async def wait(self) -> None:
        """Wait until it is finished, however it ends."""
        await self._finished.wait()

    def result(self) -> Any:
        """What the finished call returned. Raises PluginLoopError."""
        if self.error is not None:
            raise self.error
        return self._value

    async def cancel(self) -> None:
        """Cancel it on its loop and wait, for `GIVE_UP` seconds at most and not to be cancelled, until it has ended."""
        if self.finished or self.thread is None:
            return
        with anyio.CancelScope(shield=True):
            self.thread.submit(self._interrupt)
            with anyio.move_on_after(GIVE_UP):
                await self.wait()
            if not self.finished:
                # It swallowed that. What it does from now on is nobody's concern, unless it blocks its loop.
                self.thread.submit(self._interrupt)
                self.finish(None, PluginFaultError("it does not end when it is cancelled", "", TimeoutError()))

    def finish(self, value: Any, error: PluginLoopError | None) -> None:
        """Settle it, once. What comes of it later, after it was left behind, goes to `late`."""
        if self.finished:
            if self.late is not None:
                self.late(value, error)
            return
        self._value, self.error = value, error
        self._finished.set()
        for listener in self._listeners:
            listener()

    # -- on the plugin loop ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start, as a task of the running loop."""
        context = contextvars.Context()
        context.run(_OWNER.set, self.owner)
        self._task = asyncio.get_running_loop().create_task(self._perform(), context=context)
        self._task.add_done_callback(self._hand_over)

    async def _perform(self) -> tuple[Any, PluginLoopError | None]:
        try:
            value = self._function(*self._args)
            if inspect.isawaitable(value):
                value = await value
        except BaseException as error:  # noqa: BLE001  whatever a plugin raises ends here
            return None, _fault(error)
        return value, None

    def _hand_over(self, task: asyncio.Task[tuple[Any, PluginLoopError | None]]) -> None:
        outcome = (None, _fault(asyncio.CancelledError())) if task.cancelled() else task.result()
        with contextlib.suppress(RuntimeError):  # the core did not wait
            self._main.call_soon_threadsafe(self.finish, *outcome)

    def _interrupt(self) -> None:
        if self._task is not None:
            self._task.cancel()


class _Thread:
    """A thread with an event loop, until it is stopped or left behind."""

    def __init__(self, number: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(cast("Any", self._make_task))  # typeshed wants a generic one
        self._loop.set_exception_handler(_report_stray)
        self._inbox: Crossing[Callable[[], object]] = Crossing(self._loop)
        self._owners: weakref.WeakKeyDictionary[asyncio.Task[Any], str] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._main = asyncio.get_running_loop()
        self._done = asyncio.Event()
        self._left = False
        self._stopping = False
        self.heard = 0
        self._thread = threading.Thread(target=self._work, name=f"rio-plugins-{number}", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[], object]) -> None:
        """Run this function on the loop."""
        self._inbox.put(function)

    def start(self, call: Call) -> None:
        """Begin the call on this loop, unless this thread is left behind before."""
        call.thread = self
        self.submit(lambda: self._begin(call))

    def ask(self, number: int) -> None:
        """Send a heartbeat; `heard` becomes its number when the loop runs."""

        def answer() -> None:
            self.heard = number

        self.submit(answer)

    def leave(self) -> None:
        """Begin nothing more here, and end whenever the loop runs again."""
        with self._lock:
            self._left = True
        self.stop()

    def stop(self) -> None:
        """End the loop, cancelling what runs on it."""
        self.submit(lambda: setattr(self, "_stopping", True))

    async def ended(self) -> None:
        """Wait until the thread has ended."""
        await self._done.wait()
        self._thread.join()

    def standing(self) -> tuple[str, str]:
        """Whose code runs right now (empty where it is not in a task of theirs), and where."""
        task = asyncio.current_task(self._loop)
        owner = self._owners.get(task, "") if task is not None else ""
        frame = sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001  documented, for debuggers
        return owner, "".join(traceback.format_stack(frame)) if frame is not None else ""

    # -- in the thread -----------------------------------------------------------------------------------------

    def _begin(self, call: Call) -> None:
        with self._lock:
            if self._left:
                return
            call.begun = True
        call.begin()

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **options: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, **options)
        context = options.get("context")
        self._owners[task] = _OWNER.get() if context is None else context.get(_OWNER, "")
        return task

    def _work(self) -> None:
        serving = self._loop.create_task(self._serve())
        self._run(serving)
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._run(self._loop.create_task(_settle(left)))
        self._run(self._loop.create_task(self._loop.shutdown_asyncgens()))
        self._loop.close()
        with contextlib.suppress(RuntimeError):  # the core did not wait
            self._main.call_soon_threadsafe(self._done.set)

    def _run(self, task: asyncio.Task[None]) -> None:
        # asyncio lets SystemExit and KeyboardInterrupt of any task out of the loop, which can be entered again.
        while not task.done():
            try:
                self._loop.run_until_complete(task)
            except BaseException as error:  # noqa: BLE001  not even these end the thread
                logger.warning("plugin code raised %s in the background", type(error).__name__)

    async def _serve(self) -> None:
        while not self._stopping:
            for function in await self._inbox.take():
                function()


async def _settle(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks, timeout=GIVE_UP)


def _report_stray(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if error is not None:
        logger.warning("plugin code failed in the background: %s", _fault(error).report)


def _fault(error: BaseException) -> PluginFaultError:
    """The exception as text. Runs in the plugin's thread, and whatever the exception does, it stays there."""
    try:
        report = "".join(traceback.format_exception(error))
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        line = "".join(traceback.format_exception_only(error)).strip()
    except BaseException:  # noqa: BLE001  an exception that cannot be shown
        line = report = type(error).__name__
    short = visible_line(line[:LINE]) + ("…" if len(line) > LINE else "")
    return PluginFaultError(short, report[-REPORT:], error)


class PluginLoop:
    """Runs plugin code away from the core's own event loop, on which this object is used.

    Code whose loop answers no heartbeat for `limit` seconds is left behind with its thread. Its plugin is named to
    `on_blocked(owner, report)` and gets no more calls; calls that had not begun move on to a fresh thread.
    """

    def __init__(self, *, limit: float = 2.0, on_blocked: Callable[[str, str], None] | None = None) -> None:
        self.limit = limit
        self._on_blocked = on_blocked
        self._thread: _Thread | None = None
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

    def _current(self) -> _Thread:
        if self._thread is None:
            self._threads += 1
            self._thread = _Thread(self._threads)
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

    def _leave(self, thread: _Thread) -> None:
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
            if self._on_blocked is not None:
                self._on_blocked(owner, report)
