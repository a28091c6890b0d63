"""Conversations on disk: one file each in the state folder, one record a line, appended.

A file is locked (flock) by the core that goes on with it. Half a record at the end, or a damaged line, costs that line
and is told; nothing that was whole is lost, and nothing is rewritten.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from rio_core._engine.agent.records import Begun, Record, Said, Titled, decode
from rio_core._engine.folders import make_private
from rio_core._engine.plugins.posted import plain
from rio_core.protocol.errors import RioError
from rio_core.protocol.framing import encode

try:
    import fcntl
except ImportError:  # Windows: a second core is kept off by the file's exclusive creation only
    fcntl = None  # type: ignore[assignment]

__all__ = ["Conversations", "Log", "Summary", "project_folder"]

_WRAPPED: Final = 8
"""Levels of JSON that a record has around what came from a provider, at most."""

_ID = re.compile(r"[0-9]{8}T[0-9]{12}-[0-9a-f]{8}")


def project_folder(state: Path, root: str) -> Path:
    """Where the state of a project lies: a readable name, and a digest of its real path."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(root))[:40] or "root"
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return state / "projects" / f"{readable}-{digest}"


@dataclass
class Summary:
    """What a list of conversations shows."""

    id: str
    title: str
    created: float
    messages: int
    busy: bool


@dataclass
class Log:
    """The open file of one conversation. `notices` say what could not be read."""

    id: str
    path: Path
    descriptor: int
    records: list[Record] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _kept: bytes = b""

    def append(self, *records: Record) -> None:
        """Write records at the end, all of them in one write, and hand them to the kernel before returning.

        Raises RioError (`io`) when the disk refuses; the file then ends where it did before.
        """
        data = self._kept + b"".join(encode(record) for record in records)
        end = os.lseek(self.descriptor, 0, os.SEEK_END)
        try:
            written = os.write(self.descriptor, data)
            while written < len(data):
                written += os.write(self.descriptor, data[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self.descriptor, end)
            raise RioError(
                "io",
                f"The conversation cannot be written to {self.path}: {error.strerror}.",
                "Make room or give the right to write there; nothing was sent or changed.",
            ) from error
        self._kept = b""
        self.records.extend(records)

    def begin_line(self) -> None:
        """End a record that was cut off, so that it does not swallow the next one, with which this is written."""
        self._kept = b"\n" + self._kept

    def keep(self, *records: Record) -> None:
        """Append records of what has happened already: if the disk refuses they are kept, and written with the next."""
        try:
            self.append(*records)
        except RioError as error:
            self.notices.append(error.message)
            self._kept += b"".join(encode(record) for record in records)
            self.records.extend(records)

    def close(self) -> None:
        """Give up the file and its lock."""
        if self._kept:
            with contextlib.suppress(RioError):
                self.append()
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class Conversations:
    """The conversations of one project."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "conversations"

    def create(self) -> Log:
        """A new, empty conversation, locked. Raises RioError (`io`) where it cannot be kept."""
        now = time.time()
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f"{int(now % 1 * 1e6):06}"
        name = f"{moment}-{secrets.token_hex(4)}"
        path = self._folder / f"{name}.jsonl"
        try:
            make_private(self._folder)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RioError(
                "io",
                f"The conversation cannot be kept in {self._folder}: {error.strerror}.",
                "Make room or give the right to write there.",
            ) from error
        _lock(descriptor)
        log = Log(name, path, descriptor)
        try:
            log.append(Begun(id=name, created=now))
        except RioError:
            log.close()
            path.unlink()
            raise
        return log

    def open(self, name: str) -> Log:
        """An existing conversation, locked and read.

        Raises RioError: `not_found`, or `conflict` when another core holds it.
        """
        path = self._path(name)
        descriptor = _open(path, name)
        if not _lock(descriptor):
            os.close(descriptor)
            raise RioError(
                "conflict",
                f"Conversation {name} is open in another rio.",
                "Close it there, or go on in a new conversation.",
            )
        log = Log(name, path, descriptor)
        try:
            log.records, log.notices, torn = _read(descriptor, path)
        except BaseException:
            log.close()
            raise
        if torn:
            log.begin_line()
        return log

    def latest(self) -> Log:
        """The conversation that was used last of those that no other core holds, or a new one."""
        for name in sorted(self._names(), key=self._used, reverse=True):
            with contextlib.suppress(RioError):
                return self.open(name)
        return self.create()

    def list(self, held: str) -> list[Summary]:
        """All that can be read, newest first; `held` is the one that this core has locked itself."""
        found = []
        for name in self._names():
            with contextlib.suppress(RioError):
                found.append(self._summary(name, held))
        return found

    def read(self, name: str) -> Sequence[Record]:
        """The records of a conversation that need not be free."""
        descriptor = _open(self._path(name), name)
        try:
            return _read(descriptor, self._path(name))[0]
        finally:
            os.close(descriptor)

    def rename(self, name: str, title: str) -> None:
        """Give a conversation that this core does not hold a title."""
        log = self.open(name)
        try:
            log.append(Titled(title=title))
        finally:
            log.close()

    def delete(self, name: str) -> None:
        """Remove a conversation that nobody holds."""
        self.open(name).close()
        self._path(name).unlink()

    def _names(self) -> Iterator[str]:
        with contextlib.suppress(OSError):
            names = [entry.name.removesuffix(".jsonl") for entry in os.scandir(self._folder)]
            yield from sorted((name for name in names if _ID.fullmatch(name)), reverse=True)

    def _used(self, name: str) -> tuple[int, str]:
        try:
            return os.stat(self._path(name)).st_mtime_ns, name
        except OSError:
            return 0, name

    def _path(self, name: str) -> Path:
        if not _ID.fullmatch(name):
            raise _missing(name)
        return self._folder / f"{name}.jsonl"

    def _summary(self, name: str, held: str) -> Summary:
        descriptor = _open(self._path(name), name)
        try:
            busy = name != held and not _lock(descriptor)
            records = _read(descriptor, self._path(name))[0]
        finally:
            os.close(descriptor)
        created = next((record.created for record in records if isinstance(record, Begun)), 0.0)
        messages = sum(1 for record in records if isinstance(record, Said))
        return Summary(name, title_of(records), created, messages, busy)


def title_of(records: Sequence[Record]) -> str:
    """The title that its user gave, or the beginning of the first message."""
    given = [record.title for record in records if isinstance(record, Titled)]
    if given:
        return given[-1]
    first = next((record.texts[0] for record in records if isinstance(record, Said) and record.texts), "")
    line = first.strip().split("\n", 1)[0]
    return line if len(line) <= 60 else line[:59] + "…"


def _missing(name: str) -> RioError:
    return RioError("not_found", f"There is no conversation {name!a}.", "List them with agent.conversations.")


def _open(path: Path, name: str) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        raise _missing(name) from None
    except OSError as error:
        raise RioError("io", f"{path} cannot be opened: {error.strerror}.", "Check the rights of this file.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RioError("unsupported", f"{path} is not a regular file.", "Move it away.")
    return descriptor


def _lock(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _record(value: Any) -> Record:
    """A record from a line. What a provider will be sent holds no half character and no number that is none."""
    if isinstance(value, dict) and value.get("record") == "proposed":
        return decode(value)  # not sent, and its path may hold bytes that are not UTF-8, as half characters (PEP 383)
    return decode(plain(value, "a record", -_WRAPPED))


def _read(descriptor: int, path: Path) -> tuple[list[Record], list[str], bool]:
    """Records, notices, and whether the last line has no end."""
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        data = file.read()
    records: list[Record] = []
    damaged: list[int] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip(b" \r\0"):
            if b"\0" in line:
                damaged.append(number)
            continue
        try:
            records.append(_record(json.loads(line)))
        except (ValueError, RecursionError, msgspec.ValidationError):
            damaged.append(number)
    notices = []
    if damaged:
        lines = ", ".join(map(str, damaged[:5])) + (" and more" if len(damaged) > 5 else "")
        count = f"{len(damaged)} {'entry' if len(damaged) == 1 else 'entries'}"
        notices.append(f"{count} of the conversation could not be read (line {lines} of {path}); the rest is whole.")
    return records, notices, bool(data) and not data.endswith(b"\n")
