"""What is taken of what a provider posts."""

import asyncio
import threading
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.plugins.posted import checked, plain, whole
from rio_core._engine.plugins.stream import FLOODED, FULL, Stream
from rio_core.api import Delta, Done, Failure, Native, Posted, Thinking, ToolCall, Usage, Waiting
from support.profiles import examples

pytestmark = pytest.mark.anyio


def fault(reason: str) -> Failure:
    return Failure("internal", reason, "report")


async def through(*events: Any) -> list[Posted]:
    stream = Stream(fault)
    for event in events:
        stream.post(event)
    return stream.end(fault("no end"))


def texts(events: list[Posted], kind: type[Delta | Thinking] = Delta) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


async def test_a_character_cut_in_two_is_joined():
    assert await through(Delta("a\ud83c"), Delta("\udf89b"), Done("end_turn")) == [
        Delta("a"),
        Delta("🎉b"),
        Done("end_turn"),
    ]


async def test_a_half_at_the_end_of_one_kind_is_not_joined_with_another():
    got = await through(Delta("a\ud83c"), Thinking("\udf89b"), Delta("c"), Done("end_turn"))
    assert got == [Delta("a"), Delta("\ufffd"), Thinking("\ufffdb"), Delta("c"), Done("end_turn")]


async def test_a_half_before_a_call_or_an_end_is_replaced_in_its_place():
    got = await through(Delta("\ud83c"), ToolCall("1", "t", {}), Thinking("\ud83c"))
    assert got[:3] == [Delta("\ufffd"), ToolCall("1", "t", {}), Thinking("\ufffd")]
    assert isinstance(got[3], Failure)


async def test_usage_and_waiting_do_not_stand_between_two_halves():
    got = await through(Delta("\ud83c"), Usage(), Waiting(1, "r"), Delta("\udf89"))
    assert texts(got) == "🎉"


@given(st.lists(st.text(st.sampled_from("ab🎉\ud83c\udf89é"), max_size=5)))
@examples(ci=300, deep=3000)
async def test_invariant_12_any_split_gives_the_same_text(pieces: list[str]):
    joined = texts(await through(*map(Delta, pieces), Done("end_turn")))
    assert joined == whole("".join(pieces), "it")
    joined.encode()


async def test_every_text_of_every_event_is_whole():
    bad, good = "x\ud800y", "x\ufffdy"
    got = await through(
        Delta(bad),
        Thinking(bad),
        ToolCall(bad, bad, {bad: [bad, {bad: bad}]}),
        ToolCall("2", "t", bad),
        Native({bad: bad}, alone=True),
        Waiting(1, bad),
        Usage(estimate=bad, detail={bad: bad}),
        Done(bad, Usage(estimate=bad), bad),
    )
    assert got == [
        Delta(good),
        Thinking(good),
        ToolCall(good, good, {good: [good, {good: good}]}),
        ToolCall("2", "t", good),
        Native({good: good}, alone=True),
        Waiting(1, good),
        Usage(estimate=good, detail={good: good}),
        Done(good, Usage(estimate=good), good),
    ]
    assert await through(Failure("server", bad, bad)) == [Failure("server", good, good)]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


LOOP: dict[str, Any] = {}
LOOP["loop"] = LOOP


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (None, "NoneType is no event"),
        ("text", "str is no event"),
        ({"text": "x"}, "dict is no event"),
        (Delta, "type is no event"),
        (Delta(None), "not text"),  # type: ignore[arg-type]
        (Delta(b"x"), "not text"),  # type: ignore[arg-type]
        (Thinking(1), "not text"),  # type: ignore[arg-type]
        (ToolCall(None, "t", {}), "the id of a ToolCall"),  # type: ignore[arg-type]
        (ToolCall("1", 2, {}), "the name of a ToolCall"),  # type: ignore[arg-type]
        (ToolCall("1", "t", None), "the input of a ToolCall"),  # type: ignore[arg-type]
        (ToolCall("1", "t", [1]), "the input of a ToolCall"),  # type: ignore[arg-type]
        (ToolCall("1", "t", {"a": {1, 2}}), "holds a set"),
        (ToolCall("1", "t", {"a": b"x"}), "holds a bytes"),
        (ToolCall("1", "t", {"a": float("nan")}), "holds a float"),
        (ToolCall("1", "t", {"a": 10**5000}), "holds a int"),
        (ToolCall("1", "t", {1: "x"}), "a name in the input"),  # type: ignore[dict-item]
        (ToolCall("1", "t", {"a": nested(1000)}), "nested deeper"),
        (ToolCall("1", "t", LOOP), "nested deeper"),
        (Native(object()), "holds a object"),
        (Waiting(-1, "r"), "seconds"),
        (Waiting(float("inf"), "r"), "seconds"),
        (Waiting("5", "r"), "seconds"),  # type: ignore[arg-type]
        (Waiting(1, None), "reason"),  # type: ignore[arg-type]
        (Usage(input=-1), "count"),
        (Usage(output=1.5), "count"),  # type: ignore[arg-type]
        (Usage(cost=float("nan")), "cost"),
        (Usage(detail={"a": object()}), "detail"),
        (Usage(detail=[]), "detail"),  # type: ignore[arg-type]
        (Done(None), "stop"),  # type: ignore[arg-type]
        (Done("end_turn", 7), "usage"),  # type: ignore[arg-type]
        (Done("end_turn", None, 7), "detail"),  # type: ignore[arg-type]
        (Failure("odd", "m", "a"), "'odd'"),  # type: ignore[arg-type]
        (Failure("server", None, "a"), "message"),  # type: ignore[arg-type]
        (Failure("server", "m", None), "action"),  # type: ignore[arg-type]
    ],
)
async def test_what_is_no_event_ends_the_answer_and_is_named(event: Any, says: str):
    got = await through(Delta("before"), event, Delta("after"), Done("end_turn"))
    assert got[0] == Delta("before")
    assert len(got) == 2
    assert isinstance(got[1], Failure)
    assert says in got[1].message


@pytest.mark.parametrize("end", [Done("end_turn"), Failure("server", "m", "a")])
async def test_after_the_end_nothing_is_taken(end: Any):
    assert await through(Delta("a"), end, Delta("b"), Done("x"), None, Failure("server", "x", "y")) == [Delta("a"), end]


async def test_what_was_posted_cannot_be_changed_afterwards():
    given_input: dict[str, Any] = {"list": [1]}
    stream = Stream(fault)
    stream.post(ToolCall("1", "t", given_input))
    given_input["list"].append(object())
    (call, _) = stream.end(fault(""))
    assert call == ToolCall("1", "t", {"list": [1]})


def test_the_types_of_a_subclass_become_plain():
    class Sly(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise AssertionError

    event = checked(ToolCall(Sly("1"), Sly("t"), {Sly("k"): Sly("v")}))
    assert isinstance(event, ToolCall)
    assert isinstance(event.input, dict)
    ((key, value),) = event.input.items()
    assert [type(each) for each in (event.id, event.name, key, value)] == [str] * 4
    assert plain((1, 2.5, None, True), "it") == [1, 2.5, None, True]


async def test_a_post_waits_exactly_when_more_than_1000_events_are_on_their_way():
    stream = Stream(fault)
    for _ in range(FULL):
        with anyio.fail_after(5):
            await stream.post(Delta("x"))
    passed = anyio.Event()

    async def post_one_more() -> None:
        await stream.post(Delta("y"))
        passed.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(post_one_more)
        await anyio.sleep(0.05)
        events = await stream.next()
        assert len(events) == FULL + 1  # it took effect at once
        assert not passed.is_set()
        stream.delivered(1)
        with anyio.fail_after(5):
            await passed.wait()


async def test_a_provider_that_never_awaits_is_ended_before_it_fills_the_memory():
    stream = Stream(fault)
    for _ in range(FLOODED + 10):
        stream.post(Delta("x"))
    events = stream.end(fault("no end"))
    assert len(events) == FLOODED + 2
    assert isinstance(events[-1], Failure)
    assert "without awaiting" in events[-1].message


async def test_who_posts_on_after_the_end_lets_others_run():
    stream = Stream(fault)
    stream.post(Done("end_turn"))

    async def never_stop() -> None:
        while True:
            await stream.post(Delta("x"))

    with anyio.move_on_after(0.05) as scope:
        await never_stop()
    assert scope.cancelled_caught


async def test_posts_of_many_threads_are_all_taken():
    stream = Stream(fault)
    threads = [threading.Thread(target=lambda: [stream.post(Delta("x")) for _ in range(1000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    got = 0
    with anyio.fail_after(30):
        while got < 4000:
            events = await stream.next()
            got += len(events)
            stream.delivered(len(events))
    for thread in threads:
        thread.join()
    assert texts(stream.end(fault(""))) == ""
    await asyncio.sleep(0)
