"""Proposals that wait from before this front end came."""

from rio_core.client import Client
from rio_core.protocol import RioError
from rio_core.protocol.events import AgentPropose

__all__ = ["waiting_proposals"]


async def waiting_proposals(client: Client) -> list[AgentPropose]:
    """Each as the event that told of it, oldest first."""
    history = await client.call("agent.history", limit=1)
    events = []
    for item in history.proposals:
        try:
            whole = await client.call("agent.proposal", turn=item.turn, proposal=item.proposal)
        except RioError:
            continue  # it has just been withdrawn
        events.append(
            AgentPropose(
                turn=item.turn, proposal=item.proposal, call=item.call, kind=whole.kind, path=whole.path,
                diff=whole.diff, digest=whole.digest, round=whole.round, marks=whole.marks,
            )
        )  # fmt: skip
    return events
