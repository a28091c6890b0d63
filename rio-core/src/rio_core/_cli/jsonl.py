"""`rio-core agent --json`: events out and decisions in, one JSON object a line."""

import json
import signal
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Literal

import anyio
import msgspec

from rio_core._cli.decisions import NOBODY
from rio_core._cli.incoming import incoming_lines
from rio_core._cli.project import core, find_project, set_up
from rio_core._cli.turns import INTERRUPTED
from rio_core._cli.waiting import waiting_proposals
from rio_core._cli.writer import Screen
from rio_core.client import Client, Events
from rio_core.protocol import LineTooLongError, Notification, RioError, visible_line

__all__ = ["run"]

_FORMS: Final = (
    'Send {"send": text}, {"stop": true} or {"proposal": id, "digest": digest, "decision": "approve" or "reject"}.'
)


class _Send(msgspec.Struct, forbid_unknown_fields=True):
    send: str


class _Stop(msgspec.Struct, forbid_unknown_fields=True):
    stop: Literal[True]


class _Decide(msgspec.Struct, forbid_unknown_fields=True):
    proposal: str
    digest: str
    decision: Literal["approve", "reject"]
    turn: str | None = None
    hunks: list[int] | None = None
    text: str | None = None
    reason: str | None = None


async def run(options: Namespace, screen: Screen) -> int:
    """Serve one driver on standard input and output; gives the exit code."""
    try:
        async with core(find_project(options.project), "agent --json") as client:
            await set_up(client, options)
            with client.notifications() as notifications:
                return await _Session(client, screen, notifications).run(options.text)
    except RioError as error:
        _tell(screen, error)
        return 1


def _tell(screen: Screen, error: RioError, **more: Any) -> None:
    screen.json({"event": "error", "kind": error.kind, "message": error.message, "action": error.action, **more})


class _Session:
    """One run. It is over when its one message is answered, or when the input has ended and no turn goes on."""

    def __init__(self, client: Client, screen: Screen, notifications: Events[Notification]) -> None:
        self._client = client
        self._screen = screen
        self._notifications = notifications
        self._over = anyio.CancelScope()
        self._tasks = anyio.create_task_group()
        self._ended: dict[str, bool] = {}
        """Whether each turn has ended."""
        self._waiting: dict[str, tuple[str, str]] = {}
        """Turn and digest of each proposal that nobody has decided."""
        self._only: str | None = None
        self._input_ended = False
        self._failed = self._unapproved = self._interrupted = False

    async def run(self, text: str | None) -> int:
        """Serve until it is over; gives the exit code."""
        failure: Exception | None = None
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async with self._tasks as tasks:
                tasks.start_soon(self._obey, signals)
                try:
                    with self._over:
                        await self._begin(text)
                        tasks.start_soon(self._read)
                        async for notification in self._notifications:
                            self._take(notification)
                except (RioError, OSError) as error:  # raised below: from within, the task group would wrap it
                    failure = error
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        if self._interrupted:
            return INTERRUPTED
        return 1 if self._failed else 3 if self._unapproved else 0

    async def _begin(self, text: str | None) -> None:
        for event in await waiting_proposals(self._client):
            self._take(Notification(method=event.NAME, params=msgspec.to_builtins(event)))
        if text is not None:
            self._only = await self._send(text)

    async def _send(self, text: str) -> str:
        turn: str = (await self._client.call("agent.send", text=text)).turn
        self._ended.setdefault(turn, False)  # its end may have been told before this answer was read
        return turn

    def _take(self, notification: Notification) -> None:
        name, params = notification.method, notification.params
        self._screen.json({"event": name} | params)
        turn = params.get("turn")
        match name:
            case "agent.started":
                self._ended.setdefault(turn, False)
            case "agent.propose":
                self._ended.setdefault(turn, False)
                self._waiting[params["proposal"]] = turn, params["digest"]
                if self._input_ended:
                    self._tasks.start_soon(self._reject, params["proposal"])
            case "agent.resolved":
                self._waiting.pop(params["proposal"], None)
                self._unapproved |= params["outcome"] != "applied"
            case "agent.message" | "agent.error" | "agent.stopped":
                self._ended[turn] = True
                self._failed |= name == "agent.error"
                self._look()

    def _look(self) -> None:
        """End the run when there is nothing more to wait for."""
        done = self._ended.get(self._only, False) if self._only is not None else False
        if done or (self._input_ended and all(self._ended.values())):
            self._over.cancel()

    async def _read(self) -> None:
        number = 0
        try:
            async for line in incoming_lines(sys.stdin.fileno()):
                number += 1
                if line.strip():
                    await self._serve(line, number)
        except LineTooLongError:
            error = RioError("bad_message", f"Line {number + 1} is too long; nothing after it is read.", _FORMS)
            _tell(self._screen, error, line=number + 1)
        self._end_input()

    def _end_input(self) -> None:
        self._input_ended = True
        for proposal in self._waiting:
            self._tasks.start_soon(self._reject, proposal)
        self._look()

    async def _serve(self, line: bytes, number: int) -> None:
        try:
            match _understood(line):
                case _Send(send=text):
                    await self._send(text)
                case _Stop():
                    await self._client.call("agent.stop")
                case _Decide() as told:
                    await self._decide(told)
        except RioError as error:
            _tell(self._screen, error, line=number)

    async def _decide(self, told: _Decide) -> None:
        turn = told.turn or self._waiting.get(told.proposal, ("", ""))[0]
        if not turn:
            raise RioError("not_found", f"No proposal {visible_line(told.proposal)} waits.", "Decide one that waits.")
        given = {name: value for name, value in msgspec.structs.asdict(told).items() if value is not None}
        await self._client.call("agent.approve", **(given | {"turn": turn}))

    async def _reject(self, proposal: str) -> None:
        if proposal in self._waiting:
            turn, digest = self._waiting[proposal]
            with suppress(RioError):  # it was withdrawn, or comes again with another digest
                await self._client.call(
                    "agent.approve", turn=turn, proposal=proposal, digest=digest, **NOBODY.params()
                )  # fmt: skip

    async def _obey(self, signals: AsyncIterator[signal.Signals]) -> None:
        async for _ in signals:
            if self._interrupted:
                self._over.cancel()
            self._interrupted = True
            self._tasks.start_soon(self._stop)

    async def _stop(self) -> None:
        with suppress(RioError):
            await self._client.call("agent.stop")
        self._end_input()


def _understood(line: bytes) -> _Send | _Stop | _Decide:
    try:
        # Not msgspec's parser: it takes the last of two members with one name.
        given = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
        if not isinstance(given, dict):
            raise TypeError("it is no object")
        if "send" in given:
            return msgspec.convert(given, _Send)
        return msgspec.convert(given, _Stop) if "stop" in given else msgspec.convert(given, _Decide)
    except (ValueError, TypeError, RecursionError, msgspec.ValidationError) as error:
        raise RioError("bad_message", f"The line is not understood: {visible_line(str(error))}.", _FORMS) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return members
