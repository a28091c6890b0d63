"""All open documents, and the files that they come from and go to.

Files are touched in worker threads; documents change on the event loop only. What is done to one document's
file is done in the order in which it was asked for.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from anyio.to_thread import run_sync

from rio_core._engine import files
from rio_core._engine.documents import encoding, lines
from rio_core._engine.documents.buffer import Applied, Buffer, Changed, Version
from rio_core._engine.documents.edits import Edit, check_text
from rio_core._engine.documents.encoding import Format
from rio_core._engine.documents.text import Text
from rio_core._engine.documents.undo import BUDGET
from rio_core._engine.files import Stamp
from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError


@dataclass(frozen=True, slots=True)
class Saved:
    """The revision that is on disk now, and its size in bytes."""

    revision: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Content:
    text: Text
    format: Format
    stamp: Stamp
    read_only: bool


@dataclass(frozen=True, slots=True)
class _Written:
    stamp: Stamp
    error: RioError | None  # what failed although the bytes are in place


@dataclass(slots=True)
class _Entry:
    buffer: Buffer
    stamp: Stamp | None = None
    own: list[bytes] = field(default_factory=list)  # digests that the file had one after the other by rio alone
    turn: anyio.Lock = field(default_factory=anyio.Lock)


class Documents:
    """The open documents, by id.

    `resolve` finds the place of a path, relative to the project or absolute; it is called in worker
    threads. `recovery` is a folder of the user's own for old bytes while a file is overwritten in place.
    `changed` gets each `Changed` of each document, `saved` each document and its revision that is on disk now.
    """

    def __init__(
        self,
        resolve: Callable[[str], Place],
        *,
        recovery: str,
        changed: Callable[[Changed], None],
        saved: Callable[[Buffer, int], None] = lambda buffer, revision: None,
        default_ending: lines.Ending = "lf",
        undo_budget: int = BUDGET,
    ) -> None:
        self.default_ending = default_ending
        self._resolve = resolve
        self._recovery = recovery
        self._changed = changed
        self._saved = saved
        self._undo_budget = undo_budget
        self._entries: dict[str, _Entry] = {}
        self._count = 0
        self._naming = anyio.Lock()  # held while a document gets its file: a file has one document

    def new(self, text: str = "") -> Buffer:
        """A document without a file. It is dirty when it begins with text.

        Raises:
            RioError: `bad_message`, for half characters.

        """
        check_text(text)
        buffer = self._add(Text(), Format(), None)
        if text:
            start = buffer.text.position(0)
            buffer.edit(0, [Edit(start, start, text)], origin="new")
        return buffer

    def all(self) -> list[Buffer]:
        """Every open document, in the order of opening."""
        return [entry.buffer for entry in self._entries.values()]

    def get(self, name: str) -> Buffer:
        """The document with an id.

        Raises:
            RioError: `not_found`.

        """
        return self._entry(name).buffer

    async def open(self, path: str) -> Buffer:
        """The document of a file: the one that is open, whatever name it was opened by, else a new one.

        Raises:
            RioError: `not_found`, `unsupported` for anything but a regular file, `io`, or what `resolve` raises.

        """
        async with self._naming:
            while True:
                found = await run_sync(self._find_or_load, path, self._paths())
                if isinstance(found, _Content):
                    break
                if found in self._entries:  # else it was closed meanwhile
                    return self.get(found)
            buffer = self._add(found.text, found.format, found.stamp)
            buffer.path = path
            buffer.read_only = found.read_only
            return buffer

    async def find(self, path: str) -> Buffer | None:
        """The open document of a file, whatever name it was opened by.

        Raises:
            RioError: what `resolve` raises.

        """
        found = await run_sync(self._find, path, self._paths())
        return self._entries[found].buffer if found in self._entries else None

    async def save(self, name: str, *, force: bool = False) -> Saved:
        """Write a document to its file. What is typed meanwhile stays unsaved.

        `force` overwrites a file that is read-only, changed or deleted.

        Raises:
            RioError: `conflict` for a document without a file, `changed_on_disk`, `read_only`, `encoding`,
                `not_found`, `io`. The file is as it was and the document still dirty.

        """
        async with self._turn(name) as entry:
            path = _path_of(entry.buffer)
            saved = await self._write(entry, path, entry.stamp, force=force)
            self._saved(entry.buffer, saved.revision)
            return saved

    async def save_as(self, name: str, path: str, *, force: bool = False) -> Saved:
        """Write a document to another file, which is its file from then on.

        `force` overwrites a file that exists.

        Raises:
            RioError: `exists`; `conflict` when the file is open as another document; and as for `save`.

        """
        async with self._naming, self._turn(name) as entry:
            found = await run_sync(self._find, path, self._paths())
            if found is not None and found != name:
                raise RioError(
                    "conflict",
                    f"{path!a} is open as another document.",
                    "Close that one first, or choose another name.",
                )
            saved = await self._write(entry, path, entry.stamp if found == name else None, force=force)
            entry.buffer.path = path
            entry.buffer.read_only = False
            self._saved(entry.buffer, saved.revision)
            return saved

    async def reload(
        self, name: str, *, origin: str, request: int | str | None = None, discard: bool = False
    ) -> Applied:
        """Take over what is on disk, in one step of undo.

        Raises:
            RioError: `dirty` when there is unsaved text and not `discard`; `conflict` for a document without a
                file; `not_found`, `io`.

        """
        return await self._reload(name, None, origin, request, discard=discard)

    async def reopen_with(
        self, name: str, encoding: str, *, origin: str, request: int | str | None = None, discard: bool = False
    ) -> Applied:
        """Read the file again in the encoding that the user chose, in one step of undo.

        Raises:
            RioError: `encoding` when the bytes are not in it; and as for `reload`.

        """
        return await self._reload(name, encoding, origin, request, discard=discard)

    async def on_disk(self, name: str) -> bytes | None:
        """The digest of what is in a document's file now; None where there is no file.

        Raises:
            RioError: `unsupported`, `io`, or what `resolve` raises.

        """
        async with self._turn(name) as entry:  # in the middle of a save rio's own bytes would look like another's
            return await run_sync(self._digest, _path_of(entry.buffer), entry.stamp)

    def is_known(self, name: str, digest: bytes) -> bool:
        """Whether this is the content of its file that a document was last read from or written to."""
        return self._entry(name).own[-1:] == [digest]

    def follows(self, name: str, base: bytes, now: bytes) -> bool:
        """Whether a file that had the digest `base` came to have `now` by nothing but rio's own saves."""
        own = self._entry(name).own
        return base == now or (base in own and now in own[own.index(base) :])

    async def close(self, name: str, *, discard: bool = False) -> None:
        """Forget a document, after what is being done to its file.

        Raises:
            RioError: `dirty` when there is unsaved text and not `discard`.

        """
        async with self._turn(name) as entry:
            _check_clean(entry.buffer, discard=discard)
            del self._entries[name]

    def _add(self, text: Text, form: Format, stamp: Stamp | None) -> Buffer:
        self._count += 1
        buffer = Buffer(
            f"b{self._count}",
            text,
            form=form,
            default_ending=self.default_ending,
            undo_budget=self._undo_budget,
            changed=self._changed,
        )
        self._entries[buffer.id] = _Entry(buffer, stamp, [stamp.digest] if stamp else [])
        return buffer

    def _entry(self, name: str) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            raise RioError("not_found", f"There is no open document {name!a}.", "Open the file.")
        return entry

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[_Entry]:
        async with self._entry(name).turn:
            yield self._entry(name)  # else it was closed by whoever had the turn before

    def _paths(self) -> list[tuple[str, str]]:
        return [(name, entry.buffer.path) for name, entry in self._entries.items() if entry.buffer.path is not None]

    async def _reload(
        self, name: str, encoding: str | None, origin: str, request: int | str | None, *, discard: bool
    ) -> Applied:
        async with self._turn(name) as entry:
            buffer = entry.buffer
            path = _path_of(buffer)
            _check_clean(buffer, discard=discard)
            content = await run_sync(self._load, path, encoding)
            _check_clean(buffer, discard=discard)  # reading takes time, in which the user may have typed
            entry.stamp = content.stamp
            if entry.own[-1:] != [content.stamp.digest]:
                entry.own = [content.stamp.digest]
            buffer.read_only = content.read_only
            return buffer.reload(content.text, content.format, origin=origin, request=request)

    async def _write(self, entry: _Entry, path: str, expected: Stamp | None, *, force: bool) -> Saved:
        version = entry.buffer.version()
        written = await run_sync(self._save, version, path, expected, force)
        entry.stamp = written.stamp
        entry.own.append(written.stamp.digest)
        if written.error is not None:
            raise written.error
        entry.buffer.saved(version)
        return Saved(version.revision, written.stamp.size)

    # In worker threads:

    def _find(self, path: str, open_paths: Sequence[tuple[str, str]]) -> str | None:
        with self._resolve(path) as place:
            return self._same(place, open_paths)

    def _same(self, place: Place, open_paths: Sequence[tuple[str, str]]) -> str | None:
        for name, path in open_paths:
            # A document whose folder is gone is the document of no file that is there.
            with suppress(RioError), self._resolve(path) as other:
                if files.is_same(place, other):
                    return name
        return None

    def _find_or_load(self, path: str, open_paths: Sequence[tuple[str, str]]) -> "str | _Content":
        with self._resolve(path) as place:
            return self._same(place, open_paths) or _read(place, None)

    def _digest(self, path: str, stamp: Stamp | None) -> bytes | None:
        try:
            with self._resolve(path) as place:
                status = files.status_of(place)
                if status is None:
                    return None
                if stamp is not None and stamp.looks_like(status):
                    return stamp.digest
                with files.Reading(place) as reading:
                    for _ in reading:
                        pass
                    return reading.stamp().digest
        except RioError as error:
            if error.kind == "not_found":
                return None
            raise

    def _load(self, path: str, encoding: str | None) -> _Content:
        with self._resolve(path) as place:
            return _read(place, encoding)

    def _save(self, version: Version, path: str, expected: Stamp | None, force: bool) -> _Written:
        pieces = encoding.encode(version.text, version.format)
        try:
            place = self._resolve(path)
        except RioError as error:
            if error.kind != "not_found":
                raise
            raise RioError(
                "not_found",
                f"The folder of {path!a} is gone.",
                "Save the text in another folder (Save As); it is kept.",
            ) from error
        with place:
            try:
                return _Written(files.save(place, pieces, expected, recovery=self._recovery, force=force), None)
            except RioError as error:
                if error.kind == "io" and (stamp := files.stamp_if_written(place, pieces)):
                    return _Written(stamp, error)
                raise


def _read(place: Place, name: str | None) -> _Content:
    with files.Reading(place) as reading:
        text, form = encoding.decode(reading) if name is None else encoding.decode_as(reading, name)
        return _Content(text, form, reading.stamp(), reading.read_only)


def _path_of(buffer: Buffer) -> str:
    if buffer.path is None:
        raise RioError("conflict", f"The document {buffer.id} has no file yet.", "Save it under a name (Save As).")
    return buffer.path


def _check_clean(buffer: Buffer, *, discard: bool) -> None:
    if buffer.dirty and not discard:
        shown = ascii(buffer.path) if buffer.path else buffer.id
        raise RioError("dirty", f"{shown} has unsaved changes.", "Save it, or say that they are to be discarded.")
