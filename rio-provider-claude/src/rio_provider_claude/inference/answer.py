"""One request and its answer: sent, if need be again, read as it comes, ended with one event."""

import ssl
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Final

import anyio
import httpx

from rio_core.api import Done, Failure, Post, Request, Waiting
from rio_provider_claude.inference import failures
from rio_provider_claude.inference.capability import Capability
from rio_provider_claude.inference.channel import Channel, body
from rio_provider_claude.inference.complaint import Complaint
from rio_provider_claude.inference.decode import Decoder
from rio_provider_claude.inference.jsons import encode
from rio_provider_claude.inference.listing import known
from rio_provider_claude.inference.retry import Patience, breakdown, may_answer, wanted
from rio_provider_claude.inference.shape import shaped
from rio_provider_claude.inference.sse import Events, TooLongError
from rio_provider_claude.inference.table import table

__all__ = ["answer"]

BODY: Final = 64 * 1024
"""Bytes of a refusal that are read at most."""
BODY_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Fault:
    """The request was not taken: why, whether it may be sent again, and how long the service wants to be left alone."""

    failure: Failure
    again: bool
    after: float | None = None


async def answer(
    request: Request, channel: Channel, told: MutableMapping[tuple[str, str], Capability], post: Post
) -> None:
    """Answer the request. `told` holds what each model takes, and is added to."""
    total = channel.options.total
    end: Done | Failure | None = None
    with anyio.move_on_after(total):
        end = await _conversed(request, channel, told, post)
    await post(end or failures.took_too_long(total or 0))


async def _conversed(
    request: Request, channel: Channel, told: MutableMapping[tuple[str, str], Capability], post: Post
) -> Done | Failure:
    options = channel.options
    patience = Patience(options.retries)
    async with channel.client() as client:
        model = await known(request.setup.model or table().default, client, channel, told)
        content = encode(
            shaped(request, model, max_tokens=options.max_tokens, effort=options.effort, thinking=options.thinking)
        )
        while True:
            result = await _tried(client, channel, model.id, content, post)
            if not isinstance(result, _Fault):
                return result
            delay = patience.next(result.after) if result.again else None
            if delay is None:
                return result.failure
            await post(Waiting(delay, result.failure.message))
            await anyio.sleep(delay)


async def _tried(
    client: httpx.AsyncClient, channel: Channel, model: str, content: bytes, post: Post
) -> Done | Failure | _Fault:
    result: Done | Failure | _Fault | None = None
    try:
        async with client.stream("POST", f"{channel.options.base}/v1/messages", content=content) as response:
            streams = "text/event-stream" in response.headers.get("content-type", "")
            if response.status_code == 200 and streams:
                decoder = Decoder(model, response.headers.get("request-id", ""), channel.hide)
                result = await _read(response, decoder, channel, post)
            else:
                result = _refused(response, await body(response, BODY, BODY_SECONDS), model, channel.hide)
    except (httpx.HTTPError, ssl.SSLError) as error:
        # Once there is a result, the way in which the connection closes does not matter.
        if result is None:
            result = _Fault(failures.unreachable(error, channel.host, channel.hide), breakdown(error))
    return result


async def _read(response: httpx.Response, decoder: Decoder, channel: Channel, post: Post) -> Done | Failure:
    events = Events()
    broken: Failure | None = None
    try:
        async for chunk in response.aiter_bytes():
            for data in events.feed(chunk):
                for posted in decoder.take(data):
                    await post(posted)
                if decoder.end is not None:
                    return decoder.end
    except TooLongError:
        broken = failures.malformed("an event is too long", decoder.request)
    except httpx.DecodingError:
        broken = failures.malformed("its compression is damaged", decoder.request)
    except httpx.TimeoutException as error:
        broken = failures.unreachable(error, channel.host, channel.hide)
    except (httpx.HTTPError, ssl.SSLError):
        broken = failures.ended_early(decoder.request)
    for posted in decoder.close(broken):
        await post(posted)
    assert decoder.end is not None  # noqa: S101  close() sets it
    return decoder.end


def _refused(response: httpx.Response, body: bytes, model: str, hide: Callable[[str], str]) -> Failure | _Fault:
    status, headers = response.status_code, response.headers
    complaint = Complaint.of_body(body, headers.get("request-id", ""))
    if status < 300:
        return failures.not_a_stream(headers.get("content-type", ""), complaint, hide)
    if status < 400:
        return failures.redirected(status, headers.get("location", ""), hide)
    after = wanted(headers)
    failure = failures.answered(status, complaint, model, hide, waits=after is not None)
    return _Fault(failure, may_answer(status, complaint.code, headers), after)
