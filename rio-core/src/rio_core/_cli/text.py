"""Making text fit where it is shown. Escaping is the writer's."""

import json
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["arguments", "cut", "one_line", "table"]

_VALUE: Final = 60
"""Characters of a tool's argument that are shown."""


def one_line(text: str) -> str:
    """Line ends and tabs as escapes: a name must not reach into the next line."""
    return text.replace("\n", "\\n").replace("\t", "\\t")


def cut(text: str, width: int) -> str:
    """At most `width` characters, with a mark where something is missing."""
    return text if len(text) <= width else f"{text[: max(0, width - 3)]}..."


def arguments(given: Any) -> str:
    """The input of a tool call, short; one that was not valid JSON as it came."""
    if not isinstance(given, Mapping):
        return cut(one_line(str(given)), _VALUE)
    return "  ".join(f"{one_line(name)}={cut(_value(value), _VALUE)}" for name, value in given.items())


def _value(value: Any) -> str:
    if isinstance(value, str) and value and not any(char in value for char in ' "\n\t\\'):
        return value
    return json.dumps(value, ensure_ascii=False)


def table(rows: list[list[str]]) -> list[str]:
    """Rows of cells as lines with columns; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
