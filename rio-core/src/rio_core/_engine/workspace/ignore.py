"""What git would ignore, decided without running git."""

import os
from typing import Final

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.globs import Rules
from rio_core._engine.workspace.paths import render
from rio_core.protocol.errors import RioError

__all__ = ["Ignore"]

MAX_BYTES: Final = 256 * 1024
MAX_RULES: Final = 2000
"""Of one ignore file; what goes beyond is not read."""

_GIT: Final = ".git"


class Ignore:
    """The project's ignore rules as they are now: each folder's `.gitignore`, then `.git/info/exclude`.

    Files are read when their folder is first asked about, through the root, and kept: make a new one for each listing
    or search. What lies outside the root is not read: the user's own git settings and ignore files of folders above.
    """

    def __init__(self, root: Root) -> None:
        """Of an open root, which must outlive this object."""
        self._root = root
        self._exclude = self._read((_GIT, "info", "exclude"))
        self._rules: dict[tuple[str, ...], Rules] = {}
        self._folders: dict[tuple[str, ...], bool] = {(): False}

    def ignored(self, names: tuple[str, ...], *, is_folder: bool) -> bool:
        """Whether a real path below the root is ignored, by itself or with a folder that it is in.

        Git's own folder counts as ignored.
        """
        if not is_folder:
            return self.ignored(names[:-1], is_folder=True) or self._decide(names, is_folder=False)
        for count in range(1, len(names) + 1):
            folder = names[:count]
            known = self._folders.get(folder)
            if known is None:
                known = self._folders[folder] = folder[-1] == _GIT or self._decide(folder, is_folder=True)
            if known:
                return True
        return False

    def _decide(self, names: tuple[str, ...], *, is_folder: bool) -> bool:
        for level in range(len(names) - 1, -1, -1):
            verdict = self._of(names[:level]).decide(names[level:], is_folder=is_folder)
            if verdict is not None:
                return verdict
        return bool(self._exclude.decide(names, is_folder=is_folder))

    def _of(self, folder: tuple[str, ...]) -> Rules:
        rules = self._rules.get(folder)
        if rules is None:
            rules = self._rules[folder] = self._read((*folder, ".gitignore"))
        return rules

    def _read(self, names: tuple[str, ...]) -> Rules:
        try:
            with open(self._root.open_file(render(names)), "rb") as file:
                data = file.read(MAX_BYTES)
        except (RioError, OSError):
            return Rules(())
        lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", MAX_RULES)[:MAX_RULES]
        return Rules(os.fsdecode(line.removesuffix(b"\r")) for line in lines)
