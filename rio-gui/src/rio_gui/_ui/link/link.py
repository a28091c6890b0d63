"""Calls to the core and its events, typed by `rio_core.protocol`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from rio_core.protocol import EVENTS, OPS, PROTOCOL, Op, Request, RioError, encode
from rio_core.protocol.ops.core import HelloParams, HelloResult
from rio_core.protocol.values import Params
from rio_gui._ui.link.early import Early
from rio_gui._ui.link.messages import Incoming, read, read_as
from rio_gui._ui.link.pipe import Pipe

PATIENCE: Final = 5.0
"""Seconds without an answer after which the core counts as not answering."""

_NO_CORE: Final = "Copy what you need from the text in view, and start rio again."

Done = Callable[[Any], None]
Failed = Callable[[RioError], None]


@dataclass(slots=True)
class _Call:
    op: Op
    done: Done
    failed: Failed
    since: float


class Link(QObject):
    """The window's side of the channel."""

    happened = Signal(object)
    """Every event of the core, as the type that the protocol has for it."""
    greeted = Signal(object)
    """The core's answer to hello."""
    answering = Signal(bool)
    """The core has not answered for a while, or does again."""
    lost = Signal(str)
    """The core is gone; the text is the last that it said on its standard error."""

    def __init__(
        self, pipe: Pipe, parent: QObject | None = None, *, patience: float = PATIENCE, early: Sequence[Early] = ()
    ) -> None:
        super().__init__(parent)
        self._pipe = pipe
        self._early = list(early)
        self._patience = patience
        self._calls: dict[int, _Call] = {}
        self._last = len(self._early)
        self._heard = 0.0
        self._silent = False
        self._alive = True
        pipe.received.connect(self._received)
        pipe.ended.connect(self._ended)
        self._watch = QTimer(self)
        self._watch.setInterval(max(1, int(patience * 1000 / 4)))
        self._watch.timeout.connect(self._look)

    @property
    def alive(self) -> bool:
        """Whether there is a core."""
        return self._alive

    @property
    def silent(self) -> bool:
        """Whether the core has not answered for a while."""
        return self._silent

    def greet(self, client: str) -> None:
        """Say hello, which must come first."""
        params = HelloParams(protocol=PROTOCOL, client=client, approve=True)
        self.call("core.hello", params, self._greeted, lambda error: self._lose(error.message))

    def _greeted(self, result: HelloResult) -> None:
        self.greeted.emit(result)

    def call(self, op: str, params: Params, done: Done, failed: Failed) -> int:
        """Send a request and return its id. One of the functions is called later, never at once."""
        call = _Call(OPS[op], done, failed, time.monotonic())
        if (early := self._sent_early(op, params)) is not None:
            self._calls[early] = call
            return early
        self._last += 1
        self._calls[self._last] = call
        if self._alive:
            self._pipe.send(encode(Request(id=self._last, method=op, params=params)))
            if not self._watch.isActive():
                self._watch.start()
        else:
            QTimer.singleShot(0, self, self._fail_all)
        return self._last

    def _sent_early(self, op: str, params: Params) -> int | None:
        if self._early:
            given = msgspec.to_builtins(params)
            for sent in self._early:
                if sent.op == op and sent.params == given:
                    self._early.remove(sent)
                    return sent.id
        return None

    def close(self) -> None:
        """Let the core go."""
        self._alive = False
        self._watch.stop()
        self._pipe.close()

    def abandon(self) -> None:
        """End a core that is silent."""
        self._alive = False
        self._watch.stop()
        self._pipe.kill()

    def _received(self, lines: list[bytes]) -> None:
        self._heard = time.monotonic()
        for line in lines:
            try:
                self._take(read(line))
            except (msgspec.DecodeError, ValueError) as error:
                self._lose(f"The core sent what this window cannot read: {error}")
                return
        if not self._calls:
            self._watch.stop()
        self._set_silent(False)

    def _take(self, message: Incoming) -> None:
        if message.method is not None:
            kind = EVENTS.get(message.method)
            if kind is not None and isinstance(message.params, msgspec.Raw):
                self.happened.emit(read_as(message.params, kind))
            return
        call = self._calls.pop(message.id, None) if message.id is not None else None
        if call is None:
            return
        if isinstance(message.result, msgspec.Raw):
            call.done(read_as(message.result, call.op.result))
        else:
            call.failed(_error(message))

    def _look(self) -> None:
        if not self._calls:
            self._watch.stop()
        elif time.monotonic() - max(self._heard, next(iter(self._calls.values())).since) > self._patience:
            self._set_silent(True)

    def _set_silent(self, silent: bool) -> None:  # a state, not a mode of the call
        if silent != self._silent:
            self._silent = silent
            self.answering.emit(not silent)

    def _ended(self, complaints: str) -> None:
        self._lose(complaints)

    def _lose(self, reason: str) -> None:
        if not self._alive:
            return
        self.close()
        self._fail_all()
        self.lost.emit(reason)

    def _fail_all(self) -> None:
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.failed(RioError("io", "The core is not running.", _NO_CORE))


def _error(message: Incoming) -> RioError:
    failure = message.error
    if isinstance(failure, msgspec.UnsetType):
        return RioError("internal", "The core sent an answer without content.", "Please report this.")
    if isinstance(failure.data, msgspec.UnsetType):
        return RioError("internal", failure.message, "Please report this.")
    return RioError(failure.data.kind, failure.data.message, failure.data.action)
