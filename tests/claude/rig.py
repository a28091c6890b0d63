"""A real server on loopback that plays bytes, and what a test needs to talk to it through the provider."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeVar

from rio_core.api import Message, Posted, Request, Setup, Text, ToolSpec
from rio_provider_claude.provider import SETTINGS, Claude

SAMPLES = Path(__file__).parent / "samples"
T = TypeVar("T")
KEY = "sk-ant-api03-canary_Zx81-QpL40-vvTT7-90ab"

STREAM = {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_header01"}
JSON = {"content-type": "application/json", "request-id": "req_header01"}


@dataclass
class Play:
    """An answer: bytes are sent, a number is a pause in seconds. `end` is how it goes on; `silent` never answers."""

    pieces: Iterable[bytes | float] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: STREAM)
    end: Literal["close", "chunked", "abort", "hang", "silent"] = "close"


@dataclass
class Seen:
    """A request as it came, and when."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


class Rig:
    """The server. Plays its answers in order, and the last of them again and again."""

    def __init__(self, plays: Iterable[Play] | Callable[[Seen], Play]) -> None:
        self._next = plays if callable(plays) else self._in_order(list(plays))
        self.seen: list[Seen] = []
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()
        self.port = 0
        self.scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def posts(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.method == "POST"]

    @staticmethod
    def _in_order(plays: list[Play]) -> Callable[[Seen], Play]:
        def choose(_: Seen) -> Play:
            return plays.pop(0) if len(plays) > 1 else plays[0]

        return choose

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.gone.set()
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = [(key.lower(), value.strip()) for key, _, value in (line.partition(":") for line in head[1:] if line)]
        length = next((int(value) for key, value in headers if key == "content-length"), 0)
        seen = Seen(method, target, headers, await reader.readexactly(length), monotonic())
        self.seen.append(seen)
        self.asked.set()
        play = self._next(seen)
        if play.end == "abort" and not play.pieces:
            writer.transport.abort()
            return False
        if play.end == "silent":
            await reader.read()
            return False
        chunked = play.end == "chunked"
        lines = [f"HTTP/1.1 {play.status} Status", *(f"{key}: {value}" for key, value in play.headers.items())]
        lines.append("transfer-encoding: chunked" if chunked else "connection: close")
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        for piece in play.pieces:
            if isinstance(piece, bytes):
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                await writer.drain()
            else:
                await asyncio.sleep(piece)
        if chunked:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        if play.end == "abort":
            await asyncio.sleep(0.02)
            writer.transport.abort()
        if play.end == "hang":
            await reader.read()
        return False


@asynccontextmanager
async def rig(*plays: Play, by: Callable[[Seen], Play] | None = None, tls: Any = None) -> AsyncIterator[Rig]:
    made = Rig(by or plays)
    tasks: set[asyncio.Task[None]] = set()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        with suppress(asyncio.CancelledError):
            await made.serve(reader, writer)

    server = await asyncio.start_server(client, "127.0.0.1", 0, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    made.scheme = "https" if tls else "http"
    try:
        yield made
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


class Posts(list[Posted]):
    """Collects what is posted."""

    async def __call__(self, event: Posted) -> None:
        self.append(event)

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self if isinstance(event, kind)]


def setup(url: str, key: str | None = KEY, model: str | None = None, **settings: Any) -> Setup:
    """The user's setup. Waits are short, so that a test that should not wait fails soon."""
    values = {spec.key: spec.default for spec in SETTINGS} | {"timeout_idle": 5.0, "endpoint": url} | settings
    return Setup(settings=values, secret={"api_key": key}.get, model=model)


def asked(
    setup: Setup,
    *messages: Message,
    tools: Sequence[ToolSpec] = (),
    system: Sequence[str] = ("Be brief.",),
) -> Request:
    return Request(
        messages=messages or (Message("user", (Text("Hello."),)),),
        tools=tools,
        system=system,
        setup=setup,
        conversation="c1",
        context="k1",
    )


async def respond(request: Request, provider: Claude | None = None) -> Posts:
    posts = Posts()
    await (provider or Claude()).respond(request, posts)
    return posts


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


START = event(
    "message_start",
    message={
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": [],
        "stop_reason": None, "usage": {"input_tokens": 10, "output_tokens": 1},
    },
)  # fmt: skip


def begun(index: int, **block: Any) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def delta(index: int, kind: str, **fields: Any) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def ended(index: int) -> bytes:
    return event("content_block_stop", index=index)


def text(words: str, index: int = 0) -> bytes:
    return begun(index, type="text", text="") + delta(index, "text_delta", text=words) + ended(index)


def stop(reason: str | None, **more: Any) -> bytes:
    last = event(
        "message_delta", delta={"stop_reason": reason, "stop_sequence": None, **more}, usage={"output_tokens": 5}
    )
    return last + event("message_stop")


HELLO = START + text("Hello.") + stop("end_turn")


def error(kind: str, message: str, **details: Any) -> bytes:
    body: dict[str, Any] = {"type": kind, "message": message}
    if details:
        body["details"] = details
    return json.dumps({"type": "error", "error": body, "request_id": "req_body01"}).encode()
