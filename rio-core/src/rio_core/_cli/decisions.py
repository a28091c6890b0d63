"""What can be decided about a proposal, and by whom."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from rio_core.protocol.events import AgentPropose

__all__ = ["NOBODY", "Decider", "Decision", "QuitError"]


@dataclass(frozen=True)
class Decision:
    """What `agent.approve` is told, beside the proposal and the digest that it is about."""

    decision: Literal["approve", "reject"]
    hunks: list[int] | None = None
    text: str | None = None
    reason: str | None = None

    def params(self) -> dict[str, Any]:
        """The parameters that are given."""
        return {name: value for name, value in vars(self).items() if value is not None}


class QuitError(Exception):
    """The user leaves without deciding."""


Decider = Callable[[AgentPropose], Awaitable[Decision]]
"""Decides one proposal that it has shown to somebody; raises QuitError to leave, or RioError when it came too late."""

NOBODY: Final = Decision("reject", reason="nobody was there to decide")
