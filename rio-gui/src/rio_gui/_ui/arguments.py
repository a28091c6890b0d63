"""What is to be opened, as it is named on the command line."""

import re
from pathlib import Path
from typing import Final, NamedTuple

_PLACE: Final = re.compile(r"(.+?):(\d{1,9})(?::(\d{1,9}))?:?")


class Target(NamedTuple):
    """A file or folder by absolute path, with a line and column from 0."""

    path: str
    line: int | None = None
    column: int = 0


def target(argument: str) -> Target:
    """Read `PATH`, `FILE:LINE` or `FILE:LINE:COLUMN`. A file that has this whole name goes before a line in one."""
    whole = Path(argument).absolute()
    found = _PLACE.fullmatch(argument)
    if found is None or whole.exists():
        return Target(str(whole))
    return Target(str(Path(found[1]).absolute()), max(0, int(found[2]) - 1), max(0, int(found[3] or 1) - 1))
