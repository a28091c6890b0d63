"""`core`: greeting, state and end of a core."""

from typing import Any

from rio_core.protocol.ops._op import Done, Nothing, Op
from rio_core.protocol.values import Params, Result


class HelloParams(Params):
    """Must be the first message. `approve` asks to own decisions: who asks first has them until it closes."""

    protocol: int
    client: str
    approve: bool = False
    capabilities: dict[str, Any] = {}


class HelloResult(Result):
    """`instance` is random per process; `approve` says whether this connection owns decisions."""

    protocol: int
    version: str
    instance: str
    capabilities: dict[str, Any]
    approve: bool


class StatusResult(Result):
    """What the core is doing. `plugins` is `loading` until every plugin has been tried."""

    version: str
    instance: str
    project: str | None
    trusted: bool
    buffers: int
    dirty: int
    plugins: str
    provider: str | None
    state_folder: str
    config_folder: str
    notices: list[str] = []
    """What the user should know: a settings file that could not be read, a value that is not used."""


class ShutdownParams(Params):
    """End the core. Refused (`dirty`) while a buffer holds unsaved text, unless `discard`."""

    discard: bool = False


OPS = (
    Op("core.hello", HelloParams, HelloResult),
    Op("core.status", Nothing, StatusResult, "Tell what the core is doing."),
    Op("core.shutdown", ShutdownParams, Done),
)
