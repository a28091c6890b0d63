"""Decisions: each counts once, for the proposal and the digest that were shown."""

from rio_core._engine import diff
from rio_core._engine.agent.desk import Applied, Desk
from rio_core._engine.agent.loop import Agent
from rio_core._engine.agent.proposals import Proposal, split
from rio_core._engine.agent.records import Decided, Result
from rio_core._engine.agent.turn import Turn
from rio_core._engine.bus import Bus
from rio_core._engine.documents import lines
from rio_core._engine.tools.reads import ANSWER, up_to
from rio_core._engine.workspace.paths import model_name
from rio_core.protocol import events
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import Outcome
from rio_core.protocol.ops.agent import ApproveParams, ApproveResult, ProposalResult

__all__ = ["Approvals"]


class Approvals:
    """What a front end asks about proposals."""

    def __init__(self, agent: Agent, desk: Desk, bus: Bus) -> None:
        self._agent = agent
        self._desk = desk
        self._bus = bus

    async def show(self, turn: str, name: str) -> ProposalResult:
        """A waiting proposal as it stands; in a new round where another program changed its file."""
        async with self._desk.busy:
            found, proposal = self._find(turn, name)
            proposal = await self._refresh(found, proposal) or proposal
            record = proposal.record
            return ProposalResult(
                path=record.path,
                kind=record.kind,
                old=record.old,
                new=record.new,
                at=await self._desk.at(record),
                digest=proposal.digest,
                hunks=proposal.hunks,
                round=record.round,
                diff=proposal.diff,
                marks=proposal.marks,
            )

    async def decide(self, params: ApproveParams, *, by: str) -> ApproveResult:
        """Carry out a decision.

        Raises RioError where nothing was decided: `not_found`, `stale`, `bad_message`, or what hinders the writing. The
        proposal then still waits.
        """
        async with self._desk.busy:
            turn, proposal = self._find(params.turn, params.proposal)
            if params.digest != proposal.digest:
                raise RioError(
                    "stale",
                    f"Proposal {params.proposal} is not what was shown: its digest is another one.",
                    "Look at it as it is now, then decide.",
                )
            if params.decision == "reject":
                return self._reject(turn, proposal, params, by)
            new = self._wanted(proposal, params)
            if await self._refresh(turn, proposal):
                raise RioError(
                    "stale",
                    f"{model_name(proposal.record.path)} was changed by another program after this was shown.",
                    "Look at the change as it would land now, then decide.",
                )
            applied = await self._desk.apply(proposal.record, new)
            message = self._told(proposal, applied, new, params)
            outcome: Outcome = "applied" if applied.done else "refused"
            return self._settle(turn, proposal, params, by, outcome, message, applied.message)

    def _find(self, name: str, proposal: str) -> tuple[Turn, Proposal]:
        turn = self._agent.turn
        if turn is None or turn.name != name or proposal not in turn.proposals:
            raise RioError(
                "not_found",
                f"No proposal {proposal!a} of turn {name!a} is waiting: it was decided, or its turn is over.",
                "See agent.history for what is waiting now.",
            )
        return turn, turn.proposals[proposal]

    async def _refresh(self, turn: Turn, proposal: Proposal) -> Proposal | None:
        """Show the proposal again, in a new round, where another program changed the file."""
        record = proposal.record
        disk, digest = await self._desk.check(record)
        if disk == "same":
            return None
        record = type(record)(
            turn=record.turn,
            proposal=record.proposal,
            call=record.call,
            kind=record.kind,
            path=record.path,
            old=record.old,
            new=record.new,
            round=record.round + 1,
            base=digest,
        )
        shown = await self._desk.present(record, disk=disk)
        self._agent.log.append(record)
        turn.proposals[record.proposal] = shown
        self._agent.publish_proposal(shown)
        return shown

    def _wanted(self, proposal: Proposal, params: ApproveParams) -> str:
        if params.hunks is not None and params.text is not None:
            raise RioError("bad_message", "Both `hunks` and `text` were given.", "Approve hunks or a changed text.")
        if params.reason is not None:
            raise RioError("bad_message", "A reason goes with a rejection only.", "Leave it out to approve.")
        if params.text is not None:
            return lines.to_lf(params.text)
        if params.hunks is not None:
            return proposal.chosen(params.hunks)
        return proposal.record.new

    def _reject(self, turn: Turn, proposal: Proposal, params: ApproveParams, by: str) -> ApproveResult:
        if params.hunks is not None or params.text is not None:
            raise RioError("bad_message", "A rejection keeps nothing.", "Leave `hunks` and `text` out.")
        path = model_name(proposal.record.path)
        reason = (params.reason or "").strip()
        message = f"Rejected by the user: {path} was not changed." + (f" The reason: {reason}" if reason else "")
        return self._settle(turn, proposal, params, by, "rejected", message, f"Rejected: {path}")

    def _told(self, proposal: Proposal, applied: Applied, new: str, params: ApproveParams) -> str:
        """What the model is told: what was kept, what the user changed, what was refused."""
        record = proposal.record
        if not applied.done or new == record.new:
            return applied.message
        did = up_to(diff.unified(record.path, split(record.old), split(new)), ANSWER)
        if params.text is not None:
            return f"The user changed your proposal before approving it. {applied.message} What was done:\n{did}"
        left = up_to(diff.unified(record.path, split(new), split(record.new)), ANSWER)
        return f"The user approved a part. {applied.message} What was done:\n{did}What was refused:\n{left}"

    def _settle(
        self,
        turn: Turn,
        proposal: Proposal,
        params: ApproveParams,
        by: str,
        outcome: Outcome,
        message: str,
        summary: str,
    ) -> ApproveResult:
        record = proposal.record
        message = self._agent.sendable(message)
        self._agent.log.keep(
            Decided(
                turn=turn.name,
                proposal=record.proposal,
                digest=proposal.digest,
                decision=params.decision,
                by=by,
                outcome=outcome,
                message=message,
            ),
            Result(turn=turn.name, call=record.call, text=message, ok=outcome == "applied", summary=summary),
        )
        turn.open_calls.remove(record.call)
        self._bus.publish(
            events.AgentResolved(
                turn=turn.name,
                proposal=record.proposal,
                decision=params.decision,
                by=by,
                outcome=outcome,
                message=message,
            )
        )
        self._bus.publish(
            events.AgentToolResult(turn=turn.name, call=record.call, ok=outcome == "applied", summary=summary)
        )
        turn.settle(record.proposal)
        return ApproveResult(outcome=outcome, message=message)
