"""Where the request goes, what protects it, and how fast it is let go."""

import asyncio
import ssl
import zlib
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import httpcore
import pytest
import trustme

from claude.rig import HELLO, JSON, KEY, START, STREAM, Play, Posts, asked, begun, delta, respond, rig, setup
from rio_core.api import Delta, Done, Failure, Post, Posted, Waiting
from rio_provider_claude.inference.transport import transport
from rio_provider_claude.options import Options
from rio_provider_claude.provider import Claude


async def test_one_request_as_it_arrives() -> None:
    async with rig(Play([HELLO])) as server:
        posts = await respond(asked(setup(server.url)))
    assert isinstance(posts[-1], Done)
    seen = server.seen[0]
    assert (seen.method, seen.target) == ("POST", "/v1/messages")
    assert [value for name, value in seen.headers if name == "x-api-key"] == [KEY]
    assert seen.header("authorization") is None
    assert seen.header("anthropic-version") == "2026-10-21"
    assert seen.header("content-type") == "application/json"
    assert seen.header("host") == f"127.0.0.1:{server.port}"
    assert sum(KEY in f"{name}{value}" for name, value in seen.headers) == 1
    assert KEY.encode() not in seen.body
    assert seen.json["stream"] is True


@pytest.mark.parametrize(
    ("given", "reached"),
    [
        ("", "/v1/messages"), ("/", "/v1/messages"), ("/v1", "/v1/messages"), ("/v1/", "/v1/messages"),
        ("//", "/v1/messages"), ("/v1/messages", "/v1/messages"), ("/anthropic", "/anthropic/v1/messages"),
        ("/anthropic/v1/", "/anthropic/v1/messages"), ("/v12", "/v12/v1/messages"),
    ],
)  # fmt: skip
async def test_N6_every_form_of_the_endpoint_reaches_the_same_place_once(given: str, reached: str) -> None:
    async with rig(Play([HELLO])) as server:
        await respond(asked(setup(f" {server.url}{given} ")))
    assert [seen.target for seen in server.seen] == [reached]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://example.com", "http://192.168.1.2", "http://localhost.example.com", "http://127.0.0.1.example.com",
        "http://0.0.0.0", "http://[::]", "http://2130706433", "ftp://localhost", "", "api.anthropic.com", "https://",
        "https://user:pass@h", "https://h?x=1", "https://h#x", "https://h:99999", "https://h o", "https://h\nx",
        "https://[::1", "https://caf\u00e9.example", "https://h\u202e",
    ],
)  # fmt: skip
async def test_an_endpoint_that_cannot_be_used_is_named_and_nothing_is_sent(endpoint: str) -> None:
    posts = await respond(asked(setup(endpoint)))
    assert isinstance(posts[0], Failure)
    assert posts[0].kind == "not_configured"
    assert posts[0].action == "Open Settings, Claude, and correct “Endpoint”."
    assert len(posts) == 1
    assert "pass" not in posts[0].message


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]"])
async def test_plain_http_to_this_machine_is_allowed(host: str) -> None:
    posts = await respond(asked(setup(f"http://{host}:9", retries=0)))  # nobody is there: it was tried
    assert isinstance(posts[0], Failure)
    assert posts[0].kind == "network"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_version", "latest"),
        ("api_version", "2026-10-21\r\nx: y"),
        ("proxy", "socks5://h"),
        ("proxy", "h:8"),
        ("ca_file", "/nowhere.pem"),
    ],
)
async def test_a_setting_that_cannot_be_used_is_named(name: str, value: str) -> None:
    posts = await respond(asked(setup("https://127.0.0.1:9", **{name: value})))
    assert isinstance(posts[0], Failure)
    assert posts[0].kind == "not_configured"


async def test_a_ca_file_that_holds_none_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("no certificate")
    posts = await respond(asked(setup("https://127.0.0.1:9", ca_file=str(empty))))
    assert isinstance(posts[0], Failure)
    assert posts[0].message == f"The CA file {empty} cannot be used: it holds no certificate."


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "claude.test").configure_cert(context)
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "own.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


async def test_N8_a_certificate_that_nobody_vouches_for_is_refused_by_name(tls: ssl.SSLContext) -> None:
    async with rig(Play([HELLO]), tls=tls) as server:
        posts = await respond(asked(setup(server.url)))
        assert server.seen == []
    assert len(posts) == 1
    assert isinstance(posts[0], Failure)
    assert posts[0].message.startswith(f"The certificate of 127.0.0.1:{server.port} is not trusted: “")
    assert "CA file" in posts[0].action


async def test_N8_an_own_authority_is_trusted_by_setting_or_variable(
    tls: ssl.SSLContext, ca_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rig(Play([HELLO]), tls=tls) as server:
        assert isinstance((await respond(asked(setup(server.url, ca_file=ca_file))))[-1], Done)
        monkeypatch.setenv("SSL_CERT_FILE", ca_file)
        assert isinstance((await respond(asked(setup(server.url))))[-1], Done)


async def test_N8_the_own_authority_vouches_for_its_hosts_only(authority: trustme.CA, ca_file: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("elsewhere.test").configure_cert(context)
    async with rig(Play([HELLO]), tls=context) as server:
        posts = await respond(asked(setup(server.url, ca_file=ca_file)))
    assert isinstance(posts[0], Failure)
    assert "certificate" in posts[0].message


@asynccontextmanager
async def tunnel(port: int, answer: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> Any:
    """A proxy that leads every CONNECT to one port, and remembers what was asked of it."""
    heads: list[bytes] = []
    tasks: set[asyncio.Task[None] | None] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        if b" 200 " in answer:
            there = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))
        writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heads
    finally:
        server.close()
        await asyncio.gather(*filter(None, tasks))
        await server.wait_closed()


async def test_the_proxy_of_the_settings_gets_no_key(tls: ssl.SSLContext, ca_file: str) -> None:
    async with rig(Play([HELLO]), tls=tls) as server, tunnel(server.port) as (proxy, heads):
        posts = await respond(asked(setup("https://claude.test", ca_file=ca_file, proxy=proxy)))
    assert isinstance(posts[-1], Done)
    assert [head.split(b"\r\n")[0] for head in heads] == [b"CONNECT claude.test:443 HTTP/1.1"]
    assert KEY.encode() not in b"".join(heads)


async def test_the_proxy_of_the_environment_is_used_when_the_user_says_so(
    tls: ssl.SSLContext, ca_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rig(Play([HELLO]), tls=tls) as server, tunnel(server.port) as (proxy, heads):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        posts = await respond(asked(setup("https://claude.test", ca_file=ca_file, proxy_environment=True)))
    assert isinstance(posts[-1], Done)
    assert len(heads) == 1


@pytest.mark.parametrize(
    ("settings", "excepted", "proxied"),
    [
        ({}, "", False), ({"proxy_environment": True}, "", True), ({"proxy_environment": True}, "claude.test", False),
        ({"proxy": "http://127.0.0.1:2"}, "claude.test", True),
    ],
)  # fmt: skip
async def test_when_a_proxy_is_used(
    settings: dict[str, Any], excepted: str, proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", excepted)
    made = transport(Options.read(setup("https://claude.test", **settings).settings))
    assert isinstance(made._pool, httpcore.AsyncHTTPProxy) is proxied


async def test_a_service_on_this_machine_is_reached_without_proxy() -> None:
    async with rig(Play([HELLO])) as server, tunnel(server.port) as (proxy, heads):
        posts = await respond(asked(setup(server.url, proxy=proxy)))
    assert isinstance(posts[-1], Done)
    assert heads == []


async def test_a_proxy_that_refuses_is_named() -> None:
    async with tunnel(0, b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") as (proxy, heads):
        posts = await respond(asked(setup("https://claude.test", proxy=proxy)))
    assert len(heads) == len(posts) == 1
    assert isinstance(posts[0], Failure)
    assert posts[0].message.startswith("The proxy did not let the connection to claude.test through")


class Gate(Posts):
    """Tells when the first event of a kind was posted."""

    def __init__(self, kind: type[Posted]) -> None:
        super().__init__()
        self._kind = kind
        self.open = asyncio.Event()

    async def __call__(self, event: Posted) -> None:
        await super().__call__(event)
        if isinstance(event, self._kind):
            self.open.set()


async def test_S11_a_compressed_stream_is_shown_as_it_comes() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)

    def packed(data: bytes, how: int = zlib.Z_SYNC_FLUSH) -> bytes:
        return packer.compress(data) + packer.flush(how)

    first = packed(START + begun(0, type="text", text="") + delta(0, "text_delta", text="At once. "))
    rest = packed(delta(0, "text_delta", text="Later."), zlib.Z_SYNC_FLUSH)
    gate = Gate(Delta)
    headers = {**STREAM, "content-encoding": "gzip"}
    async with rig(Play([first, 30.0, rest], headers=headers)) as server, anyio.create_task_group() as tasks:
        tasks.start_soon(Claude().respond, asked(setup(server.url)), gate)
        with anyio.fail_after(3):
            await gate.open.wait()
        tasks.cancel_scope.cancel()
    assert gate == [Delta("At once. ")]
    tail = packed(HELLO.removeprefix(START).replace(b'"index": 0', b'"index": 1'), zlib.Z_FINISH)
    async with rig(Play([first, rest, tail], headers=headers)) as server:
        posts = await respond(asked(setup(server.url)))
    assert "".join(post.text for post in posts.of(Delta)) == "At once. Later.Hello."


async def test_an_event_is_posted_before_the_next_byte_is_there() -> None:
    gate = Gate(Delta)
    first = START + begun(0, type="text", text="") + delta(0, "text_delta", text="Now")
    async with rig(Play([first], end="hang")) as server, anyio.create_task_group() as tasks:
        tasks.start_soon(Claude().respond, asked(setup(server.url)), gate)
        with anyio.fail_after(3):
            await gate.open.wait()
        tasks.cancel_scope.cancel()


STREAMING = Play([START + begun(0, type="text", text="") + delta(0, "text_delta", text="On and on")], end="hang")
SILENT = Play(end="silent")
BUSY = Play([b"{}"], status=529, headers={**JSON, "retry-after": "60"})


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(("play", "until"), [(STREAMING, Delta), (SILENT, None), (BUSY, Waiting)])
async def test_stopping_closes_the_connection_within_a_second(
    play: Play, until: type[Posted] | None, secure: bool, tls: ssl.SSLContext, ca_file: str
) -> None:
    gate = Gate(until or Done)
    async with rig(play, tls=tls if secure else None) as server:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Claude().respond, asked(setup(server.url, ca_file=ca_file if secure else "")), gate)
            with anyio.fail_after(5):
                await server.asked.wait()
                if until:
                    await gate.open.wait()
            asked_at = monotonic()
            tasks.cancel_scope.cancel()
        assert monotonic() - asked_at < 1
        with anyio.fail_after(1):
            await server.gone.wait()
    assert not gate.of(Done)
    assert not gate.of(Failure)


async def test_a_slow_front_end_holds_the_stream_back() -> None:
    many = [START + begun(0, type="text", text="")]
    many += [delta(0, "text_delta", text="x" * 10_000)] * 2_000
    sent: list[int] = []

    def counted() -> Iterator[bytes]:
        for number, piece in enumerate(many):
            sent.append(number)
            yield piece

    class Slow(Posts):
        async def __call__(self, event: Posted) -> None:
            await super().__call__(event)
            await anyio.sleep_forever()

    post: Post = Slow()
    async with rig(Play(counted())) as server, anyio.create_task_group() as tasks:
        tasks.start_soon(Claude().respond, asked(setup(server.url)), post)
        await anyio.sleep(0.5)
        assert sent
        assert len(sent) < len(many)
        tasks.cancel_scope.cancel()
