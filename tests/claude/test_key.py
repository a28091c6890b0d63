"""The key: what is taken for one, and where it never is."""

import base64
import io
import logging
import re
import traceback
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude.rig import HELLO, JSON, KEY, START, Play, asked, error, respond, rig, setup
from rio_core.api import Done, Failure, ProviderError
from rio_provider_claude.authentication import MASK, Key, Keyed
from rio_provider_claude.options import ENTER_KEY
from rio_provider_claude.provider import Claude
from support.profiles import examples


@pytest.mark.parametrize("ends", ["\r\n", "\n", " ", "\t", "\ufeff"])
async def test_N4_a_key_is_trimmed(ends: str) -> None:
    async with rig(Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url, key=f"{ends}{KEY}{ends}")))
    assert isinstance(posts[-1], Done)
    assert server.seen[0].header("x-api-key") == KEY


@pytest.mark.parametrize("key", [None, "", " \r\n"])
async def test_without_a_key_nothing_is_sent(key: str | None) -> None:
    async with rig(Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url, key=key)))
    assert server.seen == []
    assert posts == [Failure("not_configured", "There is no API key for Claude.", ENTER_KEY)]


@pytest.mark.parametrize(
    ("odd", "name"),
    [
        ("\n", "000A"),
        ("\r", "000D"),
        ("\0", "0000"),
        ("é", "00E9"),
        (" ", "0020"),
        ("\u200b", "200B"),
        ("\x7f", "007F"),
    ],
)
async def test_N4_a_key_that_no_header_can_carry_is_not_sent_and_not_shown(odd: str, name: str) -> None:
    async with rig(Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url, key=f"{KEY}{odd}x")))
    assert server.seen == []
    failure = posts[0]
    assert isinstance(failure, Failure)
    assert failure.kind == "not_configured"
    assert failure.message == f"Character {len(KEY) + 1} of the API key is U+{name}, which no key holds."


def test_a_key_shows_itself_to_nobody() -> None:
    key = Key.read({"api_key": KEY}.get)
    assert f"{key!r} {key} {[key]}" == f"{MASK} {MASK} [{MASK}]"
    assert not hasattr(key, "__dict__")


KEYS = st.text("abcdefXYZ0123456789_-+/", min_size=12, max_size=120)


@examples(ci=200, deep=5000)
@given(key=KEYS, around=st.tuples(st.text(max_size=30), st.text(max_size=30)), lead=st.binary(max_size=20))
def test_S04_no_form_of_the_key_is_left_in_a_text(key: str, around: tuple[str, str], lead: bytes) -> None:
    made = Key(key)
    encoded = base64.b64encode(lead + key.encode())
    for form in (key, quote(key, safe=""), encoded.decode(), base64.urlsafe_b64encode(lead + key.encode()).decode()):
        hidden = made.hide(f"{around[0]}{form}{around[1]}")
        # Base64 of a short key is no longer recognized, and gives away what it hides only as a whole.
        if form in (key, quote(key, safe="")) or len(key) >= 24:
            assert key not in hidden
            assert MASK in hidden
            assert form not in hidden
    if len(key) >= 24:
        assert MASK in made.hide(f"{around[0]}{key[5:20]}{around[1]}")


@examples(ci=100, deep=2000)
@given(text=st.text(st.characters(exclude_characters="k"), max_size=200))
def test_other_text_stays_as_it_is(text: str) -> None:
    assert Key("k" * 40).hide(text) == text


async def test_the_key_is_for_one_origin() -> None:
    async with rig(Play([HELLO])) as server:
        keyed = Keyed(httpx.AsyncHTTPTransport(), Key(KEY), "https://api.anthropic.com")
        async with httpx.AsyncClient(transport=keyed) as client:
            with pytest.raises(httpx.UnsupportedProtocol):
                await client.get(server.url)
        assert server.seen == []


async def test_the_client_never_sees_the_key() -> None:
    async with rig(Play([b"{}"], headers=JSON)) as server:
        keyed = Keyed(httpx.AsyncHTTPTransport(), Key(KEY), server.url)
        async with httpx.AsyncClient(transport=keyed) as client:
            response = await client.get(server.url)
        assert server.seen[0].header("x-api-key") == KEY
        assert "x-api-key" not in response.request.headers


@pytest.fixture
def everything_logged() -> Iterator[io.StringIO]:
    """What every logger says at its most talkative."""
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield heard
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


FAULTS = [
    Play([HELLO]), Play([START]), Play([START], end="abort"), Play(end="abort"), Play([START, b"data: {\n\n"]),
    Play([error("authentication_error", f"bad key {KEY}")], status=401, headers=JSON),
    Play([b"<pre>x-api-key: " + KEY.encode() + b"</pre>"], status=403, headers={"content-type": "text/html"}),
    Play([error("rate_limit_error", "x")], status=429, headers={**JSON, "retry-after-ms": "5"}),
    Play([error("overloaded_error", "x")], status=529, headers={**JSON, "retry-after-ms": "5"}),
    Play([], status=302, headers={"location": "http://127.0.0.1:1/"}),
    Play([b"not gzip"], headers={"content-type": "text/event-stream", "content-encoding": "gzip"}),
    Play([b"{"], headers=JSON), Play([START], end="hang"), Play(end="silent"),
]  # fmt: skip


async def test_S04_the_canary_is_in_one_header_and_nowhere_else(
    everything_logged: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []
    for fault in FAULTS:
        async with rig(fault) as server:
            given = setup(server.url, retries=1, timeout_idle=0.2)
            provider = Claude()
            shown += [repr(post) for post in await respond(asked(given), provider)]
            try:
                shown.append(repr(await provider.models(given)))
            except ProviderError as failed:
                shown.append(repr(failed))
            assert server.seen
            for seen in server.seen:
                assert [name for name, value in seen.headers if KEY in value] == ["x-api-key"]
                assert KEY.encode() not in seen.body
                assert KEY not in seen.target

    async def crash(event: object) -> None:
        raise RuntimeError("the front end is gone")

    async with rig(Play([HELLO])) as server:
        try:
            await Claude().respond(asked(setup(server.url)), crash)
        except RuntimeError as crashed:
            shown.append("".join(traceback.TracebackException.from_exception(crashed).format()))
        else:
            pytest.fail("the crash was swallowed")

    out = capfd.readouterr()
    text = "\n".join([everything_logged.getvalue(), out.out, out.err, *shown])
    assert "127.0.0.1" in text  # there was something to search
    encoded = [base64.b64encode(bytes(lead) + KEY.encode()).decode()[4:-4] for lead in range(3)]
    for secret in (KEY, quote(KEY, safe=""), *encoded, KEY[13:], KEY[13:29], KEY[-12:]):
        assert secret not in text
    assert not re.search(r"x-api-key['\"]?[:,] *b?['\"]?sk-", text)


async def test_the_message_of_an_exception_from_below_has_no_key() -> None:
    """Whatever a transport says, it is masked before it is shown."""
    from rio_provider_claude.inference.failures import unreachable

    told = unreachable(httpx.LocalProtocolError(f"Illegal header value {KEY.encode()!r}"), "h", Key(KEY).hide)
    assert KEY[13:] not in told.message
    assert MASK in told.message
