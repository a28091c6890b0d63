"""What the agent may see: the project's files and the editor's buffers, confined and capped."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

import anyio.to_thread

from rio_core._engine.documents import encoding, lines
from rio_core._engine.documents.buffer import Buffer
from rio_core._engine.documents.store import Documents
from rio_core._engine.tools.toolbox import Answered
from rio_core._engine.workspace.confine import Root, from_model
from rio_core._engine.workspace.paths import model_name, render
from rio_core._engine.workspace.protect import looks_secret
from rio_core.protocol.errors import INVALID_PARAMS, RioError
from rio_core.protocol.visible import count_hidden, visible_line

__all__ = ["ANSWER", "Reads", "up_to"]

ANSWER: Final = 60_000
"""Characters of an answer to the model; what is left out is said."""

FILE: Final = 8 * 1024 * 1024
"""Bytes of a file that is not open that are looked at."""

ENTRIES: Final = 500
"""Entries of a folder that an answer names."""

LINE: Final = 4_000
"""Characters of one line that an answer shows."""


class Reads:
    """Reads for tools. Every path is confined to the root; a file that is open is read as it is in the editor."""

    def __init__(self, documents: Documents, root: Root) -> None:
        self._documents = documents
        self._root = root

    async def list(self, path: str) -> Answered:
        """The entries of a folder."""
        from rio_core._engine.workspace.listing import list_folder

        def work() -> Answered:
            where = from_model(self._root, path or ".")
            listing = list_folder(self._root, where, limit=ENTRIES)
            rows = [
                f"{model_name(entry.name)}{'/' if entry.kind == 'folder' else ''}"
                + (f"  {entry.size} bytes" if entry.kind == "file" else f"  ({entry.kind})" * (entry.kind != "folder"))
                + "  (ignored)" * entry.ignored
                for entry in listing.entries
            ]
            if listing.more or listing.partial:
                rows.append(f"({listing.more}{' or' if listing.partial else ''} more)")
            name = model_name(render(listing.names))
            count = f"{listing.total} {'entry' if listing.total == 1 else 'entries'}"
            return Answered(up_to("\n".join([f"{name}: {count}", *rows]), ANSWER), f"{count} in {name}")

        return await anyio.to_thread.run_sync(work)

    async def file(self, path: str, first: int, count: int) -> Answered:
        """Numbered lines of a file."""
        where = await anyio.to_thread.run_sync(self._inside, path)
        await self._check_readable(where)
        buffer = await self._documents.find(where)
        name = model_name(where)
        if buffer is not None:
            return _numbered(name, _state(buffer), _rows(buffer, first), first, count, buffer.lines)
        rows, cut = await anyio.to_thread.run_sync(self._load, where)
        note = f"only the first {FILE} bytes can be read here" if cut else ""
        return _numbered(name, note, rows[first - 1 :], first, count, len(rows))

    async def attachment(self, path: str, first: int | None, count: int | None) -> str:
        """A file, or lines of it from 0, as text that goes along with a message."""
        if (first is not None and first < 0) or (count is not None and count < 1):
            raise RioError(
                "bad_message",
                f"The range of the attachment {model_name(path)} is none.",
                "Count lines from 0, and attach one at least.",
                code=INVALID_PARAMS,
            )
        answered = await self.file(path, (first or 0) + 1, count or 2000)
        return f"The user attached:\n{answered.text}"

    async def search(self, pattern: str, path: str, *, regex: bool, glob: str | None) -> Answered:
        """Hits by file."""
        from rio_core._engine.workspace.search import search

        where = await anyio.to_thread.run_sync(from_model, self._root, path or ".")
        unsaved = {
            buffer.path: str(buffer.text)
            for buffer in self._documents.all()
            if buffer.dirty and buffer.path is not None and not buffer.path.startswith("/")
        }
        found = await search(self._root, pattern, path=where, regex=regex, glob=glob, texts=unsaved)
        rows: list[str] = []
        for file in found.files:
            rows.append(model_name(file.path) + (" (unsaved text in the editor)" if file.unsaved else ""))
            rows.extend(f"  {hit.line}: {hit.text}" for hit in file.hits)
            if file.more:
                rows.append(f"  ({file.more} more)")
        hits = sum(len(file.hits) + file.more for file in found.files)
        summary = f"{hits} matching lines in {len(found.files)} files for {visible_line(pattern)[:60]}"
        if found.cut:
            summary += f" (stopped at the limit of {found.cut}: narrow it by path or glob)"
        return Answered(up_to("\n".join([summary, *rows]), ANSWER), summary)

    def buffers(self) -> Answered:
        """What is open."""
        rows = [
            f"{buffer.id}  {model_name(buffer.path) if buffer.path else '(no file yet)'}  "
            f"{buffer.lines} lines{', unsaved changes' if buffer.dirty else ''}"
            for buffer in self._documents.all()
            if not self._is_foreign(buffer)
        ]
        return Answered(up_to("\n".join(rows), ANSWER) or "Nothing is open.", f"{len(rows)} open")

    async def buffer(self, name: str, first: int, count: int) -> Answered:
        """Numbered lines of a buffer."""
        buffer = self._documents.get(name)
        if self._is_foreign(buffer):
            raise _not_here(name)
        if buffer.path is not None:
            await self._check_readable(buffer.path)
        shown = model_name(buffer.path) if buffer.path else name
        return _numbered(shown, _state(buffer), _rows(buffer, first), first, count, buffer.lines)

    def _is_foreign(self, buffer: Buffer) -> bool:
        # What the user opened from elsewhere is none of the project's business.
        return buffer.path is not None and buffer.path.startswith("/")

    def _inside(self, path: str) -> str:
        # Relative, as documents take an absolute path for what their user opened from elsewhere.
        return render(self._root.names(from_model(self._root, path)))

    async def _check_readable(self, path: str) -> None:
        names = await anyio.to_thread.run_sync(self._root.real, path)
        if looks_secret(names):
            raise _secret(model_name(path))

    def _load(self, path: str) -> tuple[Sequence[str], bool]:
        from rio_core._engine.workspace.reading import read_capped

        content = read_capped(self._root, path, FILE)
        text, _ = encoding.decode([content.data])
        return [line for line, _ in lines.split(str(text))], content.cut


def _secret(name: str) -> RioError:
    return RioError(
        "protected",
        f"{name} usually holds passwords or keys, so it is not read.",
        "Ask your user, who can open it and pass on what may be seen.",
    )


def _not_here(name: str) -> RioError:
    return RioError("not_found", f"There is no buffer {name!a}.", "See buffer_list.")


def _state(buffer: Buffer) -> str:
    return "open in the editor, with unsaved changes" if buffer.dirty else "open in the editor"


def _rows(buffer: Buffer, first: int) -> Iterable[str]:
    text = buffer.text.snapshot()
    for start in range(first - 1, text.line_count, 256):
        yield from (line for line, _ in text.lines(start, min(256, text.line_count - start)))


def _numbered(name: str, note: str, rows: Iterable[str], first: int, count: int, total: int) -> Answered:
    """Lines as the model sees them: a number, a tab, the text."""
    shown: list[str] = []
    size = 0
    hidden = 0
    for number, row in enumerate(itertools.islice(rows, min(count, ANSWER)), first):
        hidden += count_hidden(row[:LINE])
        line = f"{number}\t{row}" if len(row) <= LINE else f"{number}\t{row[:LINE]} (cut: {len(row)} characters)"
        size += len(line) + 1
        if size > ANSWER and shown:
            break
        shown.append(line)
    last = first + len(shown) - 1
    part = f"lines {first} to {last} of {total}" if shown else f"no line {first}: it has {total}"
    head = f"{name} ({', '.join(filter(None, [note, part]))})"
    if hidden:
        head += f"\n(These lines hold {hidden} invisible or misleading characters.)"
    return Answered("\n".join([head, *shown]), f"{name}: {part}")


def up_to(text: str, limit: int) -> str:
    """A text, or its beginning with a word that it goes on; where a line ends, if that is near."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", limit // 2, limit)
    return f"{text[: end if end > 0 else limit]}\n(cut here: {len(text)} characters)"
