"""Showing a proposal, and asking at the terminal what to do with it."""

from collections.abc import Iterator
from typing import Final

from rio_core._cli import diff
from rio_core._cli.cautions import cautions
from rio_core._cli.decisions import Decider, Decision, QuitError
from rio_core._cli.edit import edit_text
from rio_core._cli.terminal import Terminal
from rio_core._cli.text import one_line
from rio_core._cli.writer import Screen
from rio_core.client import Client
from rio_core.protocol import RioError
from rio_core.protocol.events import AgentPropose
from rio_core.protocol.ops.agent import ProposalResult
from rio_core.protocol.values import Hunk

__all__ = ["LARGE", "Review", "unattended"]

LARGE: Final = 2000
"""Rows of a diff on the screen from which on a single letter does not approve it."""

_CONTEXT: Final = 3
_CHOICES: Final = "[a]pprove  [r]eject  [h]unks  [e]dit in $EDITOR  [q]uit"
_LARGE_CHOICES: Final = "[yes] approve  [show] page by page  [r]eject  [h]unks  [e]dit in $EDITOR  [q]uit"
_COMMAND_CHOICES: Final = "[a]pprove  [r]eject  [q]uit"


def show(screen: Screen, event: AgentPropose) -> None:
    """Draw the whole of a proposal, then what its reader should know."""
    again = f"  (again: it has changed, round {event.round})" if event.round else ""
    screen.line()
    screen.line((f"{event.kind} ", "bold"), (one_line(event.path), "bold"), again)
    screen.lines(diff.drawn(event.diff))
    for mark in (*event.marks, *cautions(event.diff)):
        screen.warn(one_line(mark))


def unattended(screen: Screen, decision: Decision, why: str) -> Decider:
    """Decides each proposal alike where there is nobody to ask; it is shown all the same, and why it is so decided."""

    async def decide(event: AgentPropose) -> Decision:
        show(screen, event)
        screen.line(why)
        return decision

    return decide


class Review:
    """Decides proposals by showing each and asking. No answer is a default one, and none typed ahead counts."""

    def __init__(self, terminal: Terminal, client: Client) -> None:
        self._terminal = terminal
        self._screen = terminal.screen
        self._client = client

    async def __call__(self, event: AgentPropose) -> Decision:
        """Raises QuitError to leave, and RioError when the proposal is no longer the one that was shown."""
        show(self._screen, event)
        size = diff.rows(event.diff, self._screen.width)
        unseen = size > LARGE
        if unseen:
            self._screen.warn(f"{size:,} lines: type `yes` in full, or `show` to page through all of it first")
        while True:
            command = event.kind == "command"
            answer = await self._ask(_LARGE_CHOICES if unseen else _COMMAND_CHOICES if command else _CHOICES)
            decision = None
            match answer:
                case "":
                    continue
                case "a" | "approve" if not unseen:
                    return Decision("approve")
                case "yes" if unseen:
                    return Decision("approve")
                case "show" | "s":
                    unseen = not await self._page(event) and unseen
                    continue
                case "r" | "reject":
                    decision = await self._reject()
                case "h" | "hunks" if not command:
                    decision = await self._hunks(event)
                case "e" | "edit" if not command:
                    decision = await self._edit(event)
                case "q" | "quit":
                    raise QuitError
                case _:
                    self._screen.line("Type one of the words or letters in brackets, then Enter.")
            if decision is not None:
                return decision

    async def _ask(self, question: str) -> str:
        answer = await self._terminal.ask(question)
        if answer is None:
            raise QuitError
        return answer.strip().lower()

    async def _reject(self) -> Decision:
        reason = await self._terminal.ask("Reason, for the model (may be empty)")
        if reason is None:
            raise QuitError
        return Decision("reject", reason=reason.strip() or None)

    async def _page(self, event: AgentPropose) -> bool:
        """Whether the end was reached."""
        height = max(5, self._screen.height - 2)
        used = 0
        for pieces in diff.drawn(event.diff):
            rows = diff.rows("".join(text for text, _ in pieces), self._screen.width)
            if used and used + rows > height:
                if await self._ask("-- Enter for more, q to go back") == "q":
                    return False
                used = 0
            self._screen.line(*pieces)
            used += rows
        return True

    async def _hunks(self, event: AgentPropose) -> Decision | None:
        proposal = await self._proposal(event)
        kept: list[int] = []
        for number, hunk in enumerate(proposal.hunks, 1):
            title = f"@@ hunk {number} of {len(proposal.hunks)} @@\n"
            self._screen.lines(diff.drawn(title + "".join(_hunk_lines(proposal, hunk))))
            while (answer := await self._ask("Keep this hunk? [y]es  [n]o  [b]ack")) not in ("y", "yes", "n", "no"):
                if answer in ("b", "back"):
                    return None
            if answer in ("y", "yes"):
                kept.append(hunk.id)
        if not kept:
            self._screen.line("No hunk is kept: that is a rejection.")
            return await self._reject()
        return Decision("approve", hunks=kept)

    async def _edit(self, event: AgentPropose) -> Decision | None:
        proposal = await self._proposal(event)
        try:
            with self._terminal.lend():
                text = await edit_text(proposal.new, proposal.path)
        except RioError as error:
            self._screen.error(error.message, error.action)
            return None
        changed = diff.between(proposal.old, text)
        if not changed:
            self._screen.line("Edited like this it changes nothing: reject it instead.")
            return None
        self._screen.line(("as you left it ", "bold"), (one_line(event.path), "bold"))
        self._screen.lines(diff.drawn(changed))
        for caution in cautions(changed):
            self._screen.warn(caution)
        while (answer := await self._ask("Approve this? [y]es  [n]o")) not in ("y", "yes", "n", "no"):
            pass
        if answer in ("n", "no"):
            return None
        return Decision("approve") if text == proposal.new else Decision("approve", text=text)

    async def _proposal(self, event: AgentPropose) -> ProposalResult:
        proposal = await self._client.call("agent.proposal", turn=event.turn, proposal=event.proposal)
        assert isinstance(proposal, ProposalResult)  # noqa: S101  the type of this op's result
        if proposal.digest != event.digest:
            raise RioError("stale", f"{event.path} has changed since the proposal was shown.", "Look at it again.")
        return proposal


def _hunk_lines(proposal: ProposalResult, hunk: Hunk) -> Iterator[str]:
    old, new = diff.lines_of(proposal.old), diff.lines_of(proposal.new)
    end = hunk.old_start + hunk.old_lines
    for sign, lines in (
        (" ", old[max(0, hunk.old_start - _CONTEXT) : hunk.old_start]),
        ("-", old[hunk.old_start : end]),
        ("+", new[hunk.new_start : hunk.new_start + hunk.new_lines]),
        (" ", old[end : end + _CONTEXT]),
    ):
        for line in lines:
            yield diff.ended(sign + line)
