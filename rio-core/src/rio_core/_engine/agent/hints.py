"""Help for a model whose quotation is not exact."""

import re
from typing import Final

from rio_core._engine.documents import lines
from rio_core._engine.documents.text import Text

__all__ = ["nearly"]

_LARGEST: Final = 2 * 1024 * 1024  # characters of a document that are looked through for a hint

_QUOTES: Final = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " ", "\u2013": "-"}
)


def _loose(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text.translate(_QUOTES)).strip()


def nearly(text: Text, old: str) -> str:
    """A sentence that says where the text stands with other quotes or white space; empty where it does not.

    Nothing is ever changed on the strength of such a match.
    """
    wanted = [_loose(line) for line in old.strip("\n").split("\n")]
    if len(text) > _LARGEST or not any(wanted):
        return ""
    there = [_loose(line) for line, _ in lines.split(str(text))]
    found = [
        number + 1
        for number in range(len(there) - len(wanted) + 1)
        if there[number] == wanted[0] and there[number : number + len(wanted)] == wanted
    ]
    if not found:
        return ""
    return f" Line {found[0]} differs from it only in white space or in the form of quotes: quote it exactly."
