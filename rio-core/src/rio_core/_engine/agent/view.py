"""The conversation as front ends see it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rio_core._engine.agent.history import Entry, entries
from rio_core._engine.agent.records import Answer, Block, Ended, Record, Result, Withdrawn
from rio_core._engine.agent.store import title_of
from rio_core.protocol.framing import encode
from rio_core.protocol.ops.agent import HistoryMessage

__all__ = ["as_markdown", "page"]

_BLOCK: Final = 64 * 1024  # bytes of one block on the wire
_PAGE: Final = 160 * 1024  # bytes of a page, with room for what else is in the answer
_CUT: Final = 4096  # characters that a cut block keeps: at most 12 bytes each on the wire


def page(records: Sequence[Record], before: int | None, limit: int) -> tuple[list[HistoryMessage], int, int]:
    """Messages up to index `before`, as many as fit. Returns them, the number of all, and the index of the first."""
    shown = entries(records)
    end = len(shown) if before is None else max(0, min(before, len(shown)))
    first = end
    size = 0
    messages: list[HistoryMessage] = []
    while first > 0 and len(messages) < limit:
        message = _message(first - 1, shown[first - 1])
        size += len(encode(message))
        if messages and size > _PAGE:
            break
        messages.insert(0, message)
        first -= 1
    return messages, len(shown), first


def _message(index: int, entry: Entry) -> HistoryMessage:
    blocks = list(_blocks(entry))
    fitted = [_fitted(block) for block in blocks[:200]]
    while len(fitted) > 1 and sum(len(encode(block)) for block in fitted) > _PAGE:
        fitted = fitted[: len(fitted) // 2]
    if len(fitted) < len(blocks):
        fitted.append({"type": "text", "text": f"({len(blocks) - len(fitted)} more blocks)", "cut": True})
    stop = entry.answer.stop if entry.answer else None
    return HistoryMessage(index=index, role=entry.role, turn=entry.turn, blocks=fitted, stop=stop)


def _blocks(entry: Entry) -> Iterator[dict[str, Any]]:
    if entry.said:
        yield from ({"type": "text", "text": text} for text in entry.said.texts)
    if entry.answer:
        yield from map(_answer_block, entry.answer.blocks)
    for result in entry.results:
        yield {
            "type": "tool_result",
            "call": result.call,
            "ok": result.ok,
            "text": result.text,
            "summary": result.summary,
        }


def _answer_block(block: Block) -> dict[str, Any]:
    match block.type:
        case "tool_call":
            given = block.raw if block.raw else block.input
            return {"type": "tool_call", "call": block.id, "name": block.name, "input": given}
        case "opaque":
            return {"type": "opaque"}
        case kind:
            return {"type": kind, "text": block.text}


def _fitted(block: dict[str, Any]) -> dict[str, Any]:
    if len(encode(block)) <= _BLOCK:
        return block
    cut = dict(block, cut=True)
    for key in ("text", "summary"):
        if key in cut:
            cut[key] = cut[key][:_CUT]
    if "input" in cut:
        cut["input"] = json.dumps(cut["input"])[:_CUT]
    return cut


def as_markdown(records: Sequence[Record]) -> str:
    """The whole conversation for reading. Tool results are given by their summaries."""
    ends = {record.turn: record for record in records if isinstance(record, Ended)}
    withdrawn = {record.turn for record in records if isinstance(record, Withdrawn)}
    parts = [f"# {title_of(records) or 'Conversation'}\n"]
    turn = ""
    for entry in entries(records):
        if turn and entry.turn != turn:
            parts.extend(_end(ends.get(turn)))
        turn = entry.turn
        if entry.said:
            note = " (declined by the provider, not sent again)" if entry.turn in withdrawn else ""
            parts.append(f"## You{note}\n\n" + "\n\n".join(entry.said.texts) + "\n")
        elif entry.answer:
            parts.append("## Agent\n\n" + _markdown(entry.answer) + "\n")
        else:
            parts.extend(f"- {_mark(result)} {result.summary or result.call}\n" for result in entry.results)
    parts.extend(_end(ends.get(turn)))
    return "\n".join(parts)


def _markdown(answer: Answer) -> str:
    pieces = []
    for block in answer.blocks:
        if block.type == "text":
            pieces.append(block.text)
        elif block.type == "tool_call":
            given = block.raw or json.dumps(block.input, ensure_ascii=False, indent=2)
            pieces.append(f"Called `{block.name}`:\n\n" + "\n".join("    " + line for line in given.split("\n")))
    return "\n\n".join(pieces)


def _mark(result: Result) -> str:
    return "done:" if result.ok else "not done:"


def _end(end: Ended | None) -> list[str]:
    if end is None or end.how == "done":
        return []
    reason = f": {end.message} {end.action}" if end.message else ""
    return [f"*({end.how}{reason})*\n"]
