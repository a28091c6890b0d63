"""One connection to a core: calls matched to their answers by id, and events handed to listeners."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from rio_core.client._events import Events
from rio_core.protocol import EVENTS, OPS, Event, Notification, Request, Response, RioError, encode, parse, visible_line
from rio_core.protocol.messages import result_of
from rio_core.protocol.ops.core import HelloResult
from rio_core.protocol.ops.project import OpenResult

__all__ = ["Client"]

_log = logging.getLogger("rio_core.client")
_NEWER = "Use a core and a front end of the same version."


class _Call:
    """A call that waits for its answer."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.answer: Response | RioError | None = None

    def settle(self, answer: Response | RioError) -> None:
        self.answer = answer
        self.done.set()


class Client:
    """Calls ops and hands out events. Any number of calls may be in flight.

    `hello` is what the core said of itself, `project` the project that it serves, if one was asked for.
    """

    hello: HelloResult
    project: OpenResult | None = None

    def __init__(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._send = send
        self._calls: dict[int, _Call] = {}
        self._last_id = 0
        self._listeners: list[Events[Any]] = []
        self._failure: RioError | None = None
        self._ended = anyio.Event()

    async def call(self, op: str, /, **params: Any) -> Any:
        """Call an op by name; gives a struct of the op's result type (`rio_core.protocol.OPS[op].result`).

        Raises RioError as the core sent it, or of kind `internal` when the core died. A cancelled call is not taken
        back: the core may still do it, and its answer is dropped.
        """
        result_type = OPS[op].result
        if self._failure is not None:
            raise _again(self._failure)
        self._last_id += 1
        number, call = self._last_id, _Call()
        self._calls[number] = call
        try:
            await self._send(encode(Request(id=number, method=op, params=params)))
            await call.done.wait()
        finally:
            self._calls.pop(number, None)
        if isinstance(call.answer, RioError):
            raise _again(call.answer)
        return _result(op, result_type, call.answer)

    def events(self) -> Events[Event]:
        """Events from now on, each as its type in `rio_core.protocol.events`; those of unknown name are left out."""
        return self._listen(_typed)

    def notifications(self) -> Events[Notification]:
        """The same as the wire has it: every notification, its parameters as plain data."""
        return self._listen(lambda notification: notification)

    async def ended(self) -> RioError | None:
        """Wait until there is no core behind this client any more; the failure if it died by itself."""
        await self._ended.wait()
        return self._failure

    def take(self, line: bytes) -> None:
        """Take one line from the core. What is no answer to a waiting call and no event is dropped and logged.

        Raises UnicodeDecodeError for a line that is not UTF-8: no byte after it can be trusted.
        """
        try:
            message = parse(line)
        except RioError as error:
            _log.info("dropped a line of the core: %s", visible_line(error.message))
            return
        if isinstance(message, Request):
            notification = Notification(method=message.method, params=message.params)
            for listener in tuple(self._listeners):
                listener.take(notification)
            return
        # `parse` has refused ids such as true and 1.0, which as keys would equal 1.
        call = self._calls.pop(message.id, None) if isinstance(message.id, int) else None
        if call is None:
            _log.info("dropped an answer that no call waits for")
        else:
            call.settle(message)

    def end(self, failure: RioError) -> None:
        """The connection is over. `failure` is for calls that wait or come later, and for events if it is a fault."""
        if self._failure is not None:
            return
        self._failure = failure
        calls, self._calls = list(self._calls.values()), {}
        for call in calls:
            call.settle(failure)
        for listener in self._listeners:
            listener.end(failure if failure.kind == "internal" else None)
        self._ended.set()

    def _listen(self, convert: Callable[[Notification], Any]) -> Events[Any]:
        events: Events[Any] = Events(convert, self._forget)
        self._listeners.append(events)
        if self._failure is not None:
            events.end(self._failure if self._failure.kind == "internal" else None)
        return events

    def _forget(self, events: Events[Any]) -> None:
        if events in self._listeners:
            self._listeners.remove(events)


def _again(error: RioError) -> RioError:
    # One error object raised in several tasks would gather all their tracebacks.
    return RioError(error.kind, error.message, error.action, code=error.code)


def _typed(notification: Notification) -> Event | None:
    event_type = EVENTS.get(notification.method)
    if event_type is None:
        return None
    try:
        return msgspec.convert(notification.params, event_type)
    except msgspec.ValidationError as error:
        _log.info("dropped a malformed %s: %s", notification.method, visible_line(str(error)))
        return None


def _result(op: str, result_type: type[Any], answer: Response | None) -> Any:
    raw = msgspec.to_builtins(answer)
    error = raw.get("error")
    if error is not None and not (isinstance(error, dict) and isinstance(error.get("data", {}), dict)):
        raise RioError("internal", f"The core refused {op} without saying why.", _NEWER)
    try:
        return msgspec.convert(result_of(raw), result_type)
    except msgspec.ValidationError as invalid:
        message = f"The core's answer to {op} is not understood: {visible_line(str(invalid))}."
        raise RioError("internal", message, _NEWER) from None
