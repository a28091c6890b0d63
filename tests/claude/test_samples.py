"""Streams of the service, each with what must come of it, however their bytes are cut."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude.rig import SAMPLES
from rio_core.api import Delta, Done, Failure, Native, Posted, Thinking, ToolCall, Usage
from rio_provider_claude.inference.decode import Decoder
from rio_provider_claude.inference.sse import Events
from support.profiles import examples

NAMES = sorted(path.stem for path in SAMPLES.glob("*.sse"))


def decoded(pieces: Iterable[bytes]) -> list[Posted]:
    """Everything that is posted, without where the deltas of one block are cut."""
    events, decoder = Events(), Decoder("claude-opus-5-5", "req_header")
    posts: list[Posted] = []
    for piece in pieces:
        for data in events.feed(piece):
            posts += decoder.take(data)
            if decoder.end:
                return [*posts, decoder.end]
    posts += decoder.close()
    assert decoder.end
    return [*posts, decoder.end]


def joined(posts: Iterable[Posted]) -> Iterator[dict[str, Any]]:
    """The answer's blocks as the service would send them whole: from native forms, and what has none."""
    run = ""
    for post in posts:
        if isinstance(post, Delta):
            run += post.text
        elif isinstance(post, Native):
            run = ""
            yield post.data
    if run:
        yield {"type": "text", "text": run}


def check(posts: list[Posted], expected: dict[str, Any]) -> None:
    *events, end = posts
    message = expected["message"] or {"content": [], "usage": None, "stop_reason": None}
    unfinished = {call["id"] for call in expected["tool_calls"] if not call["complete"]}
    content = [block for block in message["content"] if block.get("id") not in unfinished]

    assert "".join(post.text for post in events if isinstance(post, Delta)) == expected["text"]
    assert [(post.id, post.name, post.input) for post in events if isinstance(post, ToolCall)] == [
        (call["id"], call["name"], call["input"]) for call in expected["tool_calls"] if call["complete"]
    ]
    assert list(joined(events)) == content
    assert [post.data for post in events if isinstance(post, Native) and post.alone] == [
        block for block in content if block["type"] not in ("text", "thinking", "redacted_thinking", "tool_use")
    ]
    assert "".join(post.text for post in events if isinstance(post, Thinking)) == "".join(
        block["thinking"] for block in content if block["type"] == "thinking"
    )
    usage = end.usage if isinstance(end, Done) else next((post for post in events if isinstance(post, Usage)), None)
    check_usage(usage, message)
    check_end(end, expected, message)


def check_usage(usage: Usage | None, message: dict[str, Any]) -> None:
    if message["usage"] is None:
        assert usage is None
        return
    assert usage is not None
    counted: dict[str, Any] = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        **{key: usage.detail[key] for key in ("output_tokens_details", "server_tool_use") if key in usage.detail},
    }
    assert counted == message["usage"]
    assert (usage.detail["message"], usage.detail["model"]) == (message["id"], message["model"])
    assert usage.cost == pytest.approx(
        (usage.input * 4 + usage.cache_read * 0.4 + usage.cache_write * 5 + usage.output * 20) / 1e6
    )
    assert usage.estimate == "list prices of 2026-12-01"


def check_end(end: Posted, expected: dict[str, Any], message: dict[str, Any]) -> None:
    if expected["outcome"] == "complete":
        assert isinstance(end, Done)
        assert end.stop == message["stop_reason"]
        if message["stop_sequence"]:
            assert f"“{message['stop_sequence']}”" in end.detail
        details = message["stop_details"] or {}
        assert (details.get("category") or "") in end.detail
        assert (details.get("explanation") or "") in end.detail
    elif expected["outcome"] == "error":
        assert isinstance(end, Failure)
        assert (end.kind, end.action) == ("server", "Wait a moment and send again.")
        assert expected["error"]["type"] in end.message
        assert f"“{expected['error']['message']}”" in end.message
        assert "(request req_header)" in end.message
    else:
        assert isinstance(end, Failure)
        assert end.kind == "network"
        assert end.message.startswith("The connection ended early")


def sample(name: str) -> tuple[bytes, dict[str, Any]]:
    data = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
    return (SAMPLES / f"{name}.sse").read_bytes(), data["expected"]


def test_all_samples_are_here() -> None:
    assert len(NAMES) == 22


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_whole_and_byte_by_byte(name: str) -> None:
    body, expected = sample(name)
    whole = decoded([body])
    check(whole, expected)
    assert decoded(bytes([byte]) for byte in body) == whole


@pytest.mark.parametrize("name", NAMES)
@examples(ci=40, deep=1000)
@given(data=st.data())
def test_a_sample_cut_anywhere(name: str, data: st.DataObject) -> None:
    body, expected = sample(name)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=40)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    posts = decoded(pieces)
    check(posts, expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_S3_a_sample_with_other_line_ends(name: str, end: bytes) -> None:
    body, expected = sample(name)
    body = body.replace(b"\r\n", b"\n").replace(b"\n", end)
    check(decoded([body]), expected)
    check(decoded(bytes([byte]) for byte in body), expected)
