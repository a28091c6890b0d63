"""Requests: what is sent, and what never is."""

import json
from itertools import product
from typing import Any

import pytest

from claude import strict_rules
from claude.rig import asked, setup
from rio_core.api import Message, Opaque, Text, Thought, ToolResult, ToolSpec, ToolUse
from rio_provider_claude.inference.capability import Capability
from rio_provider_claude.inference.jsons import encode
from rio_provider_claude.inference.shape import shaped
from rio_provider_claude.inference.table import table

TOOLS = (
    ToolSpec("fs_list", "Lists.", {"type": "object", "properties": {}}),
    ToolSpec("fs_read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),
)
THOUGHT = Thought("Hm.", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
REDACTED = Thought("", {"type": "redacted_thinking", "data": "b3BhcXVl"})
USER = Message("user", (Text("Hello."),))
MARK = {"type": "ephemeral"}


def sent(*messages: Message, model: str = "claude-opus-5-5", settings: Any = None, **more: Any) -> dict[str, Any]:
    wanted = {"max_tokens": 0, "effort": "default", "thinking": "summarized"} | (settings or {})
    capability = table().model(model) or Capability(model, model)
    return shaped(asked(setup("http://127.0.0.1:1"), *messages, **more), capability, **wanted)


def content(*blocks: Any, role: Any = "assistant") -> list[dict[str, Any]]:
    """What becomes of the blocks of an old message."""
    around = (USER, Message(role, blocks), USER) if role == "assistant" else (Message(role, blocks),)
    messages = sent(*around)["messages"]
    return [
        {key: value for key, value in block.items() if key != "cache_control"}
        for message in messages[1:2] if message["role"] == role
        for block in message["content"]
    ] if role == "assistant" else messages[0]["content"]  # fmt: skip


def test_a_whole_request() -> None:
    body = sent(USER, tools=TOOLS, system=("You are rio.", "Be brief."), settings={"effort": "low"})
    assert body == {
        "model": "claude-opus-5-5",
        "max_tokens": 64_000,
        "stream": True,
        "output_config": {"effort": "low"},
        "thinking": {"type": "adaptive", "display": "summarized"},
        "tools": [
            {"name": "fs_list", "description": "Lists.", "input_schema": TOOLS[0].input_schema},
            {"name": "fs_read", "description": "Reads.", "input_schema": TOOLS[1].input_schema, "cache_control": MARK},
        ],
        "system": [
            {"type": "text", "text": "You are rio."},
            {"type": "text", "text": "Be brief.", "cache_control": MARK},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello.", "cache_control": MARK}]}],
    }


def test_nothing_is_sent_for_what_is_not_there() -> None:
    assert set(sent(USER, system=(), model="claude-next-9")) == {"model", "max_tokens", "stream", "messages"}


@pytest.mark.parametrize("model", sorted(strict_rules.MODELS))
def test_nothing_is_sent_that_the_model_refuses(model: str) -> None:
    headers = [("x-api-key", "k"), ("anthropic-version", "2026-10-21"), ("content-type", "application/json")]
    # The highest number is the user's own business with a model that nobody knows.
    tokens = (0, 1) if model == "claude-unlisted-1" else (0, 1, 1_000_000)
    for effort, thinking, limit in product(
        ("default", *strict_rules.ALL, "absurd"), ("summarized", "omitted", "off"), tokens
    ):
        settings = {"effort": effort, "thinking": thinking, "max_tokens": limit}
        assert strict_rules.refused(sent(USER, model=model, settings=settings), headers) is None, settings


@pytest.mark.parametrize(
    ("model", "wanted", "expected"),
    [
        ("claude-opus-4-6", "xhigh", "high"), ("claude-opus-4-6", "max", "max"),
        ("claude-opus-4-5-20251101", "max", "high"), ("claude-opus-5-5", "xhigh", "xhigh"),
        ("claude-haiku-4-5", "max", None), ("claude-next-9", "low", None), ("claude-opus-5-5", "default", None),
    ],
)  # fmt: skip
def test_effort_falls_to_what_the_model_takes(model: str, wanted: str, expected: str | None) -> None:
    body = sent(USER, model=model, settings={"effort": wanted})
    assert body.get("output_config") == ({"effort": expected} if expected else None)


@pytest.mark.parametrize(
    ("model", "wanted", "effort", "expected"),
    [
        ("claude-opus-5-5", "off", "default", {"type": "adaptive", "display": "omitted"}),
        ("claude-opus-5", "off", "default", {"type": "disabled"}),
        ("claude-opus-5", "off", "high", {"type": "disabled"}),
        ("claude-opus-5", "off", "xhigh", {"type": "adaptive", "display": "omitted"}),
        ("claude-opus-4-8", "omitted", "default", {"type": "adaptive", "display": "omitted"}),
        ("claude-haiku-4-5", "summarized", "default", None),
        ("claude-next-9", "off", "default", None),
    ],
)
def test_thinking_is_what_the_model_can(model: str, wanted: str, effort: str, expected: Any) -> None:
    assert sent(USER, model=model, settings={"thinking": wanted, "effort": effort}).get("thinking") == expected


@pytest.mark.parametrize(
    ("model", "wanted", "expected"),
    [
        ("claude-opus-5-5", 0, 64_000), ("claude-opus-5-5", 200_000, 128_000), ("claude-opus-5-5", 9, 9),
        ("claude-haiku-4-5", 100_000, 64_000), ("claude-next-9", 0, 8_192), ("claude-next-9", 20_000, 20_000),
    ],
)  # fmt: skip
def test_the_token_limit(model: str, wanted: int, expected: int) -> None:
    assert sent(USER, model=model, settings={"max_tokens": wanted})["max_tokens"] == expected


def test_R5_what_the_service_bound_to_its_place_is_sent_as_it_came() -> None:
    cited = {"type": "text", "text": "So.", "citations": [{"type": "char_location"}]}
    used = {"type": "tool_use", "id": "t1", "name": "fs_read", "input": {"a": 1}, "caller": {"type": "direct"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    blocks = content(THOUGHT, REDACTED, Text("So.", cited), Opaque(found), ToolUse("t1", "fs_read", {"a": 1}, used))
    assert blocks == [THOUGHT.native, REDACTED.native, cited, found, used]


def test_natives_are_not_changed_by_sending() -> None:
    native = {"type": "text", "text": "Hello."}
    message = Message("user", (Text("Hello.", native),))
    assert "cache_control" in sent(message)["messages"][0]["content"][0]
    assert native == {"type": "text", "text": "Hello."}


def test_the_plain_form_goes_before_a_native_one_that_differs() -> None:
    used = {"type": "tool_use", "id": "t1", "name": "old", "input": {"a": 1}, "caller": {"type": "direct"}}
    assert content(Text("New.", {"type": "text", "text": "Old."}), ToolUse("t2", "fs_read", {"b": 2}, used)) == [
        {"type": "text", "text": "New."},
        {"type": "tool_use", "id": "t2", "name": "fs_read", "input": {"b": 2}, "caller": {"type": "direct"}},
    ]


@pytest.mark.parametrize("native", [None, 3, "x", [], {}, {"type": 3}, {"type": "image"}])
def test_a_native_form_that_is_none_is_not_sent(native: Any) -> None:
    assert content(Thought("Hm.", native), Text("So.", native), ToolUse("t1", "fs_read", {}, native)) == [
        {"type": "text", "text": "So."},
        {"type": "tool_use", "id": "t1", "name": "fs_read", "input": {}},
    ]


def test_R3_blank_blocks_are_left_out() -> None:
    blank = Text("\n \n", {"type": "text", "text": "\n \n"})
    assert content(blank, Text("So."), Text("")) == [{"type": "text", "text": "So."}]
    messages = sent(USER, Message("assistant", (blank,)), Message("user", (Text("Go on."),)))["messages"]
    assert [[block["text"] for block in message["content"]] for message in messages] == [["Hello.", "Go on."]]


@pytest.mark.parametrize(
    ("text", "wrong", "expected"),
    [
        ("1: x\n", False, {"content": "1: x\n"}), ("", False, {}), ("\n", False, {}),
        ("no", True, {"content": "no", "is_error": True}), ("", True, {"content": "(no message)", "is_error": True}),
    ],
)  # fmt: skip
def test_R3_results(text: str, wrong: bool, expected: dict[str, Any]) -> None:
    blocks = content(ToolResult("t1", text, wrong), role="user")
    assert {key: value for key, value in blocks[0].items() if key != "cache_control"} == {
        "type": "tool_result", "tool_use_id": "t1", **expected,
    }  # fmt: skip


def test_results_stay_first_where_messages_are_joined() -> None:
    call = Message("assistant", (ToolUse("t1", "fs_read", {}),))
    messages = sent(
        USER, call, Message("user", (Text("Stop."),)), Message("assistant", (Text(" "),)),
        Message("user", (ToolResult("t1", "x"), Text("Go on."))),
    )["messages"]  # fmt: skip
    assert [block["type"] for block in messages[2]["content"]] == ["tool_result", "text", "text"]
    assert [block.get("text") for block in messages[2]["content"]] == [None, "Stop.", "Go on."]


def test_a_message_does_not_end_in_a_thought() -> None:
    assert content(Text("So."), THOUGHT, REDACTED) == [{"type": "text", "text": "So."}]
    assert [message["role"] for message in sent(USER, Message("assistant", (THOUGHT,)), USER)["messages"]] == ["user"]


def test_R9_a_paused_message_goes_back_unchanged_and_its_open_call_goes_when_the_user_speaks() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    paused = Message("assistant", (Text("Searching."), Opaque(search), THOUGHT))
    assert sent(USER, paused)["messages"][-1]["content"] == [
        {"type": "text", "text": "Searching."},
        search,
        THOUGHT.native,
    ]
    assert content(*paused.blocks, Text("So.")) == [
        {"type": "text", "text": "Searching."},
        {"type": "text", "text": "So."},
    ]
    found = Opaque({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []})
    assert len(content(*paused.blocks, found)) == 4


def test_an_open_call_goes_also_when_joining_brings_the_user_behind_it() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    messages = sent(
        USER,
        Message("assistant", (ToolUse("t1", "fs_read", {}), Opaque(search))), Message("user", (ToolResult("t1", "x"),)),
        Message("assistant", (THOUGHT,)), Message("user", (Text("Go on."),)),
    )["messages"]  # fmt: skip
    assert [[block["type"] for block in message["content"]] for message in messages] == [
        ["text"], ["tool_use"], ["tool_result", "text"],
    ]  # fmt: skip


def marks(body: dict[str, Any]) -> list[tuple[int, int]]:
    return [
        (index, place)
        for index, message in enumerate(body["messages"])
        for place, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_breakpoints_stand_behind_the_last_two_messages_of_the_user() -> None:
    loop = (Message("assistant", (THOUGHT, ToolUse("t1", "fs_read", {}))), Message("user", (ToolResult("t1", "x"),)))
    body = sent(USER, *loop, Message("assistant", (Text("So."),)), Message("user", (Text("a"), Text("b"))), tools=TOOLS)
    assert marks(body) == [(2, 0), (4, 1)]
    assert len([block for block in strict_rules._blocks(body) if "cache_control" in block]) == 4


def test_no_breakpoint_on_a_result_without_content() -> None:
    call = Message("assistant", (ToolUse("t1", "fs_read", {}), ToolUse("t2", "fs_read", {})))
    assert marks(sent(USER, call, Message("user", (ToolResult("t1", "x"), ToolResult("t2", ""))))) == [(0, 0), (2, 0)]
    assert marks(sent(USER, call, Message("user", (ToolResult("t1", ""), ToolResult("t2", ""))))) == [(0, 0)]


def test_a_longer_conversation_begins_with_the_same_bytes() -> None:
    def plain(*messages: Message) -> bytes:
        body = sent(*messages, tools=TOOLS)
        for block in strict_rules._blocks(body):
            block.pop("cache_control", None)
        return encode(body).removesuffix(b"]}")

    whole = (
        USER,
        Message("assistant", (THOUGHT, ToolUse("t1", "fs_read", {}))),
        Message("user", (ToolResult("t1", "x"),)),
    )
    assert plain(*whole).startswith(plain(*whole[:1]))


def test_T5_half_a_character_does_not_break_the_request() -> None:
    body = encode(sent(Message("user", (Text("a\ud99cb 🌊 \ud83c\udf0a"),))))
    assert json.loads(body.decode())["messages"][0]["content"][0]["text"] == "a\ufffdb 🌊 🌊"
