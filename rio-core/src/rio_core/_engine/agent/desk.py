"""Where a proposal meets the documents: drafted against the text as it is, and applied to the text as it is then."""

import secrets
from collections.abc import Callable
from typing import Final, Literal

import anyio
import anyio.to_thread

from rio_core._engine import diff
from rio_core._engine.agent.hints import nearly
from rio_core._engine.agent.proposals import LIMIT, Proposal, hidden_marks, split
from rio_core._engine.agent.records import Proposed
from rio_core._engine.documents import lines
from rio_core._engine.documents.buffer import Buffer
from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.documents.encoding import Format, encode
from rio_core._engine.documents.hunks import apply_lines
from rio_core._engine.documents.store import Documents
from rio_core._engine.documents.text import Text
from rio_core._engine.tools.toolbox import Draft
from rio_core._engine.workspace.confine import Root, from_model
from rio_core._engine.workspace.paths import model_name, render
from rio_core._engine.workspace.protect import looks_secret, protected, runs_later, shapes_later, unportable
from rio_core.protocol.errors import RioError

__all__ = ["Applied", "Desk", "Disk"]

_READ_AGAIN: Final = "Read the file again before you propose another change."

_LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a file that is opened because a tool wants to change it."""

Disk = Literal["same", "changed", "deleted"]


class Applied:
    """What became of an approved change: whether it is in the text, and what is to be said of it."""

    def __init__(self, message: str, *, done: bool) -> None:
        self.message = message
        self.done = done


class Desk:
    """Drafts and applies proposals.

    `busy` is held while a decision is carried out: nothing ends a turn in between. `saves` is the setting whether a
    document without other unsaved text is saved when a change to it is approved.
    """

    def __init__(self, documents: Documents, root: Root, *, saves: Callable[[], bool]) -> None:
        self.busy = anyio.Lock()
        self._documents = documents
        self._root = root
        self._saves = saves

    async def propose(self, turn: str, call: str, draft: Draft) -> Proposal:
        """Check a draft and make a proposal of it. Raises RioError, in words that the model can act on."""
        old, new = lines.to_lf(draft.old), lines.to_lf(draft.new)
        size = len(old.encode()) + len(new.encode())
        if size > LIMIT:
            raise RioError(
                "unsupported", f"The change is {size} bytes long; {LIMIT} is the most.", "Propose it in smaller parts."
            )
        path = await anyio.to_thread.run_sync(self._path, draft)
        record = Proposed(
            turn=turn,
            proposal="p" + secrets.token_hex(6),
            call=call,
            kind=draft.kind,
            path=path,
            old=old,
            new=new,
        )
        if draft.kind == "create":
            await self._check_absent(path)
        else:
            record.base = await self._check_edit(record)
        return await self.present(record)

    async def present(self, record: Proposed, *, disk: Disk = "same") -> Proposal:
        """A proposal as it is shown now."""
        buffer = await self._reachable(record)
        span = self.span(buffer, record.old) if buffer else None
        # Without its place nothing is known of what follows: a line is drawn as one that has an end.
        bare = ("", "" if record.kind == "create" else "\n", 0)
        before, after, first = _surroundings(buffer, *span) if buffer and span else bare

        def draw() -> Proposal:
            old, new = split(before + record.old + after), split(before + record.new + after)
            shown = diff.unified(record.path, old, new, first=first, created=record.kind == "create")
            return Proposal(record, shown, self._marks(record, disk, has_text=buffer is not None))

        return await anyio.to_thread.run_sync(draw)

    async def at(self, record: Proposed) -> Position | None:
        """Where the change would land now."""
        if record.kind == "create":
            return Position(0, 0)
        buffer = await self._reachable(record)
        span = self.span(buffer, record.old) if buffer else None
        return buffer.text.position(span[0]) if buffer and span else None

    @staticmethod
    def span(buffer: Buffer, old: str) -> tuple[int, int] | None:
        """The one place of the text, as offsets; None where it is gone or ambiguous."""
        if not old:
            return (0, 0) if not len(buffer.text) else None
        found = buffer.text.find_all(old, 2)
        return found[0] if len(found) == 1 else None

    async def check(self, record: Proposed) -> tuple[Disk, str | None]:
        """What another program did to the file since the proposal was shown, and the digest of what is there now.

        An open document without unsaved text follows the file.
        """
        if record.kind == "create":
            return "same", None
        buffer = await self._document(record)
        found = await self._follow(buffer) if buffer else None
        if buffer is None or found is None:
            return ("same" if record.base is None else "deleted"), None
        digest = found.hex()
        if record.base is not None and self._documents.follows(buffer.id, bytes.fromhex(record.base), found):
            return "same", digest
        return "changed", digest

    async def apply(self, record: Proposed, new: str) -> Applied:
        """Put `new` where the proposal's `old` is now. Raises RioError where the user can do something about it."""
        await anyio.to_thread.run_sync(self._guard, record.path)
        if record.kind == "create":
            return await self._create(record, new)
        buffer = await self._document(record)
        name = model_name(record.path)
        if buffer is None:
            return Applied(f"Not applied: {name} is no longer there.", done=False)
        span = self.span(buffer, record.old)
        if span is None:
            return Applied(f"Not applied: {_misplaced(buffer, record.old, name)}. {_READ_AGAIN}", done=False)
        _check_holds(buffer, new)
        clean = not buffer.dirty
        edits = apply_lines(buffer.text, span[0], record.old, new, default=buffer.default_ending)
        buffer.edit(buffer.revision, edits, origin="agent")
        return Applied(await self._save(buffer, record, clean=clean), done=True)

    async def _create(self, record: Proposed, new: str) -> Applied:
        try:
            await self._check_absent(record.path)
        except RioError as error:
            return Applied(f"Not created: {error.message} {error.action}", done=False)
        buffer = self._documents.new()
        start = buffer.text.position(0)
        if new:
            buffer.edit(0, [Edit(start, start, new)], origin="agent")
        try:
            await anyio.to_thread.run_sync(self._make_parents, record.path)
            await self._documents.save_as(buffer.id, record.path)
        except RioError:
            await self._documents.close(buffer.id, discard=True)
            raise
        return Applied(f"Created {model_name(record.path)}.", done=True)

    async def _save(self, buffer: Buffer, record: Proposed, *, clean: bool) -> str:
        applied = f"Applied to {model_name(record.path)}"
        if not clean:
            return f"{applied} in the editor, where it holds other unsaved text: the user will save it."
        if not self._saves():
            return f"{applied} in the editor; it is not saved yet."
        try:
            # Its user has seen that the file was deleted, and nothing else may be overwritten.
            await self._documents.save(buffer.id, force=record.round > 0 and record.base is None)
        except RioError as error:
            return f"{applied} in the editor, but it could not be saved: {error.message} {error.action}"
        return f"{applied} and saved."

    async def _document(self, record: Proposed) -> Buffer | None:
        """The document of a proposal, opened if need be; None where it is not open and its file is gone."""
        try:
            return await self._documents.open(record.path)
        except RioError as error:
            if error.kind != "not_found":
                raise
            return None

    async def _reachable(self, record: Proposed) -> Buffer | None:
        """The document that a proposal would change, opened if need be; None where there is none to be had."""
        if record.kind == "create":
            return None
        try:
            return await self._documents.open(record.path)
        except RioError:
            return None

    def _path(self, draft: Draft) -> str:
        """The path as it is on disk; refused where the agent may not write."""
        path = from_model(self._root, draft.path)
        real = self._guard(path)
        names = self._root.names(path)
        names = real if ".." in names else names
        name = model_name(path)
        if draft.kind == "create":
            reason = unportable(names) or unportable(real)
            if reason:
                raise RioError("protected", f"{name} cannot be created: {reason}.", "Choose another name.")
        elif looks_secret(real):
            # Whether a piece of text is in it would be told to the model.
            raise RioError(
                "protected",
                f"{name} usually holds passwords or keys, so it is not read.",
                "Ask your user to change it.",
            )
        return render(names)

    def _guard(self, path: str) -> tuple[str, ...]:
        """The real names of a path that the agent may write."""
        real = self._root.real(path)
        if protected(self._root.names(path)) or protected(real):
            raise RioError(
                "protected",
                f"{model_name(path)} belongs to git or to rio, which no tool changes.",
                "Ask your user to do it.",
            )
        return real

    async def _check_absent(self, path: str) -> None:
        exists = await anyio.to_thread.run_sync(self._exists, path)
        if exists:
            raise RioError("exists", f"{model_name(path)} exists already.", "Use propose_edit to change it.")

    def _make_parents(self, path: str) -> None:
        self._root.place(path, make_parents=True).close()

    def _exists(self, path: str) -> bool:
        try:
            self._root.stat(path)
        except RioError as error:
            if error.kind == "not_found":
                return False
            raise
        return True

    def _check_size(self, path: str) -> None:
        size = self._root.stat(path).st_size
        if size > _LARGEST:
            raise RioError(
                "unsupported", f"{model_name(path)} is too large ({size} bytes).", "Ask your user to open it first."
            )

    async def _check_edit(self, record: Proposed) -> str | None:
        if await self._documents.find(record.path) is None:
            await anyio.to_thread.run_sync(self._check_size, record.path)
        buffer = await self._documents.open(record.path)
        found = await self._follow(buffer)
        name = model_name(record.path)
        if buffer.read_only:
            raise RioError("read_only", f"{name} is read-only.", "Tell your user, who can change its rights.")
        if record.old == record.new:
            raise RioError("bad_message", f"The change to {name} changes nothing.", "`old` and `new` are equal.")
        if not record.old and len(buffer.text):
            raise RioError(
                "bad_message", f"{name} is not empty.", "Only in an empty file can `old` be empty: quote text."
            )
        _check_holds(buffer, record.new)
        if record.old:
            self._check_once(buffer, record.old, name)
        return found.hex() if found is not None else None

    async def _follow(self, buffer: Buffer) -> bytes | None:
        """Bring a document without unsaved text to what its file is now; the digest of the file, if there is one."""
        found = await self._documents.on_disk(buffer.id)
        if found is not None and not buffer.dirty and not self._documents.is_known(buffer.id, found):
            try:
                await self._documents.reload(buffer.id, origin="reload")
            except RioError as error:
                if error.kind != "dirty":  # typed in the meantime: it keeps its text
                    raise
        return found

    def _check_once(self, buffer: Buffer, old: str, name: str) -> None:
        hits = buffer.text.find_all(old, 20)
        if len(hits) == 1:
            return
        if hits:
            at = ", ".join(str(buffer.text.position(start).line + 1) for start, _ in hits)
            more = " and more" if len(hits) == 20 else ""
            raise RioError(
                "stale",
                f"The text to replace occurs several times in {name}: in lines {at}{more}.",
                "Quote more of what stands around the one that you mean.",
            )
        raise RioError("stale", f"The text to replace is not in {name}.{nearly(buffer.text, old)}", _READ_AGAIN)

    def _marks(self, record: Proposed, disk: Disk, *, has_text: bool) -> list[str]:
        names = self._root.names(record.path)
        try:
            real = self._root.real(record.path)
        except RioError:  # it leads nowhere any more
            real = names
        marks = [mark for judge in (runs_later, shapes_later) if (mark := judge(real) or judge(names))]
        if real != names:
            marks.append(f"The path leads to {model_name(render(real))}.")
        if disk == "changed":
            marks.append("Another program changed the file since this was shown.")
        elif disk == "deleted":
            then = "approving writes it again" if has_text else "it cannot be changed any more"
            marks.append(f"Another program deleted or renamed the file: {then}.")
        return marks + hidden_marks(record)


def _misplaced(buffer: Buffer, old: str, name: str) -> str:
    if not old:
        return f"{name} is no longer empty"
    what = "occurs several times" if buffer.text.find_all(old, 1) else "is no longer there"
    return f"the text to replace {what} in {name}"


def _check_holds(buffer: Buffer, text: str) -> None:
    encode(Text([text]), Format(buffer.format.encoding))


def _surroundings(buffer: Buffer, start: int, end: int) -> tuple[str, str, int]:
    """Text with LF around a span: up to whole lines and some context, and the number of the line that it begins in."""
    text = buffer.text
    first = max(0, text.position(start).line - diff.CONTEXT)
    last = text.position(end).line + diff.CONTEXT
    begin = text.line_spans(first, 1)[0][0]
    stop = text.line_spans(min(last, text.line_count - 1), 1)[0][2]
    return lines.to_lf(text.slice(begin, start)), lines.to_lf(text.slice(end, stop)), first
