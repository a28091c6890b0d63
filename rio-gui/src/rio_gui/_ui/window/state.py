"""Small files of the window's own in rio's state folder: written whole or not at all, and never trusted when read."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Final

_MOST: Final = 4 * 1024 * 1024


class StateFile:
    """One file with one JSON object. What it was before this process wrote it is kept beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written = b""

    def load(self) -> tuple[dict[str, Any], bool]:
        """What was stored last, or before that, or nothing; and whether something could not be read.

        What cannot be read is kept aside under another name.
        """
        damaged = False
        for path in (self.path, _beside(self.path, "previous")):
            try:
                with path.open("rb") as file:
                    found = json.loads(file.read(_MOST))
                if isinstance(found, dict):
                    return found, damaged
            except FileNotFoundError:
                continue
            except (OSError, ValueError, RecursionError):
                pass
            damaged = True
            with contextlib.suppress(OSError):
                path.replace(_beside(self.path, "damaged"))
        return {}, damaged

    def store(self, content: dict[str, Any], *, last: bool = False) -> None:
        """Make this the content; with `last`, wait until the disk has it.

        What cannot be written is left as it was: nothing here is worth an interruption.
        """
        data = json.dumps(content).encode("ascii")
        if data == self._written and not last:
            return
        new = _beside(self.path, f"new-{os.getpid()}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                if last:
                    os.fsync(file.fileno())  # not at other times: it can hold up the keys
            if not self._written:
                with contextlib.suppress(FileNotFoundError):
                    self.path.replace(_beside(self.path, "previous"))
            new.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()
            return
        self._written = data


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}")


class Slot:
    """A state file that no other window uses: the first of a numbered row whose lock can be had."""

    def __init__(self, folder: Path, name: str) -> None:
        self._lock: int | None = None
        number = 0
        with contextlib.suppress(OSError, ImportError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            while not self._claim(folder / f"{name}-{number}.lock"):
                number += 1
        self.file = StateFile(folder / f"{name}-{number}.json")

    def _claim(self, path: Path) -> bool:
        import fcntl

        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    def release(self) -> None:
        """Let another window have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
