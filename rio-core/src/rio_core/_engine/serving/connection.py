"""One front end: its greeting, its requests and the events that it is told."""

import inspect
import logging
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import TaskGroup
from msgspec import UNSET, structs

from rio_core._engine.serving.channel import Channel
from rio_core._engine.serving.handlers import Call, params_of
from rio_core._engine.serving.table import IN_ORDER, handler_of
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import BufferChanged, Event
from rio_core.protocol.framing import LINE_CAP, Lines, LineTooLongError, encode
from rio_core.protocol.messages import Notification, Request, Response, failure, parse
from rio_core.protocol.ops import OPS
from rio_core.protocol.values import Result
from rio_core.protocol.visible import visible_line

if TYPE_CHECKING:
    from rio_core._engine.core import Core

__all__ = ["Connection"]

logger = logging.getLogger(__name__)

IN_FLIGHT: Final = 256
"""Requests of one connection that are done beside each other; the next ones wait unread."""

FOR_PLUGINS: Final = frozenset({"agent", "plugin", "provider", "settings", "secret"})
"""Namespaces whose ops have to do with plugins."""

CALLER: "ContextVar[Connection | None]" = ContextVar("caller", default=None)
"""The connection whose request is being done."""


class CloseError(Exception):
    """The connection is to be closed, and why."""


class Connection:
    """Serves one channel until it ends. State belongs to the core; only the right to decide is the connection's."""

    def __init__(self, core: "Core", channel: Channel, *, cap: int = LINE_CAP) -> None:
        self.client = ""
        self._core = core
        self._channel = channel
        self._cap = cap
        self._reading = anyio.CancelScope()
        self._greeted = False
        self._places = anyio.Semaphore(IN_FLIGHT)

    @property
    def decides(self) -> bool:
        """Whether this connection owns decisions."""
        return self._core.owner is self

    async def serve(self) -> None:
        """Answer until the peer closes, or breaks the rules in a way that closes the connection."""
        stop_listening = self._core.bus.listen(self._tell)
        self._core.connections.add(self)
        try:
            async with anyio.create_task_group() as writing:
                writing.start_soon(self._channel.write_forever)
                async with anyio.create_task_group() as handling:
                    with self._reading:
                        await self._read(handling)
                    # Requests that are being answered are finished, whatever ended the reading.
                with anyio.move_on_after(5):
                    await self._channel.flush()
                writing.cancel_scope.cancel()
        finally:
            stop_listening()
            self._core.leave(self)

    async def drain(self) -> None:
        """Wait until the peer has taken enough of what it was sent."""
        await self._channel.drain()

    def stop(self) -> None:
        """Read no more. What is being answered is finished first."""
        self._reading.cancel()

    def greet(self, client: str) -> None:
        """The peer has said hello."""
        self._greeted = True
        self.client = client

    async def _read(self, handling: TaskGroup) -> None:
        try:
            await self._read_lines(handling)
        except CloseError as closing:
            logger.info("closing the connection: %s", closing)
            self._refuse(
                RioError("bad_message", f"Closing: {closing}.", "Connect again and keep to the protocol reference.")
            )

    async def _read_lines(self, handling: TaskGroup) -> None:
        lines = Lines(self._cap)
        while data := await self._channel.receive():
            try:
                complete, fault = lines.feed(data), None
            except LineTooLongError as error:
                complete, fault = error.args[0], CloseError(f"a line is longer than {self._cap} bytes")
            for line in complete:
                await self._line(line, handling)
                await self._channel.drain()
            if fault:
                raise fault

    async def _line(self, line: bytes, handling: TaskGroup) -> None:
        try:
            message = parse(line)
        except UnicodeDecodeError as error:
            raise CloseError(f"a line is not UTF-8 (byte {error.start})") from None
        except RioError as error:
            if not self._greeted:
                raise CloseError(f"the first message must be core.hello: {error.message}") from None
            given = error.args[1] if len(error.args) > 1 else None
            self._refuse(error, given)
            return
        if not self._greeted and not (isinstance(message, Request) and message.method == "core.hello"):
            raise CloseError("the first message must be core.hello")
        if isinstance(message, Response):
            # The core asks its front ends nothing, so no answer can be meant for it.
            logger.info("dropped an answer to a question that was never asked")
            return
        await self._request(message, handling)

    async def _request(self, request: Request, handling: TaskGroup) -> None:
        given = None if request.id is UNSET else request.id
        CALLER.set(self)
        answer: Any
        try:
            op = OPS.get(request.method)
            if op is None:
                name = visible_line(request.method[:100])
                raise RioError("unknown_op", f"There is no op {name}.", "See the protocol reference for the ops.")
            params = params_of(op.params, request.params, op.name)
            if op.decides and not self.decides:
                raise RioError(
                    "forbidden",
                    f"{op.name} is for the connection that owns decisions, and this one does not.",
                    "Decide in the front end that asked for `approve` first, or close it and connect again.",
                )
            if op.name.partition(".")[0] in FOR_PLUGINS:
                self._core.plugins_wanted.set()
            answer = handler_of(op.name)(Call(self._core, self, given), params)
        except RioError as error:
            self._fail(error, request)
        except Exception as error:
            logger.exception("%s failed", request.method)
            self._fail(_fault(request.method, error), request)
        else:
            if not inspect.isawaitable(answer):
                self._answer(answer, request)
            elif request.method in IN_ORDER:
                await self._finish(answer, request)
            else:
                await self._places.acquire()
                handling.start_soon(self._finish_beside, answer, request)

    async def _finish_beside(self, answer: Awaitable[Result], request: Request) -> None:
        try:
            await self._finish(answer, request)
        finally:
            self._places.release()

    async def _finish(self, answer: Awaitable[Result], request: Request) -> None:
        try:
            result = await answer
        except RioError as error:
            self._fail(error, request)
        except Exception as error:
            logger.exception("%s failed", request.method)
            self._fail(_fault(request.method, error), request)
        else:
            self._answer(result, request)

    def _answer(self, result: Result, request: Request) -> None:
        if request.id is not UNSET:
            self._channel.send(encode(Response(id=request.id, result=result)))

    def _fail(self, error: RioError, request: Request) -> None:
        if request.id is not UNSET:
            self._refuse(error, request.id)

    def _refuse(self, error: RioError, given: int | str | None = None) -> None:
        self._channel.send(encode(Response(id=given, error=failure(error))))

    def _tell(self, event: Event) -> None:
        if not self._greeted:
            return
        if isinstance(event, BufferChanged) and event.request is not UNSET and CALLER.get() is not self:
            event = structs.replace(event, request=UNSET)
        self._channel.send(encode(Notification(method=event.NAME, params=event)))
        if self._channel.is_broken:
            self.stop()


def _fault(method: str, error: Exception) -> RioError:
    return RioError(
        "internal",
        f"rio failed in {method}: {visible_line(repr(error))[:300]}.",
        "Try again; if it stays, report it with the log of the core.",
    )
