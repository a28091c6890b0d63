"""How the service is reached: made by whoever knows the credentials, used by everything that does not."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx

from rio_provider_claude.options import Options

__all__ = ["Channel", "body"]


@dataclass(frozen=True, slots=True)
class Channel:
    """`transport` signs what it sends; `hide` takes out of a text what must not be shown."""

    options: Options
    transport: httpx.AsyncBaseTransport
    hide: Callable[[str], str]

    @property
    def host(self) -> str:
        """The host, for messages."""
        return urlsplit(self.options.origin).netloc

    def client(self) -> httpx.AsyncClient:
        """A client that follows no redirect and asks the environment nothing. Close it after use."""
        options = self.options
        return httpx.AsyncClient(
            transport=self.transport,
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(options.idle, connect=options.connect),
            headers={
                "anthropic-version": options.api_version,
                "accept": "application/json",
                "content-type": "application/json",
                "user-agent": "rio-provider-claude",
            },
        )


async def body(response: httpx.Response, limit: int, seconds: float) -> bytes:
    """What has come of a body by the end of it, of the limit in bytes, of the time or of the connection."""
    content = bytearray()
    with anyio.move_on_after(seconds):
        try:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) >= limit:
                    break
        except (httpx.HTTPError, ssl.SSLError):
            pass  # the status is known: a broken rest must not hide it
    return bytes(content[:limit])
