"""Which plugin is being loaded, written down for the next start, should this process not live through it."""

import contextlib
import json
import logging
import os
import secrets
from pathlib import Path
from typing import Any

from rio_core._engine.folders import make_private, store
from rio_core.protocol.errors import RioError

try:
    import fcntl
except ImportError:  # Windows: a core that is still loading counts as dead for another one that starts
    fcntl = None  # type: ignore[assignment]

__all__ = ["Marker"]

logger = logging.getLogger(__name__)


class Marker:
    """A locked file that names the plugin; and the list of plugins whose process ended in this way before.

    The lock ends with the process, so a marker that can be locked is one whose process is dead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "plugins"
        self._path = self._folder / f"loading-{secrets.token_hex(6)}"
        self._descriptor = -1

    def ended(self) -> set[str]:
        """The plugins that ended their process while loading, and were not enabled since."""
        known = self._ended()
        dead = set()
        for path in self._folder.glob("loading-*"):
            with contextlib.suppress(OSError):
                dead |= self._take(path)
        if dead - known:
            try:
                self._store(known | dead)
            except RioError as error:  # a full disk is no reason to load nothing
                logger.warning("%s %s", error.message, error.action)
        return known | dead

    def forget(self, name: str) -> None:
        """Let this plugin try again. Raises RioError (`io`)."""
        known = self._ended()
        if name in known:
            self._store(known - {name})

    def mark(self, name: str) -> None:
        """This plugin is being loaded now; with an empty name, none is."""
        try:
            if self._descriptor < 0:
                make_private(self._folder)
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                _lock(self._descriptor)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, name.encode("utf-8", "replace"), 0)
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._path, error.strerror)

    def close(self) -> None:
        """Nothing is being loaded any more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            self._path.unlink(missing_ok=True)
            os.close(descriptor)

    def _take(self, path: Path) -> set[str]:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if not _lock(descriptor):
                return set()
            name = os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
            path.unlink(missing_ok=True)
            return {name} if name else set()
        finally:
            os.close(descriptor)

    def _ended(self) -> set[str]:
        try:
            names: Any = json.loads((self._folder / "ended.json").read_bytes())
            return {str(name) for name in names}
        except (OSError, ValueError, TypeError):
            return set()

    def _store(self, names: set[str]) -> None:
        store(self._folder / "ended.json", json.dumps(sorted(names)).encode() + b"\n")


def _lock(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
