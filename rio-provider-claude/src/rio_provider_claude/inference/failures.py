"""What went wrong, in the terms of rio: a kind, the service's own words with its request id, and what to do next.

Source: Messages API, "Errors": status, type and code are stable, the wording is not.
"""

import ssl
from collections.abc import Callable, Iterator
from typing import Final

import httpx

from rio_core.api import Failure, FailureKind
from rio_provider_claude.inference.complaint import Complaint
from rio_provider_claude.inference.words import escaped, quoted
from rio_provider_claude.options import ENTER_KEY

__all__ = [
    "SPENT", "answered", "ended_early", "in_stream", "is_certificate", "malformed", "not_a_stream", "redirected",
    "took_too_long", "unreachable",
]  # fmt: skip

Hide = Callable[[str], str]

AGAIN: Final = "Send again."
LATER: Final = "Wait a moment and send again."
ENDPOINT: Final = "Check the endpoint in Settings, Claude."
NETWORK: Final = "Check the network, and endpoint and proxy in Settings, Claude; then send again."
ACCOUNT: Final = "Look at limits and balance of the account in the service's console, then send again."

SPENT: Final = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached"})
"""Codes of a spend limit, which no waiting ends."""

_STATUS: Final = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "conflict_error": 409, "request_too_large": 413, "rate_limit_error": 429,
    "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip


def answered(status: int, complaint: Complaint, model: str, hide: Hide, *, waits: bool) -> Failure:
    """The service answered with a status that is not 200. `waits` says whether it told when to try again."""
    told = f"Claude answered {complaint.told(str(status), hide)}."
    if complaint.code in SPENT or status == 402:
        return Failure("request_rejected", f"A spend limit is reached or the balance used up. {told}", ACCOUNT)
    if status == 429 and not waits:
        return Failure("rate_limited", f"{told} It named no time to try again, as with a reached spend limit.", ACCOUNT)
    kind, action = _verdict(status, escaped(model, 80))
    return Failure(kind, told, action)


def in_stream(complaint: Complaint, model: str, hide: Hide) -> Failure:
    """The service gave up in the middle of an answer."""
    kind, action = _verdict(_STATUS.get(complaint.type, 500), escaped(model, 80))
    name = "" if complaint.type or complaint.code else "an error"
    return Failure(kind, f"Claude broke the reply off with {complaint.told(name, hide)}.", action)


def _verdict(status: int, model: str) -> tuple[FailureKind, str]:
    match status:
        case 401:
            return "authentication", ENTER_KEY
        case 402:
            return "request_rejected", ACCOUNT
        case 403:
            return "authentication", f"Choose another model than {model}, or enter a key that may use it."
        case 404:
            return "request_rejected", f"Choose another model than {model}, or check the endpoint in Settings, Claude."
        case 413:
            return "request_rejected", "Begin a new conversation, or send less."
        case 429:
            return "rate_limited", LATER
        case 408 | 409:
            return "server", LATER
        case _ if status >= 500:
            return "server", LATER
        case _ if status >= 400:
            return "request_rejected", "Change what the service objects to; a new conversation or another model may do."
        case _:
            return "unexpected_response", ENDPOINT


def redirected(status: int, target: str, hide: Hide) -> Failure:
    """The endpoint points elsewhere: the key goes nowhere but where the user sent it."""
    try:
        url = httpx.URL(target)
        where = f"{url.scheme}://{url.netloc.decode()}" if url.host else "elsewhere"  # netloc is without the login
    except (httpx.InvalidURL, ValueError):
        where = "elsewhere"
    return Failure(
        "unexpected_response",
        f"The endpoint answered {status} and points to {escaped(hide(where), 120)}; that was not followed.",
        ENDPOINT,
    )


def not_a_stream(content_type: str, complaint: Complaint, hide: Hide) -> Failure:
    """Something answered 200, but not with a stream of events."""
    kind = escaped(hide(content_type[:200]), 80) or "nothing that can be read"
    said = f"{quoted(hide(complaint.message[:2000]))}{complaint.request(hide)}"
    return Failure("unexpected_response", f"The endpoint answered with {kind}, not with a stream{said}.", ENDPOINT)


def malformed(what: str, request: str) -> Failure:
    """The stream is not what the documentation says."""
    return Failure("unexpected_response", f"The reply cannot be read: {what}{request}.", AGAIN)


def ended_early(request: str) -> Failure:
    """The stream ended without a stop reason, however cleanly."""
    return Failure("network", f"The connection ended early, before the reply was complete{request}.", AGAIN)


def took_too_long(seconds: float) -> Failure:
    """The limit for a whole reply has passed."""
    return Failure(
        "network",
        f"The reply was not complete after {seconds:g} seconds.",
        "Send again, or raise the limit for a whole reply in Settings, Claude.",
    )


def is_certificate(error: BaseException) -> bool:
    """Whether the other side could not prove who it is."""
    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error))


def unreachable(error: Exception, host: str, hide: Hide) -> Failure:
    """The transport failed."""
    said = quoted(hide(str(error)))
    if is_certificate(error):
        return Failure(
            "network",
            f"The certificate of {host} is not trusted{said}.",
            "If this network has an authority of its own, name its CA file in Settings, Claude.",
        )
    match error:
        case httpx.ConnectTimeout():
            what = f"{host} did not answer in time"
        case httpx.TimeoutException():
            what = f"{host} sent nothing for too long, and the connection was closed"
        case httpx.ProxyError():
            what = f"The proxy did not let the connection to {host} through{said}"
        case httpx.ConnectError():
            what = f"{host} cannot be reached{said}"
        case _:
            what = f"The connection to {host} broke{said}"
    return Failure("network", f"{what}.", NETWORK)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
