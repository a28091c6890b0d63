import asyncio
import gc
import sys
import threading
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from rio_core._engine.plugins.crossing import Crossing
from rio_core._engine.plugins.faults import LoopLostError, PluginBlockedError, PluginFaultError
from rio_core._engine.plugins.loop import PluginLoop

pytestmark = pytest.mark.anyio


@pytest.fixture
async def loop():
    blocked: list[tuple[str, str]] = []
    strays: list[tuple[str, str]] = []
    loop = PluginLoop(
        limit=0.3, on_blocked=lambda *what: blocked.append(what), on_stray=lambda *what: strays.append(what)
    )
    loop.blocked, loop.strays = blocked, strays  # type: ignore[attr-defined]
    yield loop
    await loop.aclose()


async def test_plain_and_async_functions_run_in_one_other_thread(loop: Any):
    async def there() -> int:
        await anyio.lowlevel.checkpoint()
        return threading.get_ident()

    first = await loop.run("a", there)
    assert first != threading.get_ident()
    assert await loop.run("b", threading.get_ident) == first


async def test_anyio_works_there_with_its_own_worker_threads(loop: Any):
    async def there() -> int:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep, 0)
        return await anyio.to_thread.run_sync(lambda: 7)

    assert await loop.run("a", there) == 7


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), StopIteration(1)],
    ids=repr,
)
async def test_A43_whatever_is_raised_is_contained_and_the_loop_lives(loop: Any, error: BaseException):
    def fail() -> None:
        raise error

    async def fail_later() -> None:
        await anyio.lowlevel.checkpoint()
        raise error

    for function in (fail, fail_later):
        with pytest.raises(PluginFaultError) as caught:
            await loop.run("a", function)
        assert type(error).__name__ in caught.value.report or isinstance(error, StopIteration)
    assert await loop.run("a", lambda: 1) == 1


async def test_G08_an_exit_in_a_task_of_the_plugin_does_not_end_the_loop(loop: Any, expect_log: Any):
    expect_log(r".*plugins\.thread: plugin code raised SystemExit in the background")

    async def leave_a_bomb() -> None:
        asyncio.get_running_loop().call_soon(sys.exit)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_exit)

    with pytest.raises(PluginFaultError, match="SystemExit"):
        await loop.run("a", leave_a_bomb)
    assert await loop.run("b", lambda: 2) == 2


async def _exit() -> None:
    await anyio.lowlevel.checkpoint()
    sys.exit(4)


async def test_an_exception_is_put_into_words_on_the_plugin_loop(loop: Any):
    spoke: list[int] = []

    class SlyError(Exception):
        def __str__(self) -> str:
            spoke.append(threading.get_ident())
            return "line one\nline two \u202e" + "x" * 1000

    def fail() -> None:
        raise SlyError

    with pytest.raises(PluginFaultError) as caught:
        await loop.run("a", fail)
    assert threading.get_ident() not in spoke
    assert "\\n" in caught.value.line
    assert "\n" not in caught.value.line
    assert "\\u{202E}" in caught.value.line
    assert len(caught.value.line) < 400


async def test_an_exception_that_cannot_be_shown_is_named(loop: Any):
    class MuteError(Exception):
        def __str__(self) -> str:
            raise SystemExit(1)

    def fail() -> None:
        raise MuteError

    with pytest.raises(PluginFaultError, match="Mute"):
        await loop.run("a", fail)


async def test_cancelling_cancels_there(loop: Any):
    seen = threading.Event()

    async def wait() -> None:
        try:
            await anyio.sleep(1000)
        finally:
            seen.set()

    with anyio.move_on_after(0.05) as scope:
        await loop.run("a", wait)
    assert scope.cancelled_caught
    assert seen.is_set()


async def test_cancelling_before_it_began_is_no_trouble(loop: Any):
    with anyio.CancelScope() as scope:
        scope.cancel()
        await loop.run("a", anyio.sleep, 1000)
    assert scope.cancelled_caught
    assert await loop.run("a", lambda: 3) == 3


async def test_who_swallows_cancellation_is_given_up(loop: Any):
    stop = threading.Event()

    async def stubborn() -> None:
        while not stop.is_set():
            try:
                await anyio.sleep(0.02)
            except BaseException:  # noqa: BLE001, S112
                continue

    with anyio.move_on_after(0.05), anyio.CancelScope() as outer:
        await loop.run("a", stubborn)
    assert not outer.cancelled_caught
    assert await loop.run("b", lambda: 4) == 4
    stop.set()


async def test_who_blocks_is_named_and_the_others_move_on(loop: Any, expect_log: Any):
    expect_log(r".*plugins\.loop: plugin bad blocked the event loop")
    release, entered = threading.Event(), threading.Event()

    def block() -> None:
        entered.set()
        release.wait()

    outcomes: dict[str, Any] = {}

    async def call(owner: str, function: Any, *args: Any) -> None:
        try:
            outcomes[owner] = await loop.run(owner, function, *args)
        except Exception as error:  # noqa: BLE001
            outcomes[owner] = error

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, "running", anyio.sleep, 1000)
        await anyio.sleep(0.05)
        tasks.start_soon(call, "bad", block)
        await anyio.to_thread.run_sync(entered.wait)
        tasks.start_soon(call, "waiting", lambda: "done")
    assert isinstance(outcomes["bad"], PluginBlockedError)
    assert isinstance(outcomes["running"], LoopLostError)
    assert outcomes["running"].owner == "bad"
    assert outcomes["waiting"] == "done"  # it had not begun: it moved on
    ((owner, report),) = loop.blocked
    assert owner == "bad"
    assert "release.wait()" in report
    with pytest.raises(PluginBlockedError):
        await loop.run("bad", lambda: 1)
    assert await loop.run("running", lambda: 5) == 5
    release.set()
    loop.forgive("bad")
    assert await loop.run("bad", lambda: 6) == 6


async def test_a_task_that_a_plugin_left_behind_is_blamed_not_who_waits(loop: Any, expect_log: Any):
    expect_log(r".*plugins\.loop: plugin bad blocked")
    release, tasks = threading.Event(), []

    async def block() -> None:
        await anyio.sleep(0.02)
        release.wait()

    async def leave() -> None:
        tasks.append(asyncio.ensure_future(block()))

    await loop.run("bad", leave)
    await anyio.sleep(0.1)
    assert await loop.run("good", lambda: "served") == "served"
    assert [owner for owner, _ in loop.blocked] == ["bad"]
    release.set()


async def test_an_exception_that_nobody_waits_for_is_told_with_its_plugin(loop: Any):
    async def leave() -> None:
        async def fail() -> None:
            raise ValueError("in the background")

        asyncio.ensure_future(fail())  # noqa: RUF006

    await loop.run("bad", leave)
    with anyio.fail_after(10):
        while not loop.strays:
            await loop.run("good", gc.collect)
    ((owner, report),) = loop.strays
    assert owner == "bad"
    assert "ValueError: in the background" in report


async def test_what_ends_late_is_told(loop: Any, expect_log: Any):
    expect_log(r".*plugins\.loop: plugin slow blocked")
    release, late = threading.Event(), anyio.Event()
    call = loop.start("slow", lambda: release.wait() and "at last")
    came: list[Any] = []
    call.late = lambda value, error: (came.append((value, error)), late.set())
    await call.wait()
    assert isinstance(call.error, PluginBlockedError)
    release.set()
    with anyio.fail_after(10):
        await late.wait()
    assert came == [("at last", None)]


async def test_a_closed_loop_starts_nothing():
    loop = PluginLoop(on_blocked=print, on_stray=print)
    call = loop.start("a", anyio.sleep, 1000)
    await anyio.sleep(0.02)
    await loop.aclose()
    assert call.finished
    assert call.error is not None
    with pytest.raises(LoopLostError):
        loop.start("a", lambda: 1)


async def test_a_hundred_thousand_items_cross_in_order_and_none_is_lost():
    crossing: Crossing[int] = Crossing(asyncio.get_running_loop())
    count = 100_000

    def produce() -> None:
        for number in range(count):
            crossing.put(number)

    thread = threading.Thread(target=produce)
    thread.start()
    got: list[int] = []
    with anyio.fail_after(60):
        while len(got) < count:
            got += await crossing.take()
    thread.join()
    assert got == list(range(count))


async def test_many_producers_wake_one_consumer_without_a_lost_item():
    crossing: Crossing[int] = Crossing(asyncio.get_running_loop())
    go = threading.Barrier(4)

    def produce() -> None:
        for _ in range(2_000):
            go.wait()
            crossing.put(1)

    threads = [threading.Thread(target=produce) for _ in range(4)]
    for thread in threads:
        thread.start()
    got = 0
    with anyio.fail_after(120):
        while got < 8_000:
            got += len(await crossing.take())
    for thread in threads:
        thread.join()
    assert got == 8_000
