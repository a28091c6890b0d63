"""How an op finds the function that does it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from rio_core.protocol.errors import INVALID_PARAMS, RioError
from rio_core.protocol.values import Params, Result
from rio_core.protocol.visible import visible_line

if TYPE_CHECKING:
    from rio_core._engine.core import Core
    from rio_core._engine.serving.connection import Connection

__all__ = ["Call", "Handler", "Handlers", "params_of"]


class Call:
    """A request as its handler sees it."""

    __slots__ = ("connection", "core", "id")

    def __init__(self, core: "Core", connection: "Connection", request_id: int | str | None) -> None:
        self.core = core
        self.connection = connection
        self.id = request_id


Handler = Callable[[Call, Any], Result | Awaitable[Result]]
"""A plain function answers at once; a coroutine function runs beside other requests."""


class Handlers:
    """A table of ops, filled by decorators."""

    def __init__(self) -> None:
        self.by_name: dict[str, Handler] = {}

    def op(self, name: str) -> Callable[[Callable[[Call, Any], Any]], Callable[[Call, Any], Any]]:
        """Register the function that does this op; its second parameter is of the op's params type."""

        def register(function: Callable[[Call, Any], Any]) -> Callable[[Call, Any], Any]:
            self.by_name[name] = function
            return function

        return register


def params_of(kind: type[Params], value: Any, name: str) -> Params:
    """Parameters of the op's type; raises RioError for anything else."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise RioError(
            "bad_message",
            f"The parameters of {name} are wrong: {visible_line(str(error))}.",
            "Send them as the protocol reference describes.",
            code=INVALID_PARAMS,
        ) from None
