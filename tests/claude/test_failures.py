"""Requests that are not answered as they should: what the user is told, and what is tried again."""

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

from claude.rig import (
    HELLO,
    JSON,
    KEY,
    START,
    STREAM,
    Play,
    Posts,
    asked,
    begun,
    delta,
    error,
    respond,
    rig,
    setup,
    text,
)
from rio_core.api import Delta, Done, Failure, Usage, Waiting
from rio_provider_claude.inference.answer import answer
from rio_provider_claude.inference.channel import Channel
from rio_provider_claude.options import ENTER_KEY, Options

BUSY = Play([error("overloaded_error", "Overloaded")], status=529, headers=JSON)


def failure(posts: Posts) -> Failure:
    assert isinstance(posts[-1], Failure), posts
    assert not [post for post in posts[:-1] if isinstance(post, Done | Failure)]
    assert "\n" not in posts[-1].message
    assert len(posts[-1].message) < 600
    assert posts[-1].action
    return posts[-1]


@pytest.mark.parametrize(
    ("status", "kind", "code", "expected"),
    [
        (400, "invalid_request_error", "", "request_rejected"),
        (401, "authentication_error", "", "authentication"),
        (402, "billing_error", "", "request_rejected"),
        (403, "permission_error", "", "authentication"),
        (404, "not_found_error", "", "request_rejected"),
        (413, "request_too_large", "", "request_rejected"),
        (422, "invalid_request_error", "", "request_rejected"),
        (429, "rate_limit_error", "enforced_spend_limit_reached", "request_rejected"),
        (429, "rate_limit_error", "contract_spend_limit_reached", "request_rejected"),
        (418, "teapot_error", "", "request_rejected"),
    ],
)
async def test_S12_a_refusal_is_told_and_not_tried_again(status: int, kind: str, code: str, expected: str) -> None:
    details = {"error_code": code} if code else {}
    body = error(kind, "The service's \u202e words.\nTwo lines.", **details)
    async with rig(Play([body], status=status, headers=JSON)) as server:
        posts = await respond(asked(setup(server.url)))
    told = failure(posts)
    assert told.kind == expected
    assert (
        f"{status} {code or kind}: “The service's \\u{{202E}} words. Two lines.” (request req_header01)" in told.message
    )
    assert len(server.seen) == 1
    assert len(posts) == 1


async def test_N2_a_refused_key_says_where_to_enter_another() -> None:
    async with rig(Play([error("authentication_error", "invalid x-api-key")], status=401, headers=JSON)) as server:
        told = failure(await respond(asked(setup(server.url))))
    assert told == Failure(
        "authentication",
        "Claude answered 401 authentication_error: “invalid x-api-key” (request req_header01).",
        ENTER_KEY,
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 504, 529])
async def test_what_passes_is_tried_again(status: int) -> None:
    headers = {**JSON, "retry-after-ms": "20"}
    async with rig(Play([b"{}"], status=status, headers=headers), Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url)))
    waiting = posts[0]
    assert isinstance(waiting, Waiting)
    assert 0.02 <= waiting.seconds < 0.2
    assert str(status) in waiting.reason
    assert isinstance(posts[-1], Done)
    assert server.seen[0].body == server.seen[1].body
    assert server.seen[1].at - server.seen[0].at >= 0.02


async def test_N1_the_service_is_left_alone_for_as_long_as_it_wants() -> None:
    limited = Play([error("rate_limit_error", "Slow down")], status=429, headers={**JSON, "retry-after": "1"})
    async with rig(limited, Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url)))
    assert [type(post) for post in posts[:1]] == [Waiting]
    assert posts.of(Waiting)[0].seconds >= 1
    assert server.seen[1].at - server.seen[0].at >= 1


async def test_N3_overload_is_waited_for_with_growing_waits() -> None:
    async with rig(BUSY, BUSY, BUSY, Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url)))
    waits = [post.seconds for post in posts.of(Waiting)]
    assert len(waits) == 3
    assert all(later > earlier * 1.3 for earlier, later in pairwise(waits))
    assert isinstance(posts[-1], Done)


async def test_N3_a_silent_429_is_given_up_with_a_word_on_spend_limits() -> None:
    async with rig(Play([error("rate_limit_error", "Limit")], status=429, headers=JSON)) as server:
        posts = await respond(asked(setup(server.url, retries=2)))
    told = failure(posts)
    assert len(server.seen) == 3
    assert len(posts) == 3
    assert told.kind == "rate_limited"
    assert "spend limit" in told.message
    assert "console" in told.action


async def test_a_service_that_wants_hours_is_not_waited_for() -> None:
    hours = Play([error("rate_limit_error", "Limit")], status=429, headers={**JSON, "retry-after": "7200"})
    async with rig(hours) as server:
        posts = await respond(asked(setup(server.url)))
    assert failure(posts).kind == "rate_limited"
    assert len(server.seen) == len(posts) == 1


@pytest.mark.parametrize(("status", "word", "tries"), [(529, "false", 1), (400, "true", 3), (529, "maybe", 3)])
async def test_the_service_decides_whether_to_try_again(status: int, word: str, tries: int) -> None:
    headers = {**JSON, "x-should-retry": word, "retry-after-ms": "5"}
    async with rig(Play([b"{}"], status=status, headers=headers)) as server:
        failure(await respond(asked(setup(server.url, retries=2))))
    assert len(server.seen) == tries


async def test_no_retries_when_none_are_wanted() -> None:
    async with rig(BUSY) as server:
        posts = await respond(asked(setup(server.url, retries=0)))
    assert failure(posts).kind == "server"
    assert len(server.seen) == len(posts) == 1


async def test_R08_a_large_page_that_is_not_json_is_capped_and_plain() -> None:
    page = b"<html>\x1b[2J<body>Bad gateway " + b"x" * 5_000_000
    async with rig(Play([page], status=403, headers={"content-type": "text/html"})) as server:
        told = failure(await respond(asked(setup(server.url))))
    assert "“<html>\\u{1B}[2J<body>Bad gateway xxx" in told.message


async def test_a_body_that_breaks_or_never_ends_does_not_hide_the_status() -> None:
    length = {**JSON, "content-length": "500"}
    for play in (Play([b'{"type":'], 401, length, "abort"), Play([b"{", 30.0], 401, length)):
        async with rig(play) as server:
            told = failure(await respond(asked(setup(server.url, timeout_idle=0.3))))
        assert told.kind == "authentication"
        assert len(server.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_S07_a_redirect_is_not_followed_and_the_key_stays(status: int) -> None:
    async with rig(Play([HELLO])) as other:
        headers = {"location": f"http://user:pass@127.0.0.1:{other.port}/v1/messages"}
        async with rig(Play([], status=status, headers=headers)) as server:
            told = failure(await respond(asked(setup(server.url))))
        assert other.seen == []
    assert told.kind == "unexpected_response"
    assert f"points to http://127.0.0.1:{other.port};" in told.message
    assert len(server.seen) == 1


@pytest.mark.parametrize("location", ["", "/login", "http://[", "http://exa mple/\u202e".encode().decode("latin-1")])
async def test_an_odd_redirect_is_a_failure_too(location: str) -> None:
    async with rig(Play([], status=302, headers={"location": location})) as server:
        assert failure(await respond(asked(setup(server.url)))).kind == "unexpected_response"


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, {"content-type": "text/html"}, b"<html>Log in to this network"),
        (200, JSON, b'{"type":"error","error":{"type":"x","message":"Log in to this network"}}'),
        (200, {}, b"Log in to this network"),
        (204, STREAM, b""),
    ],
)
async def test_an_answer_that_is_no_stream(status: int, headers: dict[str, str], body: bytes) -> None:
    async with rig(Play([body], status=status, headers=headers)) as server:
        told = failure(await respond(asked(setup(server.url))))
    assert told.kind == "unexpected_response"
    assert "Log in to this network" in told.message or not body
    assert len(server.seen) == 1


@pytest.mark.parametrize("end", ["abort", "close", "chunked"])
async def test_S10_a_stream_that_ends_early_is_a_failure_however_it_ends(end: Any) -> None:
    partial = START + begun(0, type="text", text="") + delta(0, "text_delta", text="Half an ")
    async with rig(Play([partial], end=end)) as server:
        posts = await respond(asked(setup(server.url)))
    told = failure(posts)
    assert (told.kind, told.action) == ("network", "Send again.")
    assert told.message == "The connection ended early, before the reply was complete (request req_header01)."
    assert posts[0] == Delta("Half an ")
    assert isinstance(posts[1], Usage)
    assert len(server.seen) == 1


async def test_a_promised_length_that_does_not_come() -> None:
    async with rig(Play([START], headers={**STREAM, "content-length": "9999"})) as server:
        assert failure(await respond(asked(setup(server.url)))).message.startswith("The connection ended early")


async def test_an_answer_that_is_whole_is_taken_however_the_connection_ends() -> None:
    whole = HELLO.replace(b'event: message_stop\ndata: {"type": "message_stop"}\n\n', b"")
    assert b"message_stop" not in whole
    async with rig(Play([whole], headers={**STREAM, "content-length": "9999"})) as server:
        posts = await respond(asked(setup(server.url)))
    assert isinstance(posts[-1], Done)


async def test_a_connection_that_breaks_before_the_answer_is_tried_again() -> None:
    async with rig(Play(end="abort"), Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url)))
    assert isinstance(posts[0], Waiting)
    assert isinstance(posts[-1], Done)
    assert len(server.seen) == 2


async def test_nobody_there() -> None:
    async with rig(Play([HELLO])) as server:
        gone = server.url
    posts = await respond(asked(setup(gone, retries=1)))
    told = failure(posts)
    assert len(posts.of(Waiting)) == 1
    assert told.kind == "network"
    assert told.message.startswith(f"{gone.removeprefix('http://')} cannot be reached: “")
    assert "Settings, Claude" in told.action


async def test_a_stall_ends_after_the_time_between_bytes() -> None:
    async with rig(Play([START + text("Half")], end="hang")) as server:
        posts = await respond(asked(setup(server.url, timeout_idle=0.2)))
    assert failure(posts).kind == "network"
    assert "sent nothing for too long" in failure(posts).message
    assert len(server.seen) == 1


async def test_S6_a_ping_keeps_the_connection() -> None:
    ping: list[bytes | float] = [b"event: ping\ndata:\n\n", 0.2]
    pieces = [START, *ping * 5, HELLO.removeprefix(START)]
    async with rig(Play(pieces)) as server:
        posts = await respond(asked(setup(server.url, timeout_idle=0.5)))
    assert [type(post).__name__ for post in posts] == ["Delta", "Native", "Done"]


async def test_the_whole_reply_has_a_limit_too() -> None:
    drop: list[bytes | float] = [b": still here\n\n", 0.05]
    dripping = [START, *drop * 100]
    async with rig(Play(dripping)) as server:
        told = failure(await respond(asked(setup(server.url, timeout_total=0.4))))
    assert told.message == "The reply was not complete after 0.4 seconds."
    async with rig(BUSY) as server:
        told = failure(await respond(asked(setup(server.url, timeout_total=0.3))))
    assert "0.3 seconds" in told.message


@pytest.mark.parametrize("body", [b"data: {\n\n", b"data: []\n\n", b"data: nonsense\n\n"])
async def test_a_stream_that_cannot_be_read(body: bytes) -> None:
    async with rig(Play([START + body + HELLO])) as server:
        told = failure(await respond(asked(setup(server.url))))
    assert told.kind == "unexpected_response"
    assert "(request req_header01)" in told.message


async def test_damaged_compression() -> None:
    async with rig(Play([b"this is not gzip"], headers={**STREAM, "content-encoding": "gzip"})) as server:
        told = failure(await respond(asked(setup(server.url))))
    assert (told.kind, "compression" in told.message) == ("unexpected_response", True)


async def test_a_key_that_the_other_side_repeats_is_not_shown() -> None:
    import base64

    quoted = base64.b64encode(b"x-api-key: " + KEY.encode()).decode()
    for words in (KEY, f"header {KEY[:25]}...", f"<pre>{quoted}</pre>", f"tail {KEY[-14:]}"):
        body = error("api_error", words)
        mirrored = {**JSON, "request-id": KEY, "retry-after-ms": "1"}
        for play in (
            Play([body], status=500, headers=mirrored),
            Play([words.encode()], status=403, headers={"content-type": KEY}),
            Play([words.encode()], status=200, headers={"content-type": KEY}),
            Play([], status=302, headers={"location": f"https://elsewhere.example/{KEY}"}),
            Play([b"data: " + body + b"\n\n"], headers={**STREAM, "request-id": KEY}),
            Play([START], headers={**STREAM, "request-id": KEY}),
        ):
            async with rig(play) as server:
                posts = await respond(asked(setup(server.url, retries=1)))
            shown = json.dumps([repr(post) for post in posts])
            assert "API key]" in shown or play.status == 302
            for part in (KEY[13:25], KEY[-14:], quoted[16:40], quoted[-24:-4]):
                assert part not in shown


class Broken(httpx.AsyncBaseTransport):
    """Answers well, and fails when the connection is closed."""

    asked = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1

        class Stream(httpx.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield HELLO

            async def aclose(self) -> None:
                raise httpx.CloseError("cannot be closed")

        return httpx.Response(200, headers=STREAM, stream=Stream())


async def test_an_answer_is_never_asked_for_twice_however_its_connection_closes() -> None:
    transport, posts = Broken(), Posts()
    request = asked(setup("http://127.0.0.1:1"))
    await answer(request, Channel(Options.read(request.setup.settings), transport, str), {}, posts)
    assert transport.asked == 1
    assert posts.of(Waiting) == []
    assert isinstance(posts[-1], Done)
