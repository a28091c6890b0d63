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
    merged: list[dict[str, Any]] = []
    for place, message in enumerate(messages):
        following = messages[place + 1].blocks if place + 1 < len(messages) else ()
        blocks = _sent(message, following)
        if not blocks:
            continue
        if merged and merged[-1]["role"] == message.role:
            merged[-1]["content"] += blocks
        else:
            merged.append({"role": message.role, "content": blocks})
    for entry in merged:
        if entry["role"] == "user":  # results first: what was merged behind them may hold more
            entry["content"].sort(key=lambda block: block["type"] != "tool_result")
    return merged


def _sent(message: Message, following: Sequence[Block]) -> list[dict[str, Any]]:
    blocks = [sent for block in message.blocks for sent in _block(block)]
    if any(not isinstance(block, ToolResult) for block in following):
        # The service's own calls without a result may be followed by results only.
        closed = {block.get("tool_use_id") for block in blocks}
        blocks = [block for block in blocks if block["type"] != "server_tool_use" or block.get("id") in closed]
    # A message must not end in a thought; left out each time, it is in no signature's history.
    while blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        blocks.pop()
    return blocks


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
        case Thought() if native.get("type") in ("thinking", "redacted_thinking"):
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
