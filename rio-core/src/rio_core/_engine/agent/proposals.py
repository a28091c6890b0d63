"""A change that waits for its user's decision, bound to the bytes that were shown."""

import hashlib
import json
from dataclasses import dataclass, field

from rio_core._engine import diff
from rio_core._engine.agent.records import Proposed
from rio_core.protocol.errors import INVALID_PARAMS, RioError
from rio_core.protocol.ops.agent import Waiting
from rio_core.protocol.values import Hunk
from rio_core.protocol.visible import count_hidden

__all__ = ["LIMIT", "Proposal", "digest_of", "hidden_marks", "split"]

LIMIT = 1024 * 1024
"""Bytes (UTF-8) that `old` and `new` of a proposal may have together."""


def digest_of(record: Proposed) -> str:
    """SHA-256, in hexadecimal, of the canonical JSON of what is proposed: see `agent.proposal` in the protocol."""
    members = {
        "kind": record.kind,
        "new": record.new,
        "old": record.old,
        "path": record.path,
        "proposal": record.proposal,
        "round": record.round,
    }
    canonical = json.dumps(members, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def split(text: str) -> list[str]:
    """Lines of an LF text, each with its end."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


@dataclass
class Proposal:
    """One proposal in its present round. `diff` and `marks` are what is shown; `record` is what is decided."""

    record: Proposed
    diff: str
    marks: list[str]
    hunks: list[Hunk] = field(init=False)
    """The parts that can be decided alone."""
    digest: str = field(init=False)
    """What a decision must name."""

    def __post_init__(self) -> None:
        self.hunks = diff.hunks(split(self.record.old), split(self.record.new))
        self.digest = digest_of(self.record)

    def chosen(self, ids: list[int]) -> str:
        """`new` with only these hunks. Raises RioError for none, a double or an unknown one."""
        by_id = {hunk.id: hunk for hunk in self.hunks}
        if not ids or len(set(ids)) != len(ids) or not by_id.keys() >= set(ids):
            known = ", ".join(map(str, by_id)) or "none"
            raise RioError(
                "bad_message",
                f"Hunks {ids} of proposal {self.record.proposal} cannot be chosen: it has {known}.",
                "Name each hunk to keep once; to keep none, reject the proposal.",
                code=INVALID_PARAMS,
            )
        kept = diff.keep(split(self.record.old), split(self.record.new), [by_id[number] for number in ids])
        return "".join(kept)

    def waiting(self) -> Waiting:
        """For `agent.history`."""
        record = self.record
        return Waiting(
            turn=record.turn,
            proposal=record.proposal,
            call=record.call,
            kind=record.kind,
            path=record.path,
            digest=self.digest,
            round=record.round,
        )


def hidden_marks(record: Proposed) -> list[str]:
    """Warnings where the name or the new text brings characters that nobody sees."""
    marks = []
    if named := count_hidden(record.path):
        marks.append(f"The name of the file holds {named} hidden or misleading characters.")
    if count := count_hidden(record.new):
        added = count - count_hidden(record.old)
        more = f", {added} more than before" if added > 0 and record.old else ""
        marks.append(f"The new text holds {count} hidden or misleading characters{more}.")
    return marks
