r"""The replacement of a regular expression: `\1` to `\99`, `\g<1>`, `\g<name>` and `\g<0>`, the whole match.

`\10` is group 10, and `\g<1>0` is group 1 and a zero. `\n` is a line end, `\t` a tab, `\\` a backslash. `$1` means
nothing special. Source: the documentation of Python's `re.sub`.
"""

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["Template", "TemplateError", "parse"]

Template = list[str | int]
"""Texts, and the numbers of groups."""

_ESCAPE: Final = re.compile(r"\\(?:(\d{1,2})|g<([^>]*)>|(.?))", re.DOTALL)
_PLAIN: Final = {"n": "\n", "t": "\t", "\\": "\\"}


class TemplateError(ValueError):
    """A replacement that means nothing."""


def parse(text: str, groups: int, names: Mapping[str, int]) -> Template:
    """The parts of a replacement for a pattern with so many groups, some of them with names.

    Raises:
        TemplateError: for an unknown escape or group.

    """
    parts: Template = []
    at = 0
    for found in _ESCAPE.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        if found[3] is not None:
            if found[3] not in _PLAIN:
                raise TemplateError(f"the replacement has the unknown escape {found[0]}")
            parts.append(_PLAIN[found[3]])
        else:
            name = found[1] if found[1] is not None else found[2]
            number = int(name) if name.isascii() and name.isdecimal() and len(name) < 4 else names.get(name, -1)
            if not 0 <= number <= groups or found[1] == "0":
                raise TemplateError(f"the pattern has no group for {found[0]}")
            parts.append(number)
    parts.append(text[at:])
    return [part for part in parts if part != ""]
