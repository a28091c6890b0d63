"""Whether a request that was not taken is sent again, and when.

Only up to the headers of the answer: what has begun to answer is never asked twice. The service's own word goes first.

Source: Messages API, "Errors" and "Rate limits", and the headers that the official SDK obeys.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from rio_provider_claude.inference.failures import SPENT, is_certificate

__all__ = ["Patience", "breakdown", "may_answer", "wanted"]

LONGEST: Final = 600.0
"""Seconds: a service that asks for more is not waited for."""


def may_answer(status: int, code: str, headers: Mapping[str, str]) -> bool:
    """Whether an answer with this status may be followed by another try."""
    told = headers.get("x-should-retry")
    if told in ("true", "false"):
        return told == "true"
    return code not in SPENT and (status in (408, 409, 429) or status >= 500)


def breakdown(error: Exception) -> bool:
    """Whether a transport that failed like this may be tried again."""
    if isinstance(error, httpx.ConnectTimeout):
        return True
    again = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
    return again and not is_certificate(error)


def wanted(headers: Mapping[str, str]) -> float | None:
    """How many seconds the service wants to be left alone; None where it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (then.astimezone(UTC) - datetime.now(UTC)).total_seconds())


@dataclass(slots=True)
class Patience:
    """The waits for one request: growing, jittered, and not without end."""

    retries: int
    first: float = 0.5
    longest: float = 30.0
    tried: int = 0

    def next(self, wanted: float | None) -> float | None:
        """Seconds until the next try, never less than wanted; None when it is time to give up."""
        if self.tried >= self.retries or (wanted is not None and wanted > LONGEST):
            return None
        backoff = min(self.longest, self.first * float(2**self.tried))
        self.tried += 1
        spread = random.random()  # noqa: S311  so that many clients do not come back at once; no secret
        if wanted is not None:
            return wanted + spread * min(1.0, 0.1 * wanted + 0.05)
        return backoff * (0.75 + 0.25 * spread)
