"""Types that several ops and events share."""

from typing import Any, Literal

from msgspec import Struct

__all__ = [
    "Edit", "EntryKind", "Hunk", "LineEnding", "Params", "Position", "Result", "Selection", "Usage",
]  # fmt: skip

Position = tuple[int, int]
"""`[line, column]`, both from 0, the column in Unicode code points."""

Selection = tuple[Position, Position]
"""`[anchor, caret]`."""

LineEnding = Literal["lf", "crlf", "cr", "mixed"]
EntryKind = Literal["file", "folder", "link", "other"]


class Params(Struct, forbid_unknown_fields=True):
    """Parameters of an op. An unknown name is refused: a misspelled field must not be dropped in silence."""


class Result(Struct):
    """Result of an op. A client must tolerate fields that it does not know."""


class Edit(Struct, forbid_unknown_fields=True):
    """Replace the text from `start` to `end` by `text`."""

    start: Position
    end: Position
    text: str


class Hunk(Struct):
    """A run of changed lines of a proposal: from 0, in lines of its `old` and its `new`."""

    id: int
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class Usage(Struct):
    """Tokens of one answer or turn. `input` counts what was not read from or written to the provider's cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None
    """An estimate in US dollars, where the provider can make one."""
    estimate: str = ""
    """What the estimate rests on, such as the date of a price table."""
    detail: dict[str, Any] = {}
