"""The state of a turn that is under way."""

import anyio

from rio_core._engine.agent.proposals import Proposal
from rio_core._engine.agent.reply import Reply
from rio_core.protocol.values import Usage

__all__ = ["Turn", "TurnOverError"]


class TurnOverError(Exception):
    """The turn was closed while something of it was under way: nothing more may come of that."""


class Turn:
    """From a message of the user to the end of what it set off."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.scope = anyio.CancelScope()
        self.closed = False
        self.reply: Reply | None = None
        self.open_calls: list[str] = []
        self.proposals: dict[str, Proposal] = {}
        self.decided = anyio.Event()
        self.finished = anyio.Event()
        self.usage = Usage()
        self._before = Usage()

    def go_on(self) -> None:
        """Raise TurnOverError when the turn is closed.

        To be called after everything that was waited for: cancelling reaches a task only at its next wait.
        """
        if self.closed:
            raise TurnOverError

    def set_usage(self, usage: Usage) -> None:
        """Take the running totals of the answer that is coming in; those of earlier answers stay."""
        before = self._before
        self.usage = Usage(
            input=before.input + usage.input,
            output=before.output + usage.output,
            cache_read=before.cache_read + usage.cache_read,
            cache_write=before.cache_write + usage.cache_write,
            cost=None if usage.cost is None and before.cost is None else (before.cost or 0.0) + (usage.cost or 0.0),
            estimate=usage.estimate or before.estimate,
            detail=usage.detail,
        )

    def keep_usage(self) -> None:
        """The answer is complete: the next one counts on top of it."""
        self._before = self.usage

    def settle(self, proposal: str) -> None:
        """A proposal waits no more."""
        del self.proposals[proposal]
        if not self.proposals:
            self.decided.set()
