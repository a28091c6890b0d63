"""What is written to a conversation's file: one JSON object a line, appended and never changed."""

from typing import Any, Literal

from msgspec import Struct, convert

from rio_core.protocol.events import FailureKind, Outcome, ProposalKind
from rio_core.protocol.values import Usage

__all__ = [
    "Answer", "Begun", "Decided", "Ended", "Proposed", "Record", "Result", "Said", "Titled", "Withdrawn", "decode",
]  # fmt: skip

Ending = Literal["done", "stopped", "failed", "interrupted"]


class Begun(Struct, tag_field="record", tag="begun"):
    """The first record."""

    id: str
    created: float
    version: int = 1


class Titled(Struct, tag_field="record", tag="titled"):
    """Its user gave the conversation a title."""

    title: str


class Said(Struct, tag_field="record", tag="said"):
    """A message of the user begins a turn. `texts` are its blocks: what was typed, then each attachment."""

    turn: str
    texts: list[str]


class Block(Struct, omit_defaults=True):
    """A block of the model's reply. `raw` is the text of a call's input that was not valid JSON."""

    type: Literal["text", "thinking", "tool_call", "opaque"]
    text: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}
    raw: str = ""
    native: Any = None


class Answer(Struct, tag_field="record", tag="answer"):
    """A reply of the model. An incomplete one (`complete` false) holds text only.

    `context` names provider, model, tools and system prompt under which it was made.
    """

    turn: str
    blocks: list[Block]
    stop: str
    provider: str
    context: str
    complete: bool = True
    usage: Usage | None = None


class Result(Struct, tag_field="record", tag="result"):
    """The answer to a call."""

    turn: str
    call: str
    text: str
    ok: bool
    summary: str = ""


class Proposed(Struct, tag_field="record", tag="proposed"):
    """A proposal is shown, or shown again in a later round. `base` is the digest of the file on disk, if any."""

    turn: str
    proposal: str
    call: str
    kind: ProposalKind
    path: str
    old: str
    new: str
    round: int = 0
    base: str | None = None


class Decided(Struct, tag_field="record", tag="decided"):
    """A proposal waits no more. The call's Result follows."""

    turn: str
    proposal: str
    digest: str
    decision: Literal["approve", "reject", "interrupted"]
    by: str
    outcome: Outcome
    message: str


class Ended(Struct, tag_field="record", tag="ended"):
    """A turn is over."""

    turn: str
    how: Ending
    kind: FailureKind | None = None
    message: str = ""
    action: str = ""


class Withdrawn(Struct, tag_field="record", tag="withdrawn"):
    """A turn is kept for reading and left out of every later request: the provider declined it."""

    turn: str


Record = Begun | Titled | Said | Answer | Result | Proposed | Decided | Ended | Withdrawn


def decode(value: Any) -> Record:
    """A record from decoded JSON; raises msgspec.ValidationError for anything else."""
    record: Record = convert(value, Record)
    return record
