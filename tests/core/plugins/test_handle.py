"""Providers that do what they must not."""

import asyncio
import contextlib
import sys
import threading
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from rio_core.api import Delta, Done, Failure, Model, PluginError, ProviderError, SecretSpec, ToolCall, Usage, Waiting
from rio_core.protocol.errors import RioError

pytestmark = pytest.mark.anyio

FAULT = r".*plugins\.handle: Provider p \(dist-one 0\) failed"
BLOCKED = r".*plugins\.loop: plugin one blocked"
BLOCKED_STATUS = r".*plugins\.host: plugin one of dist-one 0: it blocked its loop"


@pytest.fixture
def started(plugins: Any, provider: Any):
    async def start(respond: Any = None, **options: Any) -> Any:
        plugins.give(provider(respond, **options))
        await plugins.host.start()
        return plugins

    return start


async def test_events_arrive_in_order_and_the_end_last(started: Any):
    async def respond(request: Any, post: Any) -> None:
        for number in range(5000):
            await post(Delta(str(number)))
        await post(ToolCall("1", "t", {"a": 1}))
        await post(Done("tool_use", Usage(1, 2)))

    got = await (await started(respond)).respond()
    assert [event.text for event in got[:5000]] == [str(number) for number in range(5000)]
    assert got[5000:] == [ToolCall("1", "t", {"a": 1}), Done("tool_use", Usage(1, 2))]


async def test_plugin_code_never_runs_in_the_thread_of_the_documents(started: Any):
    threads: list[int] = []

    async def respond(request: Any, post: Any) -> None:
        threads.append(threading.get_ident())
        await post(Done("end_turn"))

    async def models(setup: Any) -> Any:
        threads.append(threading.get_ident())
        return []

    plugins = await started(respond, models=models)
    await plugins.respond()
    await plugins.providers.models("p")
    assert threads
    assert threading.get_ident() not in threads


async def test_a_slow_front_end_holds_the_provider_back(started: Any):
    posted = 0

    async def respond(request: Any, post: Any) -> None:
        nonlocal posted
        for _ in range(20_000):
            await post(Delta("x"))
            posted += 1
        await post(Done("end_turn"))

    plugins = await started(respond)
    handle = plugins.providers.current()
    taken = 0
    furthest = 0

    async def sink(events: Any) -> None:
        nonlocal taken, furthest
        await anyio.sleep(0.001)
        furthest = max(furthest, posted - taken)
        taken += len(events)

    await handle.respond(plugins.request(handle), sink)
    assert taken == 20_001
    assert furthest <= 1_001


async def test_G08_one_that_returns_without_a_word_fails(started: Any):
    async def respond(request: Any, post: Any) -> None:
        post(Delta("half"))

    got = await (await started(respond)).respond()
    assert got[0] == Delta("half")
    (end,) = got[1:]
    assert isinstance(end, Failure)
    assert end.kind == "unexpected_response"
    assert "p (dist-one 0)" in end.message


@pytest.mark.parametrize(
    "error",
    [RuntimeError("with\nline"), SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit()],
    ids=repr,
)
async def test_A44_one_that_raises_is_named_and_the_report_kept(started: Any, expect_log: Any, error: BaseException):
    expect_log(FAULT)

    async def respond(request: Any, post: Any) -> None:
        await post(Delta("half\ud83c"))
        raise error

    plugins = await started(respond)
    got = await plugins.respond()
    assert got[:-1] == [Delta("half"), Delta("\ufffd")]
    end = got[-1]
    assert isinstance(end, Failure)
    assert end.kind == "internal"
    assert "Provider p (dist-one 0) failed: " in end.message
    assert type(error).__name__ in end.message
    assert "\n" not in end.message
    assert "dist-one" in end.action
    assert "in respond" in plugins.plugin().report
    assert plugins.plugin().status == "on"


async def test_a_fault_names_where_to_report_it(started: Any, expect_log: Any):
    expect_log(FAULT)

    async def respond(request: Any, post: Any) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, int, "seven")

    got = await (await started(respond, homepage="https://p.test/issues")).respond()
    assert "https://p.test/issues" in got[-1].action
    assert "ValueError: invalid literal" in got[-1].message  # not the group around it


async def test_an_error_of_the_contract_is_said_without_a_traceback(started: Any):
    async def respond(request: Any, post: Any) -> None:
        raise errors.pop()

    errors = [PluginError("what", "do"), ProviderError("rate_limited", "slow", "wait")]
    plugins = await started(respond)
    assert await plugins.respond() == [Failure("rate_limited", "slow", "wait")]
    assert await plugins.respond() == [Failure("internal", "what", "do")]


async def test_S04_S06_N4_a_secret_in_a_failure_is_masked_in_message_log_and_report(
    started: Any, expect_log: Any, caplog: Any
):
    expect_log(FAULT)
    key = "sk-canary-0123456789"

    async def respond(request: Any, post: Any) -> None:
        secret = request.setup.secret("key")
        if request.messages[0].blocks[0].text == "raise":
            raise ValueError(f"Invalid header value {secret!r}")
        await post(Waiting(0, f"with {secret}"))
        await post(Failure("server", f"refused {secret}", f"replace {secret}"))

    plugins = await started(respond, secrets=(SecretSpec("key", "Key"),))
    plugins.secrets.set("p", "key", key + "\r\n")
    assert await plugins.respond(text="fail") == [
        Waiting(0, "with [secret p/key]"),
        Failure("server", "refused [secret p/key]", "replace [secret p/key]"),
    ]
    got = await plugins.respond(text="raise")
    for text in (got[-1].message, plugins.plugin().report, caplog.text):
        assert key not in text
        assert "[secret p/key]" in text


async def test_one_that_goes_on_after_its_end_is_stopped_and_not_heard(started: Any):
    cancelled = threading.Event()

    async def respond(request: Any, post: Any) -> None:
        await post(Done("end_turn"))
        try:
            while True:
                await post(Delta("more"))
                await post(Failure("server", "m", "a"))
        finally:
            cancelled.set()

    assert await (await started(respond)).respond() == [Done("end_turn")]
    assert cancelled.is_set()


async def test_one_that_raises_after_its_end_is_only_reported(started: Any, expect_log: Any):
    expect_log(FAULT)

    async def respond(request: Any, post: Any) -> None:
        await post(Done("end_turn"))
        raise ValueError("late")

    plugins = await started(respond)
    assert await plugins.respond() == [Done("end_turn")]
    assert "late" in plugins.plugin().report


async def test_one_that_posts_nonsense_is_cut_off(started: Any):
    async def respond(request: Any, post: Any) -> None:
        await post(Delta("a"))
        await post("nonsense")
        await anyio.sleep(1000)

    got = await (await started(respond)).respond()
    assert got[0] == Delta("a")
    assert isinstance(got[1], Failure)
    assert got[1].message == "Provider p (dist-one 0) posted what it must not: a str is no event."
    assert len(got) == 2


async def test_an_event_that_fights_back_when_it_is_looked_at_is_contained(started: Any, expect_log: Any):
    expect_log(FAULT)

    class Bomb(dict[str, Any]):
        def items(self) -> Any:
            sys.exit(9)

    async def respond(request: Any, post: Any) -> None:
        await post(ToolCall("1", "t", Bomb(a=1)))

    got = await (await started(respond)).respond()
    assert len(got) == 1
    assert "SystemExit" in got[0].message


async def test_one_that_hangs_is_ended_after_its_time(started: Any):
    async def respond(request: Any, post: Any) -> None:
        await post(Delta("a"))
        await anyio.sleep(1000)

    got = await (await started(respond)).respond(idle_timeout=0.1)
    assert got[0] == Delta("a")
    assert isinstance(got[1], Failure)
    assert "sent nothing" in got[1].message


async def test_an_announced_wait_is_no_hang(started: Any):
    async def respond(request: Any, post: Any) -> None:
        await post(Waiting(100, "busy"))
        await anyio.sleep(0.4)
        await post(Done("end_turn"))

    assert await (await started(respond)).respond(idle_timeout=0.1) == [Waiting(100, "busy"), Done("end_turn")]


async def test_one_that_blocks_its_loop_is_named_and_others_answer(plugins: Any, provider: Any, expect_log: Any):
    expect_log(BLOCKED)
    expect_log(BLOCKED_STATUS)
    release = threading.Event()

    async def block(request: Any, post: Any) -> None:
        await post(Delta("a"))
        release.wait()

    async def answer(request: Any, post: Any) -> None:
        await post(Done("end_turn"))

    plugins.give(provider(block))
    plugins.give(provider(answer, name="q"), plugin="two", distribution="dist-two")
    await plugins.host.start()
    got = await plugins.respond("p")
    assert got[0] == Delta("a")
    assert isinstance(got[1], Failure)
    assert "p (dist-one 0) blocked its event loop" in got[1].message
    assert plugins.plugin("one").status == "failed"
    assert "blocked its loop" in plugins.plugin("one").reason
    assert "release.wait()" in plugins.plugin("one").report
    assert [shown.name for shown in plugins.providers.list()] == ["q"]
    assert await plugins.respond("q") == [Done("end_turn")]
    # It stays selected: what was meant for one provider does not go to another.
    (end,) = await plugins.respond("p")
    assert end.kind == "not_configured"
    assert "q" in end.action
    release.set()


async def test_an_answer_that_another_plugin_cut_off_names_it(plugins: Any, provider: Any, expect_log: Any):
    expect_log(BLOCKED)
    expect_log(BLOCKED_STATUS)
    release, begun = threading.Event(), anyio.Event()

    async def block(setup: Any) -> Any:
        release.wait()

    async def answer(request: Any, post: Any) -> None:
        await post(Delta("a"))
        await anyio.sleep(1000)

    plugins.give(provider(models=block))
    plugins.give(provider(answer, name="q"), plugin="two", distribution="dist-two")
    await plugins.host.start()
    got: list[Any] = []
    plugins.providers.select("q", None)
    handle = plugins.providers.current()

    def sink(events: Any) -> None:
        got.extend(events)
        begun.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(handle.respond, plugins.request(handle), sink)
        await begun.wait()
        with pytest.raises(RioError, match=r"p .* blocked its event loop"):
            await plugins.providers.models("p")
    assert got[0] == Delta("a")
    assert "plugin one blocked its loop" in got[1].message
    assert plugins.plugin("two").status == "on"
    assert len(got) == 2
    # A handle of a plugin that is off still ends an answer well.
    handle = plugins.providers._handle("q")
    handle._plugin = "one"
    (end,) = await _one_answer(plugins, handle)
    assert "blocked its event loop and is off" in end.message
    release.set()


async def _one_answer(plugins: Any, handle: Any) -> list[Any]:
    got: list[Any] = []
    await handle.respond(plugins.request(handle), got.extend)
    return got


async def test_the_end_of_the_core_ends_an_answer(started: Any):
    begun = anyio.Event()

    async def respond(request: Any, post: Any) -> None:
        await post(Delta("a"))
        await anyio.sleep(1000)

    plugins = await started(respond)
    handle = plugins.providers.current()
    got: list[Any] = []

    def sink(events: Any) -> None:
        got.extend(events)
        begun.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(handle.respond, plugins.request(handle), sink)
        await begun.wait()
        await plugins.host.stop()
    assert len(got) == 2
    assert "as rio ends" in got[1].message


async def test_stopping_closes_within_a_second_also_one_that_swallows_it(started: Any):
    free = threading.Event()

    async def respond(request: Any, post: Any) -> None:
        await post(Delta("a"))
        while not free.is_set():
            with contextlib.suppress(BaseException):
                await anyio.sleep(0.05)

    plugins = await started(respond)
    handle = plugins.providers.current()
    got: list[Any] = []
    with anyio.fail_after(30), anyio.CancelScope() as turn:

        def sink(events: Any) -> None:
            got.extend(events)
            turn.cancel()

        await handle.respond(plugins.request(handle), sink)
    assert turn.cancelled_caught
    assert got == [Delta("a")]
    free.set()


async def test_stopping_lets_a_good_provider_close_its_connection(started: Any):
    closed = threading.Event()

    async def respond(request: Any, post: Any) -> None:
        await post(Delta("a"))
        try:
            await anyio.sleep(1000)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.05)
                closed.set()

    plugins = await started(respond)
    handle = plugins.providers.current()
    with anyio.CancelScope() as turn:
        await handle.respond(plugins.request(handle), lambda _: turn.cancel())
    assert closed.is_set()


async def test_an_error_of_the_front_end_is_not_the_providers(started: Any):
    async def respond(request: Any, post: Any) -> None:
        await post(Delta("a"))
        await anyio.sleep(1000)

    plugins = await started(respond)
    handle = plugins.providers.current()

    def sink(events: Any) -> None:
        raise OSError("full disk")

    with pytest.raises(OSError, match="full disk"):
        await handle.respond(plugins.request(handle), sink)


async def test_a_missing_secret_is_told_before_the_provider_is_asked(started: Any):
    async def respond(request: Any, post: Any) -> None:
        raise AssertionError

    (end,) = await (await started(respond, secrets=(SecretSpec("key", "API key"),))).respond()
    assert end.kind == "not_configured"
    assert "API key" in end.message
    assert "rio-core secret set p key" in end.action


async def test_S12_G09_no_secret_is_within_reach_of_a_request(started: Any):
    key = "sk-canary-0123456789"
    seen: list[str] = []

    async def respond(request: Any, post: Any) -> None:
        seen.append(repr(request))
        seen.extend(_texts(request))
        assert request.setup.secret("key") == key
        try:
            request.setup.secret("other")
        except LookupError as error:
            seen.append(str(error))
        await post(Done("end_turn"))

    plugins = await started(respond, secrets=(SecretSpec("key", "Key"),))
    plugins.secrets.set("p", "key", key)
    plugins.secrets.mask("the values are known to the core by now")
    assert await plugins.respond() == [Done("end_turn")]
    assert key not in "".join(seen)
    assert "'other' is not among" in "".join(seen)


def _texts(start: Any) -> Iterator[str]:
    """Every text that can be reached from an object, the nearest first."""
    known: dict[int, Any] = {}
    waiting = deque([start])
    while waiting and len(known) < 20_000:
        value = waiting.popleft()
        if id(value) in known or isinstance(value, types.ModuleType | type):
            continue
        known[id(value)] = value
        if isinstance(value, str | bytes):
            yield repr(value)
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
        else:
            waiting += [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
            waiting += [getattr(value, name, None) for name in dir(value) if not name.startswith("__")]


# -- models ------------------------------------------------------------------------------------------------------------


async def test_models_are_given_in_their_order(started: Any):
    async def models(setup: Any) -> Any:
        return [Model("b", "B", {"price": 1}), Model("a\ud800", "A")]

    got = await (await started(models=models)).providers.models(None)
    assert [(model.id, model.title, model.detail) for model in got] == [("b", "B", {"price": 1}), ("a\ufffd", "A", {})]


@pytest.mark.parametrize(
    "given",
    [
        7,
        "text",
        None,
        [None],
        [Model("", "t")],
        [Model("a", None)],
        [Model("a", "A", {"x": object()})],
        [Model(1, "A")],
    ],  # type: ignore[arg-type]
)
async def test_models_that_are_none_are_a_fault(started: Any, expect_log: Any, given: Any):
    expect_log(FAULT)

    async def models(setup: Any) -> Any:
        return given

    plugins = await started(models=models)
    with pytest.raises(RioError, match=r"p \(dist-one 0\) failed") as caught:
        await plugins.providers.models("p")
    assert caught.value.kind == "internal"


async def test_models_that_cannot_be_had_are_no_fault(started: Any):
    async def models(setup: Any) -> Any:
        raise ProviderError("network", "no way to there", "plug it in")

    plugins = await started(models=models)
    with pytest.raises(RioError, match="no way to there") as caught:
        await plugins.providers.models("p")
    assert (caught.value.kind, caught.value.action) == ("conflict", "plug it in")


async def test_models_that_block_are_named(started: Any, expect_log: Any):
    expect_log(BLOCKED)
    expect_log(BLOCKED_STATUS)
    release = threading.Event()

    async def models(setup: Any) -> Any:
        release.wait()

    plugins = await started(models=models)
    with pytest.raises(RioError, match="blocked its event loop"):
        await plugins.providers.models("p")
    release.set()


async def test_models_that_never_come_are_given_up(started: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("rio_core._engine.plugins.handle.MODELS_WITHIN", 0.1)

    async def models(setup: Any) -> Any:
        await anyio.sleep(1000)

    plugins = await started(models=models)
    with pytest.raises(RioError, match="did not list its models"):
        await plugins.providers.models("p")
