"""From the records of a conversation to what a provider is sent.

A pure function of the records, so that an unchanged beginning gives unchanged messages. Whatever order sends, stops,
errors and restarts came in, the messages are valid for a strict provider: roles alternate, the first is the user's,
each call is answered once and at once, no block is blank and no id occurs twice.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Literal

from rio_core._engine.agent.records import Answer, Ended, Proposed, Record, Result, Said, Withdrawn
from rio_core.api import Block as ApiBlock
from rio_core.api import Message, Opaque, Text, Thought, ToolResult, ToolUse

__all__ = ["INTERRUPTED", "Entry", "ended", "entries", "messages", "proposals", "unanswered", "unique_id"]

INTERRUPTED = "Interrupted: this call was not run to its end, and nothing was changed by it."
LOST = "(The beginning of this conversation could not be read.)"


@dataclass
class Entry:
    """One message as it is shown: what the user said, an answer, or the results of an answer's calls."""

    role: Literal["user", "assistant"]
    turn: str
    said: Said | None = None
    answer: Answer | None = None
    results: list[Result] = field(default_factory=list)


def entries(records: Iterable[Record]) -> list[Entry]:
    """The records in the order of the conversation, results gathered behind the answer that made the calls."""
    shown: list[Entry] = []
    open_calls: dict[str, Entry] = {}
    for record in records:
        match record:
            case Said():
                shown.append(Entry("user", record.turn, said=record))
            case Answer():
                shown.append(Entry("assistant", record.turn, answer=record))
                calls = [block.id for block in record.blocks if block.type == "tool_call"]
                if calls:
                    gathered = Entry("user", record.turn)
                    shown.append(gathered)
                    open_calls.update(dict.fromkeys(calls, gathered))
            case Result() if record.call in open_calls:
                open_calls.pop(record.call).results.append(record)
            case _:
                pass
    return [entry for entry in shown if entry.said or entry.answer or entry.results]


def unanswered(records: Sequence[Record]) -> list[tuple[str, str]]:
    """Calls without a result, as (turn, call), in order."""
    answered = {record.call for record in records if isinstance(record, Result)}
    return [
        (record.turn, block.id)
        for record in records
        if isinstance(record, Answer)
        for block in record.blocks
        if block.type == "tool_call" and block.id not in answered
    ]


def ended(records: Iterable[Record]) -> set[str]:
    """Turns that are over."""
    return {record.turn for record in records if isinstance(record, Ended)}


def proposals(records: Iterable[Record]) -> dict[str, Proposed]:
    """The newest round of each proposal."""
    return {record.proposal: record for record in records if isinstance(record, Proposed)}


def messages(records: Sequence[Record], provider: str, context: str) -> list[Message]:
    """What to send to this provider under this context (see `rio_core.api.Request`)."""
    withdrawn = {record.turn for record in records if isinstance(record, Withdrawn)}
    answered = {record.call: record for record in records if isinstance(record, Result)}
    merged: list[tuple[Literal["user", "assistant"], list[ApiBlock]]] = []

    def add(role: Literal["user", "assistant"], blocks: Iterable[ApiBlock]) -> None:
        new = list(blocks)
        if not new:
            return
        if not merged and role == "assistant":
            merged.append(("user", [Text(LOST)]))
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(new)
        else:
            merged.append((role, new))

    seen: set[str] = set()
    for record in records:
        if isinstance(record, Said) and record.turn not in withdrawn:
            # What was typed comes last, behind what it speaks of.
            said = (*record.texts[1:], *record.texts[:1])
            add("user", (Text(text) for text in said if text.strip()))
        elif isinstance(record, Answer) and record.turn not in withdrawn:
            names = _unique_ids(record, seen)
            add("assistant", _sent(record, names, provider, context))
            add("user", (_result(answered.get(call), name) for call, name in names))
    return [Message(role, tuple(blocks)) for role, blocks in merged]


def _unique_ids(answer: Answer, seen: set[str]) -> list[tuple[str, str]]:
    """The calls of an answer, each with the id to send: a damaged file may hold one twice."""
    names = []
    for block in answer.blocks:
        if block.type == "tool_call":
            name = unique_id(block.id, seen)
            seen.add(name)
            names.append((block.id, name))
    return names


def unique_id(wanted: str, taken: Container[str]) -> str:
    """An id like the wanted one that nobody has."""
    base = wanted or "call"
    return next(name for name in chain([base], (f"{base}-{n}" for n in count(2))) if name not in taken)


def _sent(answer: Answer, names: Sequence[tuple[str, str]], provider: str, context: str) -> Iterator[ApiBlock]:
    # What the service binds to its place is dropped whole where the context is another one.
    bound = answer.provider == provider and answer.context == context
    calls = iter(names)
    for block in answer.blocks:
        native = block.native if bound else None
        if block.type == "text" and block.text.strip():
            yield Text(block.text, native)
        elif block.type == "tool_call":
            given, name = next(calls)
            yield ToolUse(name, block.name, block.input, native if given == name else None)
        elif bound and block.type == "thinking" and (block.text.strip() or native is not None):
            yield Thought(block.text, native)
        elif bound and block.type == "opaque" and native is not None:
            yield Opaque(native)


def _result(result: Result | None, call: str) -> ToolResult:
    if result is None:
        return ToolResult(call, INTERRUPTED, is_error=True)
    return ToolResult(call, result.text if result.text.strip() else "(no output)", is_error=not result.ok)
