"""Against a server that others wrote to break clients (llmock): each of its faults, and its own verdict on us."""

from collections.abc import Iterator
from typing import Any

import pytest

from claude.rig import Posts, asked, respond, setup
from claude.servers import Mock, llmock_server
from rio_core.api import (
    Delta,
    Done,
    Failure,
    Message,
    Native,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolUse,
    Usage,
    Waiting,
)  # fmt: skip

TOOLS = (
    ToolSpec(
        "fs_read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    ),
)


@pytest.fixture(scope="module")
def server() -> Iterator[Mock]:
    with llmock_server() as running:
        yield running


@pytest.fixture
def mock(server: Mock) -> Iterator[Mock]:
    """The server, fresh; whatever the test did, its verdict has nothing against us."""
    server.reset()
    yield server
    server.judge()


def said(posts: Posts) -> str:
    return "".join(post.text for post in posts.of(Delta))


def done(posts: Posts) -> Done:
    assert isinstance(posts[-1], Done), posts
    return posts[-1]


def failed(posts: Posts) -> Failure:
    assert isinstance(posts[-1], Failure), posts
    return posts[-1]


async def test_a_text_streams(mock: Mock) -> None:
    mock.script({"type": "reply", "text": "Tides follow the moon, mostly."})
    posts = await respond(asked(setup(mock.url)))
    assert said(posts) == "Tides follow the moon, mostly."
    assert len(posts.of(Delta)) > 3
    assert done(posts).stop == "end_turn"
    usage = done(posts).usage
    assert usage is not None
    assert usage.input > 0
    assert usage.output > 0


async def test_a_tool_loop(mock: Mock) -> None:
    calls = [{"name": "fs_read", "arguments": {"path": f"{name} é.py"}} for name in "ab"]
    mock.script({"type": "reply", "text": "I look.", "tool_calls": calls}, {"type": "reply", "text": "Both are empty."})
    question = Message("user", (Text("What is in a and b?"),))
    posts = await respond(asked(setup(mock.url), question, tools=TOOLS))
    assert done(posts).stop == "tool_use"
    assert [call.input for call in posts.of(ToolCall)] == [{"path": "a é.py"}, {"path": "b é.py"}]
    natives = [post.data for post in posts.of(Native)]
    uses = [
        ToolUse(call.id, call.name, call.input, native)  # type: ignore[arg-type]
        for call, native in zip(posts.of(ToolCall), natives[1:], strict=True)
    ]
    answered = Message("assistant", (Text("I look.", natives[0]), *uses))
    results = Message("user", tuple(ToolResult(use.id, "") for use in uses))
    posts = await respond(asked(setup(mock.url), question, answered, results, tools=TOOLS))
    assert said(posts) == "Both are empty."
    assert done(posts).stop == "end_turn"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_not_tried_again(mock: Mock, status: int) -> None:
    mock.script({"type": "fail", "status": status, "message": "No."})
    posts = await respond(asked(setup(mock.url)))
    assert "“No.”" in failed(posts).message
    assert len(mock.requests()) == 1


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_what_passes_is_tried_again_in_its_time(mock: Mock, status: int) -> None:
    mock.script({"type": "fail", "status": status, "retry_after": 0.3, "times": 2})
    posts = await respond(asked(setup(mock.url)))
    assert [wait.seconds >= 0.3 for wait in posts.of(Waiting)] == [True, True]
    done(posts)


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_what_does_not_say_when_is_tried_again_with_growing_waits(mock: Mock, status: int) -> None:
    mock.script({"type": "fail", "status": status, "times": 3})
    posts = await respond(asked(setup(mock.url)))
    assert len(posts.of(Waiting)) == 3
    done(posts)


async def test_an_outage_is_given_up(mock: Mock) -> None:
    mock.script({"type": "fail", "status": 503, "times": 3})
    posts = await respond(asked(setup(mock.url, retries=2)))
    assert failed(posts).kind == "server"
    assert len(mock.requests()) == 3


@pytest.mark.parametrize("fault", [{"type": "delay", "seconds": 1}, {"type": "slow_first_token", "seconds": 1}])
async def test_slowness_is_borne(mock: Mock, fault: dict[str, Any]) -> None:
    mock.script(fault)
    done(await respond(asked(setup(mock.url))))
    assert len(mock.requests()) == 1


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("disconnect", "network"), ("truncate", "network"), ("stall", "network"), ("malformed", "unexpected_response")],
)
async def test_a_broken_stream_is_a_failure_and_sending_again_works(mock: Mock, kind: str, expected: str) -> None:
    fault = {"type": "stream_fault", "kind": kind, "after_chunks": 5, "stall_seconds": 20}
    mock.script({"type": "reply", "text": "One two three four five six.", "times": 2}, fault)
    request = asked(setup(mock.url, timeout_idle=1.0))
    posts = await respond(request)
    assert failed(posts).kind == expected
    assert said(posts).startswith("One")
    assert said(posts) != "One two three four five six."
    assert len(posts.of(Usage)) == 1
    assert len(mock.requests()) == 1
    posts = await respond(request)  # the user sends again
    assert said(posts) == "One two three four five six."
    done(posts)


async def test_a_call_that_the_connection_cuts_is_never_posted(mock: Mock) -> None:
    reply = {
        "type": "reply",
        "tool_calls": [{"name": "fs_read", "arguments": {"path": "a long enough path.py"}}],
        "times": 2,
    }
    mock.script(reply, {"type": "stream_fault", "kind": "disconnect", "after_chunks": 3})
    request = asked(setup(mock.url), tools=TOOLS)
    posts = await respond(request)
    assert failed(posts).kind == "network"
    assert posts.of(ToolCall) == []
    assert [call.input for call in (await respond(request)).of(ToolCall)] == [{"path": "a long enough path.py"}]


async def test_arguments_that_are_not_json_come_as_text(mock: Mock) -> None:
    mock.script({"type": "tool_fault", "kind": "malformed_arguments"})
    posts = await respond(asked(setup(mock.url), tools=TOOLS))
    assert done(posts).stop == "tool_use"
    assert isinstance(posts.of(ToolCall)[0].input, str)


async def test_a_tool_that_was_never_offered_is_posted_as_called(mock: Mock) -> None:
    mock.script({"type": "tool_fault", "kind": "unknown_tool"})
    posts = await respond(asked(setup(mock.url), tools=TOOLS))
    assert posts.of(ToolCall)[0].name not in {tool.name for tool in TOOLS}
    done(posts)
