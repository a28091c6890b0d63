"""The strictest provider there could be: it names every fault of a conversation that some service would refuse."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from rio_core.api import Message, Opaque, Text, Thought, ToolResult, ToolUse

_ALLOWED = {"user": (Text, ToolResult), "assistant": (Text, Thought, ToolUse, Opaque)}

Rule = Callable[[Sequence[Message]], Iterator[str]]


def faults(messages: Sequence[Message], *, waiting: Collection[str] = ()) -> list[str]:
    """What is wrong, a sentence each; empty for a conversation that every provider takes.

    `waiting` are the ids of calls in the last message whose user has not decided yet: they may be unanswered.
    """
    found = [fault for rule in _RULES for fault in rule(messages)]
    return found + list(_answers(messages, waiting))


def _roles(messages: Sequence[Message]) -> Iterator[str]:
    if messages and messages[0].role != "user":
        yield "the first message is not the user's"
    for index, message in enumerate(messages):
        if message.role not in _ALLOWED:
            yield f"message {index}: the role {message.role!r} does not exist"
        if index and message.role == messages[index - 1].role:
            yield f"message {index}: the role {message.role!r} comes twice in a row"


def _blocks(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if type(message.blocks) is not tuple or not message.blocks:
            yield f"message {index}: there is no block"
        for block in message.blocks:
            if not isinstance(block, _ALLOWED.get(message.role, ())):
                yield f"message {index}: {type(block).__name__} is no block of the role {message.role!r}"
            if isinstance(block, Text | ToolResult) and not block.text.strip():
                yield f"message {index}: {type(block).__name__} is blank"
            # A thought can be without text: what the service wants back is its native form.
            if isinstance(block, Thought) and not block.text.strip() and block.native is None:
                yield f"message {index}: Thought is blank"
            if isinstance(block, Opaque) and block.native is None:
                yield f"message {index}: Opaque is empty"


def _calls(messages: Sequence[Message]) -> Iterator[str]:
    uses = [block for message in messages for block in message.blocks if isinstance(block, ToolUse)]
    for name, count in Counter(use.id for use in uses).items():
        if count > 1:
            yield f"the call id {name!r} occurs {count} times"
    for use in uses:
        if not use.id or not use.name:
            yield f"call {use.id!r}: an id or a name is empty"
        if not isinstance(use.input, Mapping):
            yield f"call {use.id!r}: its input is no object"


def _json(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        for block in message.blocks:
            values = {name: getattr(block, name) for name in block.__slots__}
            try:
                _check_names(values)
                json.dumps(values, ensure_ascii=False, allow_nan=False).encode("utf-8")
            except (TypeError, ValueError) as error:
                yield f"message {index}: {type(block).__name__} is not JSON in UTF-8: {error}"


def _check_names(value: object) -> None:
    # json.dumps makes text of other names in silence.
    if isinstance(value, Mapping):
        for name, member in value.items():
            if type(name) is not str:
                raise TypeError(f"the name {name!r} is no text")
            _check_names(member)
    elif isinstance(value, list | tuple):
        for member in value:
            _check_names(member)


def _answers(messages: Sequence[Message], waiting: Collection[str]) -> Iterator[str]:
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        results = [block.id for block in message.blocks if isinstance(block, ToolResult)]
        for name, count in Counter(results).items():
            if name not in open_calls:
                yield f"message {index}: the result for {name!r} answers no call of the message before"
            if count > 1:
                yield f"message {index}: the call {name!r} is answered {count} times"
        for name in open_calls:
            if name not in results:
                yield f"message {index}: the call {name!r} is not answered"
        if not all(isinstance(block, ToolResult) for block in message.blocks[: len(results)]):
            yield f"message {index}: something stands before a result"
        open_calls = [block.id for block in message.blocks if isinstance(block, ToolUse)]
    for name in open_calls:
        if name not in waiting:
            yield f"the call {name!r} of the last message is not answered"


_RULES: tuple[Rule, ...] = (_roles, _blocks, _calls, _json)
