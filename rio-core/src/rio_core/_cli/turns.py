"""Following a turn to its end: events drawn, proposals decided, Ctrl-C obeyed."""

import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio

from rio_core._cli.decisions import Decider, Decision, QuitError
from rio_core._cli.terminal import Terminal
from rio_core._cli.view import View
from rio_core.client import Client
from rio_core.protocol import Event, RioError
from rio_core.protocol.events import (
    AgentError,
    AgentEvent,
    AgentMessage,
    AgentPropose,
    AgentResolved,
    AgentStopped,
)

__all__ = ["INTERRUPTED", "Report", "Turns"]

INTERRUPTED = 130
"""The exit code of what Ctrl-C ended, as shells have it (128 and the number of SIGINT)."""


@dataclass
class Report:
    """What came of the turns so far."""

    changed: list[str] = field(default_factory=list)
    unapproved: int = 0
    failed: bool = False
    interrupted: bool = False
    quit: bool = False

    @property
    def code(self) -> int:
        """The exit code that says it."""
        if self.interrupted:
            return INTERRUPTED
        return 1 if self.failed else 3 if self.unapproved else 0

    def resolved(self, event: AgentResolved, path: str) -> None:
        """Count one decision."""
        if event.outcome != "applied":
            self.unapproved += 1
        elif path not in self.changed:
            self.changed.append(path)


class Turns:
    """Follows one turn after another. `events` must have been listened to since before the turn began."""

    def __init__(
        self,
        client: Client,
        events: AsyncIterator[Event],
        view: View,
        decide: Decider,
        terminal: Terminal | None = None,
    ) -> None:
        self.report = Report()
        self._client = client
        self._events = events
        self._view = view
        self._decide = decide
        self._terminal = terminal
        self._asked: dict[str, AgentPropose] = {}
        self._question: anyio.CancelScope | None = None
        self._stopping = False

    async def say(self, text: str) -> None:
        """Send a message and follow its turn to the end."""
        sent = await self._client.call("agent.send", text=text)
        await self.follow(sent.turn)

    async def follow(self, turn: str, waiting: Iterable[AgentPropose] = ()) -> None:
        """Follow a turn to its end, deciding first the proposals that are `waiting` already.

        Ctrl-C stops it, a second time leaves (`report.interrupted` in both cases; `report.quit` to leave).
        """
        self._stopping = False
        failure: Exception | None = None
        # The receiver is there before anything is asked: Ctrl-C at the first question must find it.
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._obey, signals, turn, tasks.cancel_scope)
                tasks.start_soon(self._watch)
                try:
                    await self._follow(turn, waiting)
                except (RioError, OSError) as error:  # raised below: from within, the task group would wrap it
                    failure = error
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _follow(self, turn: str, waiting: Iterable[AgentPropose]) -> None:
        for proposal in waiting:
            await self._consider(proposal)
        async for event in self._events:
            if not isinstance(event, AgentEvent) or event.turn != turn:
                continue
            if isinstance(event, AgentPropose):
                await self._consider(event)
                continue
            self._view.show(event)
            match event:
                case AgentResolved() if event.proposal in self._asked:
                    self.report.resolved(event, self._asked[event.proposal].path)
                case AgentError():
                    self.report.failed = True
                    return
                case AgentMessage() | AgentStopped():
                    return

    async def _consider(self, event: AgentPropose) -> None:
        known = self._asked.get(event.proposal)
        if self._stopping or (known is not None and known.digest == event.digest):
            return
        self._asked[event.proposal] = event
        self._view.proposed(event.proposal, event.call, event.path)
        decided = False
        with anyio.CancelScope() as self._question:
            while not decided:
                decided = await self._decide_once(event)
        self._question = None

    async def _decide_once(self, event: AgentPropose) -> bool:
        """Whether there is nothing more to decide about this event."""
        decision: Decision | None = None
        try:
            decision = await self._decide(event)
            await self._client.call(
                "agent.approve",
                turn=event.turn, proposal=event.proposal, digest=event.digest, **decision.params(),
            )  # fmt: skip
        except QuitError:
            self.report.quit = self._stopping = True
            with suppress(RioError):
                await self._client.call("agent.stop", turn=event.turn)
        except RioError as error:
            self._view.refused(error)
            # These say that the proposal is gone, or comes again as it is now. Any other leaves it waiting as it was.
            return decision is None or error.kind in ("stale", "conflict", "not_found", "internal")
        return True

    async def _stop(self, turn: str) -> None:
        self._stopping = True
        if self._question is not None:
            self._question.cancel()
        with suppress(RioError):  # what is left to follow tells of the death of a core
            await self._client.call("agent.stop", turn=turn)

    async def _watch(self) -> None:
        await self._client.ended()
        if self._question is not None:
            self._question.cancel()

    async def _obey(self, signals: AsyncIterator[signal.Signals], turn: str, leave: anyio.CancelScope) -> None:
        async with anyio.create_task_group() as tasks:
            async for _ in signals:
                if self._terminal is not None and self._terminal.lent:
                    continue
                if self._stopping:
                    self.report.interrupted = self.report.quit = True
                    leave.cancel()
                    return
                self.report.interrupted = True
                tasks.start_soon(self._stop, turn)
