"""The first requests, sent the moment the core is started: it answers them while this process still imports Qt.

No Qt, no rio_core and no msgspec here. The link recognises a call that was made early by its op and parameters.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple


class Early(NamedTuple):
    """A request that has been sent."""

    id: int
    op: str
    params: dict[str, Any]


def hello(client: str) -> tuple[str, dict[str, Any]]:
    """The greeting."""
    return "core.hello", {"protocol": 1, "client": client, "approve": True, "capabilities": {}}


def status() -> tuple[str, dict[str, Any]]:
    """Asking where the core keeps its state."""
    return "core.status", {}


def open_project(path: str) -> tuple[str, dict[str, Any]]:
    """Opening a folder."""
    return "project.open", {"path": path}


def open_file(path: str) -> tuple[str, dict[str, Any]]:
    """Opening a file."""
    return "buffer.open", {"path": path, "encoding": None}


def send(descriptor: int, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[Early]:
    """Send requests as far as the pipe takes them at once; those that were sent whole."""
    sent = []
    for ident, (op, params) in enumerate(requests, 1):
        message = {"jsonrpc": "2.0", "id": ident, "method": op, "params": params}
        line = json.dumps(message).encode("ascii") + b"\n"
        # A pipe takes a message of up to PIPE_BUF bytes whole or not at all (POSIX, write).
        if len(line) > 4096:
            break
        with contextlib.suppress(OSError):
            os.write(descriptor, line)
            sent.append(Early(ident, op, params))
            continue
        break
    return sent
