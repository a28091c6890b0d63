"""JSON-RPC 2.0 messages (https://www.jsonrpc.org/specification): reading them strictly, and building them.

Strict means: names are exact and occur once, numbers are finite, ids are integers or strings as they were sent, and
what is not understood is refused and never guessed. Batches are not part of this protocol.
"""

import json
import math
from collections import Counter
from typing import Any, Final, NoReturn

from msgspec import UNSET, Struct, UnsetType

from rio_core.protocol.errors import INVALID_PARAMS, PARSE_ERROR, Kind, RioError

__all__ = [
    "ID_CAP", "Failure", "FailureData", "Id", "Notification", "Request", "Response", "failure", "parse", "result_of",
]  # fmt: skip

Id = int | str

ID_CAP: Final = 256
"""Characters of the longest id: each answer carries it."""

_INTEGER_END: Final = 10**ID_CAP


class Request(Struct, kw_only=True):
    """A call. Without an `id` no answer is wanted."""

    jsonrpc: str = "2.0"
    id: Id | UnsetType = UNSET
    method: str
    params: Any = {}


class Notification(Struct, kw_only=True):
    """An event from the core."""

    jsonrpc: str = "2.0"
    method: str
    params: Any


class FailureData(Struct, kw_only=True):
    """What a front end branches on and shows: JSON-RPC leaves `data` to the application."""

    kind: Kind
    message: str
    action: str


class Failure(Struct, kw_only=True):
    """Why a call failed."""

    code: int
    message: str
    data: FailureData | UnsetType = UNSET


class Response(Struct, kw_only=True):
    """The answer to one request: a result or an error."""

    jsonrpc: str = "2.0"
    id: Id | None
    result: Any = UNSET
    error: Failure | UnsetType = UNSET


def failure(error: RioError) -> Failure:
    """An error as it goes over the wire."""
    data = FailureData(kind=error.kind, message=error.message, action=error.action)
    return Failure(code=error.code, message=error.message, data=data)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the name {_short(twice)} occurs twice in one object")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {_short(digits)} is too large")
    return number


def _short(text: str) -> str:
    # An answer must not grow with the message that it refuses.
    return ascii(text if len(text) <= 80 else text[:80] + "...")


# A parser of the standard library, as it is the one that can refuse names that occur twice.
_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def _bad(message: str, code: int) -> RioError:
    return RioError("bad_message", message, "Send JSON-RPC 2.0 as the protocol reference describes.", code=code)


def parse(line: bytes) -> Request | Response:
    """Read one line, which must be UTF-8 (UnicodeDecodeError else: the connection is then closed).

    Raises RioError of kind `bad_message` for anything that is not exactly one request or response. Its `args[1]`, when
    there is one, is the id that the message carried, so that the sender learns which of its calls was refused.
    """
    text = line.decode("utf-8")
    try:
        value, end = _decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r")))
        if text[end:].strip(" \t\r"):
            raise ValueError("there is more than one value in the line")
    except (ValueError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise _bad(f"The line is not JSON: {reason}.", PARSE_ERROR) from None
    if not isinstance(value, dict):
        raise _bad("A message is a JSON object; batches are not supported.", -32600)
    error_id = value.get("id")
    given_id: Id | None = error_id if _is_id(error_id) else None
    try:
        return _message(value)
    except RioError as error:
        error.args = (error.message, given_id)
        raise


def _message(value: dict[str, Any]) -> Request | Response:
    if value.get("jsonrpc") != "2.0":
        raise _bad('"jsonrpc" must be "2.0".', -32600)
    if "id" in value and not _is_id(value["id"]) and not (value["id"] is None and "error" in value):
        raise _bad(f'"id" must be an integer or a string, of at most {ID_CAP} characters.', -32600)
    if "method" in value:
        _only(value, "request", "jsonrpc", "id", "method", "params")
        if type(value["method"]) is not str:
            raise _bad('"method" must be a string.', -32600)
        params = value.get("params", {})
        if not isinstance(params, dict):
            raise _bad('"params" must be an object.', INVALID_PARAMS)
        return Request(id=value.get("id", UNSET), method=value["method"], params=params)
    if ("result" in value) != ("error" in value):
        _only(value, "response", "jsonrpc", "id", "result", "error")
        return Response(id=value.get("id"), result=value.get("result", UNSET), error=value.get("error", UNSET))
    raise _bad('A message needs a "method", or else either a "result" or an "error".', -32600)


def _is_id(value: Any) -> bool:
    # Exactly these types: True and 1.0 equal 1, and would match a call of that id.
    if type(value) is str:
        return len(value) <= ID_CAP
    return type(value) is int and abs(value) < _INTEGER_END


def _only(value: dict[str, Any], what: str, *names: str) -> None:
    if unknown := value.keys() - set(names):
        raise _bad(f"A {what} has no member {_short(min(unknown))}.", -32600)


def result_of(response: dict[str, Any]) -> Any:
    """The result of a decoded response; raises the RioError that the core sent."""
    error = response.get("error")
    if error is None:
        return response.get("result")
    data = error.get("data") or {}
    raise RioError(
        data.get("kind", "internal"),
        data.get("message", error.get("message", "")),
        data.get("action", ""),
        code=error.get("code"),
    )
