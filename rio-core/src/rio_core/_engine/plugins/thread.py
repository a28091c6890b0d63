"""A thread with an event loop, and the calls of plugin code on it."""

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
from rio_core._engine.plugins.faults import PluginFaultError, PluginLoopError, fault

__all__ = ["GIVE_UP", "Call", "PluginThread"]

logger = logging.getLogger(__name__)

GIVE_UP: Final = 1.0
"""Seconds that cancelled code has to end."""

OWNER: Final[contextvars.ContextVar[str]] = contextvars.ContextVar("rio_plugin", default="")
"""The plugin whose code runs; tasks inherit it from who made them."""


class Call:
    """One piece of plugin code that runs, or ran. Used on the core's event loop."""

    def __init__(self, owner: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.owner = owner
        self.begun = False
        self.thread: PluginThread | None = None
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
        context.run(OWNER.set, self.owner)
        self._task = asyncio.get_running_loop().create_task(self._perform(), context=context)
        self._task.add_done_callback(self._hand_over)

    async def _perform(self) -> tuple[Any, PluginLoopError | None]:
        try:
            value = self._function(*self._args)
            if inspect.isawaitable(value):
                value = await value
        except BaseException as error:  # noqa: BLE001  whatever a plugin raises ends here
            return None, fault(error)
        return value, None

    def _hand_over(self, task: asyncio.Task[tuple[Any, PluginLoopError | None]]) -> None:
        outcome = (None, fault(asyncio.CancelledError())) if task.cancelled() else task.result()
        with contextlib.suppress(RuntimeError):  # the core did not wait
            self._main.call_soon_threadsafe(self.finish, *outcome)

    def _interrupt(self) -> None:
        if self._task is not None:
            self._task.cancel()


class PluginThread:
    """A thread with an event loop, until it is stopped or left behind."""

    def __init__(self, number: int, on_stray: Callable[[str, str], None]) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(cast("Any", self._make_task))  # typeshed wants a generic one
        self._loop.set_exception_handler(self._report_stray)
        self._inbox: Crossing[Callable[[], object]] = Crossing(self._loop)
        self._owners: weakref.WeakKeyDictionary[asyncio.Task[Any], str] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._on_stray = on_stray
        self._main = asyncio.get_running_loop()
        self._done = asyncio.Event()
        self._left = False
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
        """Begin nothing more here; cancel what runs and end, whenever the loop runs again."""
        with self._lock:
            self._left = True
        self.submit(lambda: None)  # wakes it

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
        self._owners[task] = OWNER.get() if context is None else context.get(OWNER, "")
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

    def _report_stray(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None:
            task = context.get("task") or context.get("future")
            owner = self._owners.get(task, "") if isinstance(task, asyncio.Task) else ""
            with contextlib.suppress(RuntimeError):  # the core did not wait
                self._main.call_soon_threadsafe(self._on_stray, owner, fault(error).report)

    async def _serve(self) -> None:
        while not self._left:
            for function in await self._inbox.take():
                function()


async def _settle(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks, timeout=GIVE_UP)
