"""What the service says of a failure, in a body or in an event.

Source: Messages API, "Errors". A body that comes from something before the service is often not JSON.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rio_provider_claude.inference.jsons import parse
from rio_provider_claude.inference.words import escaped, quoted

__all__ = ["Complaint"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """Type and code as the service names them, its words, and the id of the request; empty where it gave none."""

    type: str = ""
    code: str = ""
    message: str = ""
    request_id: str = ""

    @classmethod
    def of_body(cls, body: bytes, request_id: str) -> "Complaint":
        """From the body of an answer that is not 200."""
        text = body.decode("utf-8", "replace")
        try:
            event = parse(text)
        except ValueError:
            event = None
        if isinstance(event, Mapping) and isinstance(event.get("error"), Mapping):
            return cls.of_event(event, request_id)
        return cls(message=text, request_id=request_id)

    @classmethod
    def of_event(cls, event: Mapping[str, Any], request_id: str) -> "Complaint":
        """From an `error` event, or a body of the same shape. The id in the header goes before the one in the body."""
        error = event.get("error")
        if not isinstance(error, Mapping):
            error = {}
        details = error.get("details")
        return cls(
            type=_text(error.get("type")),
            code=_text(details.get("error_code")) if isinstance(details, Mapping) else "",
            message=_text(error.get("message")),
            request_id=request_id or _text(event.get("request_id")),
        )

    def told(self, name: str, hide: Callable[[str], str]) -> str:
        """The rest of a sentence: name, words and request id. `hide` takes out what must not be shown."""
        names = escaped(hide(" ".join(filter(None, (name, self.code or self.type)))), 120)
        return f"{names}{quoted(hide(self.message[:2000]))}{self.request(hide)}"

    def request(self, hide: Callable[[str], str]) -> str:
        """The id of the request in brackets, for the user to quote."""
        return f" (request {escaped(hide(self.request_id[:200]), 80)})" if self.request_id else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
