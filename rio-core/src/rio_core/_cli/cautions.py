"""What is easily overlooked in a proposal, found in its diff."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from rio_core.protocol.visible import count_hidden

__all__ = ["LONG_RUN", "cautions", "mixed_words"]

LONG_RUN: Final = re.compile(r"(?<=\S)[ \t]{21,}|[ \t]{81,}")
"""White space that can push the text after it out of view; indentation may be longer."""

# Alphabets with letters that look like those of another one (Unicode Technical Standard 39, confusables).
_ALPHABETS: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LISU"})
_WORD: Final = re.compile(r"\w+")
_SHOWN: Final = 5


def mixed_words(text: str) -> list[str]:
    """The words that mix look-alike alphabets, once each, in order of appearance."""
    words = (match[0] for match in _WORD.finditer(text))
    return list(dict.fromkeys(word for word in words if not word.isascii() and len(_alphabets(word)) > 1))


def cautions(diff: str) -> list[str]:
    """A sentence for each kind of thing in a unified diff that its reader could miss."""
    lines = diff.split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith("@@")), None)
    if first is None:  # no diff: a command, all of which is new
        added, rest = lines, []
    else:
        added = [line[1:] for line in lines[first:] if line.startswith("+")]
        rest = [line[1:] for line in lines[first:] if not line.startswith("+")]
    return [*_hidden(added, rest), *_spaces(added), *_mixed(added)]


def _hidden(added: list[str], rest: list[str]) -> Iterator[str]:
    new, old = (sum(map(count_hidden, part)) for part in (added, rest))
    if new:
        yield f"{_count(new, 'hidden character')} in what is added, each drawn as an escape"
    if old:
        yield f"{_count(old, 'hidden character')} in the lines around it, each drawn as an escape"


def _spaces(added: list[str]) -> Iterator[str]:
    runs = sum(1 for line in added for _ in LONG_RUN.finditer(line))
    if runs:
        yield f"{_count(runs, 'long run')} of white space, shown as a count"
    ends = sum(1 for line in added if line != line.rstrip(" \t"))
    if ends:
        yield f"white space at the end of {_count(ends, 'added line')}"


def _mixed(added: list[str]) -> Iterator[str]:
    words = mixed_words("\n".join(added))
    if words:
        more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
        yield f"letters of several alphabets that look alike in: {', '.join(map(_spelt, words[:_SHOWN]))}{more}"


def _alphabets(word: str) -> set[str]:
    return {unicodedata.name(char, "").partition(" ")[0] for char in word} & _ALPHABETS


def _spelt(word: str) -> str:
    return "".join(char if char.isascii() else f"\\u{{{ord(char):X}}}" for char in word)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
