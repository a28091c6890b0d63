"""Who asks: an API key in the header `x-api-key`. The only module that ever holds it.

The key is added below the HTTP client, to a copy of the request that goes out: no request, response or exception that
the rest of the program sees has it.

Source: facts on headers and key forms in the Messages API documentation, "Authentication".
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote

import httpx

from rio_core.api import ProviderError
from rio_provider_claude.options import ENTER_KEY

__all__ = ["Key", "Keyed"]

MASK: Final = "[API key]"
RECOGNIZED: Final = 12
"""A run of this many characters of the key counts as a part of it."""


class Key:
    """An API key that shows itself to nobody."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return MASK

    @classmethod
    def read(cls, secret: Callable[[str], str | None]) -> "Key":
        """Read and check the key. Raises `ProviderError` where there is none, or one that no header can carry."""
        text = (secret("api_key") or "").strip("\ufeff \t\r\n")
        if not text:
            raise ProviderError("not_configured", "There is no API key for Claude.", ENTER_KEY)
        bad = re.search(r"[^\x21-\x7E]", text)
        if bad:
            raise ProviderError(
                "not_configured",
                f"Character {bad.start() + 1} of the API key is U+{ord(bad[0]):04X}, which no key holds.",
                ENTER_KEY,
            )
        return cls(text)

    def header(self) -> tuple[bytes, bytes]:
        """The header to send."""
        return b"x-api-key", self._text.encode("ascii")

    def hide(self, text: str) -> str:
        """The text without the key: plain, percent-encoded or base64, whole or in part."""
        known = set(self._parts())
        size = min(RECOGNIZED, len(self._text))
        covered = bytearray(len(text))
        for start in range(len(text) - size + 1):
            if text[start : start + size] in known:
                covered[start : start + size] = b"\1" * size
        runs = re.finditer(rb"\x00+|\x01+", covered)
        return "".join(MASK if covered[run.start()] else text[run.start() : run.end()] for run in runs)

    def _parts(self) -> Iterator[str]:
        raw = self._text.encode("ascii")
        forms = [self._text, quote(self._text, safe="")]
        for lead in range(3):  # base64 looks different by where in its text the key begins
            encoded = base64.b64encode(bytes(lead) + raw).decode("ascii").rstrip("=")[4 if lead else 0 :]
            forms += [encoded, encoded.translate({0x2B: "-", 0x2F: "_"})]
        size = min(RECOGNIZED, len(self._text))
        for form in forms:
            for start in range(len(form) - size + 1):
                yield form[start : start + size]


class Keyed(httpx.AsyncBaseTransport):
    """A transport that adds the key, for one origin."""

    def __init__(self, inner: httpx.AsyncBaseTransport, key: Key, origin: str) -> None:
        self._inner = inner
        self._key = key
        self._origin = httpx.URL(origin)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a copy of the request that has the key. Nothing is sent to any other origin."""
        url = request.url
        if (url.scheme, url.host, url.port) != (self._origin.scheme, self._origin.host, self._origin.port):
            raise httpx.UnsupportedProtocol("The API key is for the configured endpoint only.")
        signed = httpx.Request(
            request.method,
            url,
            headers=[*request.headers.raw, self._key.header()],
            stream=request.stream,
            extensions=request.extensions,
        )
        return await self._inner.handle_async_request(signed)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()
