"""What is looked for."""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["MAX_PATTERN", "Wanted", "compiled"]

MAX_PATTERN: Final = 10_000
"""Characters of a pattern."""

# Not with a word character on both sides.
_EDGE: Final = r"(?:(?<!\w)|(?!\w))"
_GLOBAL_FLAGS: Final = re.compile(r"\(\?[aiLmsux]+\)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text or a regular expression (of Python's `re`, where `^` and `$` are at every line).

    Without `case`, letters match by Unicode's simple rules, one character with one: `ß` is not `SS`. With `word`, no
    match begins or ends between two word characters, which are letters and digits of any script and `_` (A22).
    """

    pattern: str
    regex: bool = False
    case: bool = False
    word: bool = False


def compiled(wanted: Wanted) -> re.Pattern[str]:
    """The pattern, for a text with LF. Raises re.error, OverflowError or RecursionError for what is no pattern."""
    flags = re.MULTILINE | (0 if wanted.case else re.IGNORECASE)
    if not wanted.regex:
        plain = re.escape(wanted.pattern.replace("\r\n", "\n").replace("\r", "\n"))
        # A pattern that begins with its text is found ten times as fast, so the edge before it is looked for behind it.
        return re.compile(f"{plain}(?<={_EDGE}{plain}){_EDGE}" if wanted.word else plain, flags)
    alone = re.compile(wanted.pattern, flags)
    if not wanted.word:
        return alone
    found = _GLOBAL_FLAGS.match(wanted.pattern)
    head = found[0] if found else ""
    end = "\n" if alone.flags & re.VERBOSE else ""  # a comment may be last
    return re.compile(f"{head}{_EDGE}(?:{wanted.pattern[len(head) :]}{end}){_EDGE}", flags)
