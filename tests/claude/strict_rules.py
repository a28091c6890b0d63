"""What the Messages API refuses: the rules of its documentation as one function, written apart from the provider.

`refused` gives the reason for a 400, None for a request that is taken. Thinking is checked as on the models
that bind it: `sign` makes the signature of a block from everything before it; one that does not fit is refused.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

ALL = ("low", "medium", "high", "xhigh", "max")
# model: (token limit, efforts, kinds of thinking)
MODELS: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "claude-opus-5-5": (128_000, ALL, ("adaptive",)),
    "claude-sonnet-5-5": (128_000, ALL, ("adaptive", "between_tools")),
    "claude-haiku-5-5": (128_000, ALL, ("adaptive",)),
    "claude-opus-5": (128_000, ALL, ("adaptive", "disabled")),
    "claude-opus-4-8": (128_000, ALL, ("adaptive", "disabled")),
    "claude-opus-4-6": (128_000, ("low", "medium", "high", "max"), ("adaptive", "disabled", "enabled")),
    "claude-haiku-4-5": (64_000, (), ("disabled", "enabled")),
    "claude-opus-4-5-20251101": (64_000, ("low", "medium", "high"), ("disabled", "enabled")),
    "claude-unlisted-1": (8_192, (), ()),
}
FIELDS = {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "stream"}
BLOCK_FIELDS = {
    "text": {"type", "text", "citations", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "caller", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "server_tool_use": {"type", "id", "name", "input"},
    "web_search_tool_result": {"type", "tool_use_id", "content"},
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class RefusedError(Exception):
    """The request earns a 400."""


def refused(body: Json, headers: Sequence[tuple[str, str]]) -> str | None:
    """Why the request is refused, None if it is not."""
    try:
        _headers(headers)
        _fields(body)
        _tools(body.get("tools", []), present="tools" in body)
        _system(body)
        _marks(body)
        _messages(body["messages"])
        for index, message in enumerate(body["messages"]):
            _turn(body["messages"], index, message)
        _bound(body)
    except RefusedError as error:
        return str(error)
    return None


def sign(body: Json, blocks: Sequence[Json]) -> str:
    """The signature of thinking that follows these blocks in the answer to this request."""
    messages = body["messages"]
    if messages[-1]["role"] == "assistant":  # a paused turn goes on
        return _signature(body, messages[:-1], [*messages[-1]["content"], *blocks])
    return _signature(body, messages, blocks)


def _signature(body: Json, before: Sequence[Json], blocks: Sequence[Json]) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items() if key != "cache_control"}
        if isinstance(value, list):
            return [plain(item) for item in value if not _blank(item)]
        return value

    bound = [body["model"], body.get("system"), body.get("tools"), list(before), list(blocks)]
    return hashlib.sha256(json.dumps(plain(bound), sort_keys=True).encode()).hexdigest()


def _blank(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and not block["text"].strip()


def need(condition: object, reason: str) -> None:
    if not condition:
        raise RefusedError(reason)


def _headers(headers: Sequence[tuple[str, str]]) -> None:
    names = [name.lower() for name, _ in headers]
    need(names.count("x-api-key") == 1 and "authorization" not in names, "one key, in x-api-key")
    values = {name.lower(): value for name, value in headers}
    need(values.get("anthropic-version") in ("2026-10-21", "2023-06-01"), "anthropic-version")
    need(values.get("content-type") == "application/json", "content-type")
    need("anthropic-beta" not in names, "no beta was asked for")


def _fields(body: Json) -> None:
    need(not set(body) - FIELDS, f"extra inputs: {sorted(set(body) - FIELDS)}")
    need({"model", "max_tokens", "messages"} <= set(body), "required fields")
    limit, efforts, thinking = MODELS[body["model"]]
    need(type(body["max_tokens"]) is int and 0 < body["max_tokens"] <= limit, f"max_tokens {body['max_tokens']}")
    config = body.get("output_config", {})
    need(set(config) <= {"effort"} and ("output_config" not in body or config), "output_config")
    need("effort" not in config or config["effort"] in efforts, f"effort {config.get('effort')}")
    wanted = body.get("thinking")
    if wanted is None:
        return
    need(wanted["type"] in thinking, f"thinking {wanted['type']}")
    need(
        set(wanted) <= {"type", "display"} and ("display" not in wanted or wanted["type"] != "disabled"),
        "thinking fields",
    )
    need(wanted.get("display", "summarized") in ("summarized", "omitted"), "display")
    need(
        wanted["type"] != "disabled" or config.get("effort", "high") not in ("xhigh", "max"), "disabled at this effort"
    )


def _tools(tools: list[Json], *, present: bool) -> None:
    need(tools or not present, "tools is empty")
    names = [tool["name"] for tool in tools]
    need(len(names) == len(set(names)), "tool names are not unique")
    for tool in tools:
        need(set(tool) <= {"name", "description", "input_schema", "cache_control"}, "tool fields")
        need(NAME.fullmatch(tool["name"]), f"tool name {tool['name']!r}")
        need(isinstance(tool["input_schema"], dict) and tool["input_schema"].get("type") == "object", "input_schema")


def _system(body: Json) -> None:
    if "system" in body:
        need(isinstance(body["system"], list) and body["system"], "system")
        for block in body["system"]:
            need(block["type"] == "text" and set(block) <= {"type", "text", "cache_control"}, "system block")
            need(block["text"].strip(), "system is blank")


def _blocks(body: Json) -> Iterator[Json]:
    yield from body.get("tools", [])
    yield from body.get("system", [])
    for message in body["messages"]:
        yield from message["content"]


def _marks(body: Json) -> None:
    marked = [block for block in _blocks(body) if "cache_control" in block]
    need(len(marked) <= 4, "more than four cache breakpoints")
    for block in marked:
        need(block["cache_control"] == {"type": "ephemeral"}, "cache_control")
        kind = block.get("type", "tool")
        need(kind in ("tool", "text", "tool_use", "tool_result"), f"cache_control on {kind}")
        need(kind != "text" or block["text"], "cache_control on empty text")


def _messages(messages: Any) -> None:
    need(isinstance(messages, list) and messages, "messages are empty")
    need(messages[0]["role"] == "user", "the first message is not the user's")
    roles = [message["role"] for message in messages]
    need(all(one != other for one, other in pairwise(roles)), "roles do not alternate")
    uses = [block["id"] for message in messages for block in message["content"] if block["type"] == "tool_use"]
    need(len(uses) == len(set(uses)), "a tool_use id occurs twice")
    if roles[-1] == "assistant":
        need(_open_server_calls(messages[-1]), "ends in a message of the assistant")


def _open_server_calls(message: Json) -> set[str]:
    closed = {block.get("tool_use_id") for block in message["content"]}
    return {block["id"] for block in message["content"] if block["type"] == "server_tool_use"} - closed


def _turn(messages: list[Json], index: int, message: Json) -> None:
    content, role = message["content"], message["role"]
    need(set(message) == {"role", "content"} and isinstance(content, list) and content, f"message {index} is empty")
    for block in content:
        kind = block["type"]
        need(kind in BLOCK_FIELDS and set(block) <= BLOCK_FIELDS[kind], f"fields of {kind}: {sorted(block)}")
        need(kind != "text" or block["text"].strip(), "text is blank")
        if kind == "tool_use":
            need(isinstance(block["input"], dict), "tool_use.input is no object")
            need(NAME.fullmatch(block["name"]) and block["id"], "tool_use name or id")
        if kind == "thinking":
            need(isinstance(block["thinking"], str) and block["signature"], "thinking without signature")
    kinds = [block["type"] for block in content]
    if role == "assistant":
        need("tool_result" not in kinds, "tool_result from the assistant")
        open_ended = index == len(messages) - 1
        need(open_ended or kinds[-1] not in ("thinking", "redacted_thinking"), "the last block is thinking")
        return
    need(set(kinds) <= {"text", "tool_result"}, f"{set(kinds)} from the user")
    need(not any(block.get("citations") for block in content), "citations from the user")
    previous = messages[index - 1]["content"] if index else []
    calls = [block["id"] for block in previous if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    need(sorted(calls) == sorted(results), f"calls {calls} are answered by {results}")
    need(kinds[: len(results)] == ["tool_result"] * len(results), "a result behind text")
    for block in content[: len(results)]:
        need(
            "content" not in block or (isinstance(block["content"], str) and block["content"].strip()), "a blank result"
        )
        need(not block.get("is_error") or block.get("content"), "an error without words")
    need(
        not index or not _open_server_calls(messages[index - 1]) or len(kinds) == len(results),
        "text behind a server call",
    )


def _bound(body: Json) -> None:
    for index, message in enumerate(body["messages"]):
        for place, block in enumerate(message["content"]):
            if block["type"] in ("thinking", "redacted_thinking"):
                expected = _signature(body, body["messages"][:index], message["content"][:place])
                given = block.get("signature") or block.get("data")
                need(given == expected, f"block {place} of message {index} is bound to a different conversation")
