"""Echo as the core calls it: requests in, posted events out."""

import json

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core.api import (
    LEVEL,
    OLDEST_LEVEL,
    Delta,
    Done,
    Failure,
    Message,
    Posted,
    Request,
    Setup,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Usage,
)
from rio_provider_echo import rio_level, rio_providers
from rio_provider_echo.provider import Echo
from support import strict
from support.profiles import examples

pytestmark = pytest.mark.anyio


async def answer(*messages: Message, delay: float = 0) -> list[Posted]:
    request = Request(messages, [], [], Setup({"delay": delay}, lambda _: None), "c", "x")
    posted: list[Posted] = []

    async def post(event: Posted) -> None:
        posted.append(event)

    await Echo().respond(request, post)
    return posted


def said(text: str) -> Message:
    return Message("user", (Text(text),))


def text_of(events: list[Posted]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


def as_message(events: list[Posted]) -> Message:
    text = text_of(events)
    blocks = [Text(text)] if text else []
    calls = [
        ToolUse(call.id, call.name, call.input if isinstance(call.input, dict) else {})
        for call in events
        if isinstance(call, ToolCall)
    ]
    return Message("assistant", (*blocks, *calls))


def results(message: Message) -> Message:
    return Message("user", tuple(ToolResult(block.id, "ok") for block in message.blocks if isinstance(block, ToolUse)))


def test_the_plugin_gives_one_provider_of_the_present_level():
    (provider,) = rio_providers()
    assert provider.info.name == "echo"
    assert OLDEST_LEVEL <= rio_level <= LEVEL


@given(st.text().filter(lambda text: not any(line.startswith("/") for line in text.split("\n"))))
@examples(ci=200, deep=2000)
async def test_a_message_is_repeated_exactly(text: str):
    events = await answer(said(text))
    assert text_of(events) == f"echo: {text}"
    assert events[-1] == Done("end_turn", Usage(input=len(text.split()), output=len(text.split()) + 1))
    assert all(len(event.text.split()) <= 1 for event in events if isinstance(event, Delta))
    assert all(event.text for event in events if isinstance(event, Delta))


async def test_words_come_one_by_one():
    events = await answer(said("Good  morning,\r\n rio.\n"))
    assert [event.text for event in events if isinstance(event, Delta)] == [
        "echo:",
        " Good",
        "  morning,",
        "\r\n rio.",
        "\n",
    ]


async def test_the_delay_is_between_the_words(monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    await answer(said("a b c"), delay=0.25)
    assert slept == [0.25, 0.25, 0.25]


async def test_a_step_each():
    assert await answer(said("/think Hm hm\n/say Hello there\n/say again\n/flood 3\n/say end")) == [
        Thinking("Hm"),
        Thinking(" hm"),
        Delta("Hello"),
        Delta(" there"),
        Delta("\nagain"),
        Delta("1 "),
        Delta("2 "),
        Delta("3 "),
        Delta("\nend"),
        Done("end_turn"),
    ]


async def test_calls_stop_with_tool_use_unless_something_else_is_said():
    assert await answer(said('/tool a {"x": [1]}\n/raw-tool b {oops')) == [
        ToolCall("echo-1", "a", {"x": [1]}),
        ToolCall("echo-2", "b", "{oops"),
        Done("tool_use"),
    ]
    assert (await answer(said("/tool a {}\n/stop max_tokens")))[-1] == Done("max_tokens")
    failed = (await answer(said("/tool a {}\n/fail server It broke")))[-1]
    assert isinstance(failed, Failure)
    assert (failed.kind, failed.message) == ("server", "It broke")
    assert failed.action


async def test_raise_and_silent():
    with pytest.raises(RuntimeError, match=r"^Boom$"):
        await answer(said("/raise Boom"))
    assert await answer(said("/say half\n/silent")) == [Delta("half")]


async def test_a_pause_can_be_cancelled_at_once():
    with anyio.fail_after(30), anyio.move_on_after(0.05) as scope:
        await answer(said("/pause 86400"))
    assert scope.cancelled_caught


async def test_a_mistake_plays_nothing_and_is_told():
    events = await answer(said("/say fine\n/sya wrong"))
    assert text_of(events).startswith("echo: line 2: there is no step /sya;")
    assert events[-1] == Done("end_turn")


async def test_a_script_goes_on_after_the_results_and_ends():
    script = said("/say one\n/tool a {}\n/tool a {}\n/then\n/tool b {}\n/then\n/say three")
    conversation = [script]
    texts, ids = [], []
    for _ in range(3):
        events = await answer(*conversation)
        message = as_message(events)
        texts.append(text_of(events))
        ids += [block.id for block in message.blocks if isinstance(block, ToolUse)]
        conversation += [message]
        if (events[-1].stop if isinstance(events[-1], Done) else "") == "tool_use":
            conversation.append(results(message))
    assert texts == ["one", "", "three"]
    assert ids == ["echo-1", "echo-2", "echo-3"]
    assert strict.faults(conversation) == []


async def test_after_the_last_step_the_turn_ends():
    first = as_message(await answer(said("/tool a {}")))
    events = await answer(said("/tool a {}"), first, results(first))
    assert text_of(events) == "echo: done"
    assert events[-1] == Done("end_turn")


async def test_the_newest_text_counts_also_behind_results_and_unanswered_texts():
    first = as_message(await answer(said("/tool a {}\n/then\n/say next")))
    interrupted = Message("user", (*results(first).blocks, Text("never mind")))
    assert text_of(await answer(said("/tool a {}"), first, interrupted)) == "echo: never mind"
    # A failed turn without text leaves its message unanswered; the next text joins it.
    assert text_of(await answer(Message("user", (Text("/fail server x"), Text("hello"))))) == "echo: hello"


async def test_ids_are_the_same_for_the_same_conversation_and_never_taken():
    taken = Message("assistant", (ToolUse("echo-1", "a", {}), ToolUse("echo-3", "a", {})))
    conversation = (
        said("x"),
        taken,
        results(taken),
        Message("assistant", (Text("y"),)),
        said("/tool a {}\n/tool a {}"),
    )
    for _ in range(2):
        events = await answer(*conversation)
        assert [call.id for call in events if isinstance(call, ToolCall)] == ["echo-2", "echo-4"]


async def test_results_without_any_text_end_the_turn():
    assert text_of(await answer(Message("user", (ToolResult("x", "y"),)))) == "echo: "


async def test_no_state_is_kept_between_answers():
    echo = Echo()
    before = dict(vars(echo))
    await answer(said("/tool a {}\n/then\n/say b"))
    assert vars(echo) == before == {}


async def test_models_are_one():
    (model,) = await Echo().models(Setup({"delay": 0}, lambda _: None))
    assert model.id == "echo"
    json.dumps(model.detail)
