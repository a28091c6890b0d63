"""Events a second, from bytes to what is posted, against the decoder of the service's official SDK.

    pip install "anthropic==2.14.0" ./rio-core ./rio-provider-claude
    python benchmarks/stream.py [EVENTS] [ROUNDS]

Both read the same bytes in the same pieces in the same process, in turns; the best round of each counts. rio: bytes to
awaited events. SDK: bytes to the events of its asynchronous stream, as its users iterate over it. The SDK's events are
only made, not accumulated into a message, which is less than what rio does here.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from time import perf_counter

import anthropic
from anthropic import AsyncAnthropic, AsyncStream
from anthropic.types import RawMessageStreamEvent

from rio_core.api import Delta, Done, Posted
from rio_provider_claude.inference.decode import Decoder
from rio_provider_claude.inference.sse import Events

PIECE = 4096


def stream(deltas: int) -> bytes:
    def event(kind: str, **fields: object) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, separators=(',', ':'))}\n\n"

    usage = {"input_tokens": 10, "output_tokens": 1}
    message: dict[str, object] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    parts = [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *(
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": f" word{number} und Größe"})
            for number in range(deltas)
        ),
        event("content_block_stop", index=0),
        event(
            "message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": deltas}
        ),
        event("message_stop"),
    ]
    return "".join(parts).encode()


class Pieces:
    """A response of the SDK's HTTP client, as far as its decoder looks at one."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None: ...


async def rio(pieces: list[bytes]) -> int:
    posted = 0

    async def post(event: Posted) -> None:
        nonlocal posted
        posted += isinstance(event, Delta)

    events, decoder = Events(), Decoder("claude-opus-5-5")
    for piece in pieces:
        for data in events.feed(piece):
            for event in decoder.take(data):
                await post(event)
    assert isinstance(decoder.end, Done)
    return posted


async def sdk(pieces: list[bytes], client: AsyncAnthropic) -> int:
    made = 0
    response: object = Pieces(pieces)
    async for event in AsyncStream(cast_to=RawMessageStreamEvent, response=response, client=client):  # type: ignore[arg-type, var-annotated]
        made += event.type == "content_block_delta"
    return made


async def main(deltas: int = 20_000, rounds: int = 5) -> None:
    body = stream(deltas)
    pieces = [body[start : start + PIECE] for start in range(0, len(body), PIECE)]
    client = AsyncAnthropic(api_key="none")
    best = {"rio": 0.0, "sdk": 0.0}
    for _ in range(rounds):
        for name, run in (("rio", rio(pieces)), ("sdk", sdk(pieces, client))):
            start = perf_counter()
            assert await run == deltas
            best[name] = max(best[name], deltas / (perf_counter() - start))
    await client.close()
    print(f"{deltas} deltas, {len(body) / 1e6:.1f} MB in pieces of {PIECE} bytes, best of {rounds}")
    print(f"rio                {best['rio']:>10,.0f} events/s")
    print(f"anthropic {anthropic.__version__:<8} {best['sdk']:>10,.0f} events/s")
    print(f"ratio              {best['rio'] / best['sdk']:>10.1f}")


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
