"""The tools of the agent: what the model may call, and what becomes of a call.

A tool that reads answers. A tool that would write drafts a proposal: it is handed no way to write.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from msgspec import Struct

from rio_core.api import ToolSpec
from rio_core.protocol.errors import RioError
from rio_core.protocol.visible import visible_line

__all__ = ["Answered", "Draft", "Tool", "Toolbox"]


class Answered(Struct, frozen=True):
    """The result of a call: `text` for the model, `summary` as one line for people."""

    text: str
    summary: str
    ok: bool = True


class Draft(Struct, frozen=True):
    """A change that a tool would like to see. `old` and `new` have LF line ends."""

    kind: Literal["edit", "create"]
    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Tool:
    """One tool. `input` is the type of its input, from which its schema is made."""

    name: str
    description: str
    effect: Literal["read", "write"]
    input: type[Struct]
    run: Callable[[Any], Awaitable[Answered | Draft]]

    def spec(self) -> ToolSpec:
        """The tool as a provider sees it."""
        (_,), components = msgspec.json.schema_components([self.input])
        schema = dict(components[self.input.__name__])
        schema.pop("title", None)
        schema.pop("description", None)
        return ToolSpec(self.name, self.description, schema)


class Toolbox:
    """The tools that a turn has."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def specs(self) -> list[ToolSpec]:
        """The tools as providers see them, in a fixed order."""
        return [tool.spec() for tool in self._tools.values()]

    async def call(self, name: str, given: dict[str, Any], raw: str) -> Answered | Draft:
        """Run a call. Whatever is wrong with it is an answer that the model can act on, never an exception.

        `raw` is the text of an input that was not a JSON object.
        """
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools)
            return _failed(f"There is no tool {visible_line(name)[:100]}. The tools are: {known}.")
        if raw:
            return _failed(
                f"The input of {name} is not a JSON object, so nothing was run. It began with: "
                f"{visible_line(raw[:200])}. Send the call again with an input that follows the schema."
            )
        try:
            value = msgspec.convert(given, tool.input)
        except msgspec.ValidationError as error:
            return _failed(
                f"The input of {name} does not fit its schema, so nothing was run: {visible_line(str(error))}."
            )
        try:
            return await tool.run(value)
        except RioError as error:
            return _failed(f"{error.message} {error.action}", error.message)


def _failed(text: str, summary: str | None = None) -> Answered:
    return Answered(text, summary or text, ok=False)
