"""The pattern of a search in files, for an engine that sees lines and always minds letter case."""

import re
from typing import Final

__all__ = ["line_pattern"]

_SPECIAL: Final = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")


def line_pattern(pattern: str, *, regex: bool, case: bool, word: bool) -> tuple[str, bool]:
    r"""A pattern, and whether it is a regular expression; one that ripgrep and Python's `re` read alike.

    With `word`, plain text needs a word's edge only where it begins or ends with a word character.
    """
    if not pattern or (case and not word):
        return pattern, regex
    before = behind = r"\b" if word else ""
    if not regex:
        if word:
            before, behind = (r"\b" if re.match(r"\w", char) else "" for char in (pattern[0], pattern[-1]))
        pattern = _SPECIAL.sub(r"\\\g<0>", pattern)
    return f"{'(?:' if case else '(?i:'}{before}(?:{pattern}){behind})", True
