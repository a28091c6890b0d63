"""What is to be opened, as it is named on the command line."""

import os.path
import re
from typing import Final, NamedTuple

_PLACE: Final = re.compile(r"(.+?):(\d{1,9})(?::(\d{1,9}))?:?")


class Target(NamedTuple):
    """A file or folder by absolute path, with a line and column from 0."""

    path: str
    line: int | None = None
    column: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether it is to be opened as a project."""
        return os.path.isdir(self.path)


def target(argument: str) -> Target:
    """Read `PATH`, `FILE:LINE` or `FILE:LINE:COLUMN`. A file that has this whole name goes before a line in one."""
    whole = os.path.abspath(argument)
    found = _PLACE.fullmatch(argument)
    if found is None or os.path.lexists(whole):
        return Target(whole)
    return Target(os.path.abspath(found[1]), max(0, int(found[2]) - 1), max(0, int(found[3] or 1) - 1))
