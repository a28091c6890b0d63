"""Text from outside, made harmless and honest for display.

A model, a file, a file name or a plugin can hold characters that a terminal obeys, that turn the reading order around,
or that nobody sees. Wherever such text is shown, and above all where it is approved, each is drawn as an escape.

Sources: Unicode Standard Annex 9 (bidirectional controls), Unicode 16 general categories Cc, Cf, Cs, Co, Cn, Zl, Zp,
Zs, and the Default_Ignorable_Code_Point property for what those categories do not cover.
"""

import re
import unicodedata
from typing import Final

__all__ = ["HIDDEN", "count_hidden", "is_hidden", "visible", "visible_line"]

# Default ignorable, though their category is a letter or mark: fillers, joiners and variation selectors.
_IGNORABLE = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),  # braille blank: not ignorable by property, yet nothing is drawn
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_hidden(char: str) -> bool:
    """Whether a character is a control, is drawn as nothing, or changes how its neighbours are drawn.

    Space, tab and line end are not hidden; every other space (category Zs) is, as it looks like one and is none.
    """
    if char in " \t\n":
        return False
    category = unicodedata.category(char)
    if category in _HIDDEN_CATEGORIES or category == "Zs":
        return True
    point = ord(char)
    return any(first <= point <= last for first, last in _IGNORABLE)


# One class for the whole of Unicode would be long: this one finds what cannot be plain, is_hidden decides.
HIDDEN: Final = re.compile(r"[^\x20-\x7E\t\n]")


def _escape(char: str) -> str:
    point = ord(char)
    if 0xDC80 <= point <= 0xDCFF:  # a byte of a file name that is not UTF-8 (PEP 383)
        return f"\\x{point - 0xDC00:02X}"
    return f"\\u{{{point:X}}}"


def visible(text: str) -> str:
    r"""The text with each hidden character as `\u{202E}`, and a stray file-name byte as `\xE9`.

    Line ends (LF) and tabs stay; a carriage return is hidden like every control. A backslash stays one backslash: use
    `visible_line` where the reading must be reversible.
    """
    return HIDDEN.sub(lambda match: _escape(match[0]) if is_hidden(match[0]) else match[0], text)


_LINE = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible_line(text: str) -> str:
    r"""The text as one line that can be decoded back: also `\n`, `\t`, `\r` and `\\` as escapes."""
    return re.sub(
        r"[^\x20-\x5B\x5D-\x7E]",
        lambda match: _LINE.get(match[0]) or (_escape(match[0]) if is_hidden(match[0]) else match[0]),
        text,
    )


def count_hidden(text: str) -> int:
    """How many hidden characters a text holds; a carriage return before LF and a leading byte-order mark count too."""
    return sum(1 for match in HIDDEN.finditer(text) if is_hidden(match[0]))
