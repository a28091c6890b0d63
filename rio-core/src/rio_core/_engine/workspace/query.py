"""What is searched for, and where."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rio_core._engine.workspace.globs import Rules, expand_braces, parse_rule
from rio_core._engine.workspace.ignore import Ignore
from rio_core._engine.workspace.paths import shown
from rio_core._engine.workspace.protect import looks_secret
from rio_core.protocol.errors import RioError

__all__ = ["Names", "Query", "Scope"]

Names = tuple[str, ...]

_MAX_PATTERN: Final = 1000


@dataclass(frozen=True)
class Query:
    """A search below `base`, the real names of a folder or file.

    `texts` are the texts of buffers that are not saved, by their real names: they are searched in place of the files.
    """

    pattern: str
    regex: bool
    glob: str | None
    base: Names
    texts: Mapping[Names, str]

    def __post_init__(self) -> None:
        if not self.pattern:
            raise _bad("The pattern is empty.")
        for what, text in (("pattern", self.pattern), ("glob", self.glob or "")):
            if any(char in "\0\r\n" or "\ud800" <= char <= "\udfff" for char in text):
                raise _bad(f"The {what} holds a line end, NUL or half a character: {shown(text)}")
            if len(text) > _MAX_PATTERN:
                raise _bad(f"The {what} is longer than {_MAX_PATTERN} characters.")
        if self.glob is not None and not all(map(parse_rule, expand_braces(self.glob))):
            raise _bad(f"{shown(self.glob)} is not a glob.")


class Scope:
    """Which files a search is about, whatever engine finds them."""

    def __init__(self, query: Query, ignore: Ignore) -> None:
        """Of a query; a folder or file that is searched by name is meant, though it be ignored."""
        glob = query.glob or ""
        self.ignore = None if ignore.ignored(query.base, is_folder=True) else ignore
        self._base = query.base
        self._excluding = glob.startswith("!")
        self._glob = Rules(expand_braces(glob.removeprefix("!")))

    def holds(self, names: Names) -> bool:
        """Whether a file with these real names is searched."""
        if not names or names[: len(self._base)] != self._base or ".git" in names or looks_secret(names):
            return False
        if self._glob:
            if self._excluding and self._glob.cover(names):
                return False
            if not self._excluding and not self._glob.decide(names, is_folder=False):
                return False
        return self.ignore is None or names == self._base or not self.ignore.ignored(names, is_folder=False)


def _bad(message: str) -> RioError:
    return RioError("bad_message", message, "Search for text within one line; a glob looks like src/**/*.py.")
