"""From a request of rio to the body of `POST /v1/messages`.

A pure function: the same conversation begins with the same bytes, which is what the service's cache and its signatures
are bound to. Nothing is sent that the model refuses.

Source: Messages API, "Create a message", "Extended thinking", "Effort", "Prompt caching", and its rules on turns.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rio_core.api import Block, Message, Opaque, Request, Text, Thought, ToolResult, ToolUse
from rio_provider_claude.inference.capability import EFFORTS, Capability

__all__ = ["shaped"]

MOST_TOKENS: Final = 64_000
"""The limit of a reply when the user set none, where the model allows so much."""
FEW_TOKENS: Final = 8_192
"""The same for a model of which nothing is known."""

THOUGHTS: Final = ("thinking", "redacted_thinking")

_MARK: Final = {"type": "ephemeral"}
_MARKABLE: Final = ("text", "tool_result")


def shaped(request: Request, model: Capability, *, max_tokens: int, effort: str, thinking: str) -> dict[str, Any]:
    """The body, with cache breakpoints behind the tools, the system prompt and the last two messages of the user."""
    body: dict[str, Any] = {"model": model.id, "max_tokens": _limit(model, max_tokens), "stream": True}
    effort = _effort(model, effort)
    if effort:
        body["output_config"] = {"effort": effort}
    if wanted := _thinking(model, thinking, effort):
        body["thinking"] = wanted
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in request.tools
        ]
        body["tools"][-1]["cache_control"] = _MARK
    if request.system:
        body["system"] = [{"type": "text", "text": text} for text in request.system]
        body["system"][-1]["cache_control"] = _MARK
    body["messages"] = messages = _messages(request.messages)
    for message in [message for message in messages if message["role"] == "user"][-2:]:
        _mark(message["content"])
    return body


def _limit(model: Capability, wanted: int) -> int:
    if model.max_output is None:
        return wanted or FEW_TOKENS
    return min(wanted or MOST_TOKENS, model.max_output)


def _effort(model: Capability, wanted: str) -> str:
    """The wanted effort, else the nearest lower one that the model takes."""
    if wanted not in EFFORTS:
        return ""
    possible = [effort for effort in EFFORTS[: EFFORTS.index(wanted) + 1] if effort in model.efforts]
    return possible[-1] if possible else ""


def _thinking(model: Capability, wanted: str, effort: str) -> dict[str, str] | None:
    # Some models can be switched off only up to high effort; asking so of none keeps the rule simple.
    if wanted == "off" and "disabled" in model.thinking and effort not in ("xhigh", "max"):
        return {"type": "disabled"}
    if "adaptive" in model.thinking:
        return {"type": "adaptive", "display": "summarized" if wanted == "summarized" else "omitted"}
    return None


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    for message in messages:
        blocks = [shown for block in message.blocks for shown in _block(block)]
        if blocks and sent and sent[-1]["role"] == message.role:
            sent[-1]["content"] += blocks
        elif blocks:
            sent.append({"role": message.role, "content": blocks})
    for place in range(len(sent) - 2, 0, -1):
        if sent[place]["role"] == "assistant":
            before, own, after = (entry["content"] for entry in sent[place - 1 : place + 2])
            own[:] = _closed(own, after)
            if not own:
                before += after
                del sent[place : place + 2]
    for entry in sent:
        if entry["role"] == "user":  # results first: what was joined may hold text before them
            entry["content"].sort(key=lambda block: block["type"] != "tool_result")
    return sent


def _closed(blocks: list[dict[str, Any]], following: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks of a message that is not the last one."""
    if any(block["type"] != "tool_result" for block in following):
        blocks = _without_open_calls(blocks)
    # A message must not end in a thought. Left out each time, it is in no signature's history.
    end = len(blocks)
    while end and blocks[end - 1]["type"] in THOUGHTS:
        end -= 1
    return blocks[:end]


def _without_open_calls(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the service's own calls that have no result, and the thoughts behind them that are bound to them.

    After such a call the user may send nothing but results.
    """
    closed = {block.get("tool_use_id") for block in blocks}
    dropped: tuple[str, ...] = ()
    kept = []
    for block in blocks:
        if block["type"] == "server_tool_use" and block.get("id") not in closed:
            dropped = THOUGHTS
        elif block["type"] not in dropped:
            kept.append(block)
    return kept


def _block(block: Block) -> Iterator[dict[str, Any]]:
    native = block.native if not isinstance(block, ToolResult) else None
    if not isinstance(native, Mapping) or not isinstance(native.get("type"), str):
        native = {}
    match block:
        case Text(text) if text.strip():
            own = native.get("type") == "text" and native.get("text") == text
            yield dict(native) if own else {"type": "text", "text": text}
        case ToolUse(id=name, name=tool, input=given):
            base = native if native.get("type") == "tool_use" else {"type": "tool_use"}
            yield {**base, "id": name, "name": tool, "input": given}
        case ToolResult():
            yield _result(block)
        case Thought() if native.get("type") in THOUGHTS:
            yield dict(native)
        case Opaque() if native:
            yield dict(native)
        case _:
            return


def _result(result: ToolResult) -> dict[str, Any]:
    sent: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.id}
    if result.text.strip():
        sent["content"] = result.text
    elif result.is_error:
        sent["content"] = "(no message)"
    if result.is_error:
        sent["is_error"] = True
    return sent


def _mark(content: list[dict[str, Any]]) -> None:
    for place in range(len(content) - 1, -1, -1):
        block = content[place]
        if block["type"] in _MARKABLE and (block.get("text") or block.get("content")):
            content[place] = {**block, "cache_control": _MARK}
            return
