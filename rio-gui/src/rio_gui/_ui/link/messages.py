"""Reading the core's messages: typed, and quickly."""

import json
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rio_core.protocol.messages import FailureData


class _Failure(msgspec.Struct):
    message: str = ""
    data: FailureData | UnsetType = UNSET


class Incoming(msgspec.Struct):
    """An answer (`id` and `result` or `error`) or an event (`method` and `params`)."""

    id: int | None = None
    method: str | None = None
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: _Failure | UnsetType = UNSET


_decoder = msgspec.json.Decoder(Incoming)


def read(line: bytes) -> Incoming:
    """Read one line. Raises msgspec.DecodeError or ValueError."""
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # A file name that is not UTF-8 holds lone surrogates (PEP 383), which msgspec does not take.
        message = json.loads(line)
        parts = {name: Raw(json.dumps(message[name]).encode()) for name in ("params", "result") if name in message}
        return msgspec.convert({**message, **parts}, Incoming)


def read_as(raw: Raw, kind: type[Any]) -> Any:
    """Read the content of a message. Raises msgspec.DecodeError or ValueError."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(bytes(raw)), kind)
