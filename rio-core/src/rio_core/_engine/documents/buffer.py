"""A document: its text, what it is on disk as, its revisions and its undo."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal

from rio_core._engine.documents import encoding
from rio_core._engine.documents.edits import (
    MAX_REBASE,
    Edit,
    Position,
    Selection,
    Span,
    bad_params,
    carried,
    check_text,
    end_of,
    rebase,
    stale,
)
from rio_core._engine.documents.encoding import Format
from rio_core._engine.documents.hunks import differences
from rio_core._engine.documents.lines import Ending, LineEnding, tally, with_ending
from rio_core._engine.documents.text import Text
from rio_core._engine.documents.undo import BUDGET, Change, State, Step, UndoStack
from rio_core.protocol.errors import RioError

KEPT: Final = 1024
"""Revisions back from which an edit is carried over what came since."""

_WORD: Final = re.compile(r"\s*\S+|\s+")
_TYPED: Final = 1024  # characters at once that can have been typed


@dataclass(frozen=True, slots=True)
class Changed:
    """What one revision did. `edits` apply in order, each in the coordinates that the one before left.

    The ends of an edit are positions in the text before it as well as after it: an edit that joins a CR and
    an LF, or divides them, is told with both characters. Whoever keeps lines without their ends can follow.
    """

    buffer: str
    revision: int
    edits: tuple[Edit, ...]
    origin: str
    request: int | str | None
    dirty: bool


@dataclass(frozen=True, slots=True)
class Applied:
    """The revision that an edit made, and the edits as they were applied."""

    revision: int
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """What undo or redo did: nothing where `changed` is false. `selection` is the one to restore."""

    revision: int
    changed: bool
    dirty: bool
    selection: Selection | None


@dataclass(frozen=True, slots=True)
class Version:
    """A document at one moment, for a save that goes on while the document changes."""

    text: Text
    format: Format
    revision: int
    state: int


class Buffer:
    """One document.

    `text` is read by everybody and changed here only. `path` (None for a document without a file) and
    `read_only` belong to the store. `changed` is called with each `Changed`, before the call that caused it
    returns.
    """

    def __init__(
        self,
        name: str,
        text: Text | None = None,
        *,
        changed: Callable[[Changed], None],
        form: Format | None = None,
        default_ending: Ending = "lf",
        undo_budget: int = BUDGET,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.id = name
        self.path: str | None = None
        self.read_only = False
        self.text = Text() if text is None else text
        self.revision = 0
        self.default_ending = default_ending
        self._changed = changed
        self._clock = clock
        self._undo = UndoStack(undo_budget)
        self._spans: deque[tuple[Span, ...]] = deque()
        self._spans_kept = 0
        self._lone_cr = 0 if self.text.has_lone_cr else -1  # the last revision that had one
        self._states = 0
        self._state = State(0, form or Format())
        self._saved = 0

    @property
    def lines(self) -> int:
        """The number of lines, at least one."""
        return self.text.line_count

    @property
    def format(self) -> Format:
        """How the document is written at the next save."""
        return self._state.format

    @property
    def line_ending(self) -> LineEnding:
        """What ends the lines, or would end the first one."""
        return self.text.line_ending(self.default_ending)

    @property
    def dirty(self) -> bool:
        """Whether there is something that is not on disk."""
        return self._state.number != self._saved

    def edit(
        self,
        revision: int,
        edits: Sequence[Edit],
        *,
        origin: str,
        request: int | str | None = None,
        group: Literal["typing"] | None = None,
        selection: Selection | None = None,
    ) -> Applied:
        """Apply a batch that was made for `revision`: all of it or nothing, and one step of undo.

        Each edit is in the coordinates that the one before left. A batch for an older revision is carried
        over what came since. With the group `typing` the step is the word that is being typed. `selection`
        is the one before the edit, which undo restores.

        Raises:
            RioError: `stale`, when the text has changed in the same place or `revision` is too old;
                `bad_message`, for positions or characters that the text cannot have.

        """
        for edit in edits:
            check_text(edit.text)
        since = self._since(revision)
        if since:
            # Where a CR and an LF may join, only the text that an edit was made for tells what it did to the lines.
            if len(edits) > 1 and (revision <= self._lone_cr or any(tally(edit.text).cr for edit in edits)):
                raise stale()
            edits = rebase(edits, since)
            if selection:
                anchor, caret = selection
                for span in since:
                    anchor, caret = carried(anchor, span), carried(caret, span)
                selection = (anchor, caret)
                if not all(map(self._is_place, selection)):
                    selection = None  # what it was in is gone: undo puts the caret behind what it changed
        if selection:
            for position in selection:
                self.text.offset(position)
        changes, applied = self._apply_all(edits)
        before = self._state
        real = [change for change in changes if change.removed != change.text]
        if group == "typing":
            self._push_typed(real, origin, selection)
        elif real:
            self._state = self._next_state(self.format)
            self._undo.push(Step(real, before, self._state, selection))
        return self._commit(applied, origin, request)

    def undo(self, *, origin: str, request: int | str | None = None) -> Undone:
        """Take the last step back."""
        step = self._undo.undo()
        if step is None:
            return Undone(self.revision, changed=False, dirty=self.dirty, selection=None)
        applied = [self._apply(change.inverse()) for change in reversed(step.changes)]
        self._state = step.before
        self._commit(applied, origin, request)
        return Undone(self.revision, changed=True, dirty=self.dirty, selection=step.selection or _behind(applied))

    def redo(self, *, origin: str, request: int | str | None = None) -> Undone:
        """Do again what the last undo took back."""
        step = self._undo.redo()
        if step is None:
            return Undone(self.revision, changed=False, dirty=self.dirty, selection=None)
        applied = [self._apply(change) for change in step.changes]
        self._state = step.after
        self._commit(applied, origin, request)
        return Undone(self.revision, changed=True, dirty=self.dirty, selection=_behind(applied))

    def set_line_ending(self, ending: Ending, *, origin: str, request: int | str | None = None) -> Applied:
        """Give every line the same end, in one step. Positions do not move."""
        edits = []
        at = 0
        for piece in self.text.chunks():
            wanted = with_ending(piece, ending)
            if wanted != piece:
                edits.append(Edit(self.text.position(at), self.text.position(at + len(piece)), wanted))
            at += len(piece)
        if ending == "cr":
            edits.reverse()  # no new CR ever comes before an LF that is still to be changed
        self.default_ending = ending
        return self.edit(self.revision, edits, origin=origin, request=request)

    def set_encoding(
        self, name: str, *, bom: bool | None = None, origin: str, request: int | str | None = None
    ) -> Applied:
        """Choose the encoding of the next save, in one step of undo. The text stays.

        Without `bom` the mark stays as it is where the encoding has one.

        Raises:
            RioError: `encoding`, for an unknown name, or a byte-order mark in an encoding that has none.

        """
        name, named = encoding.find_codec(name)
        has_mark = name in encoding.MARKS
        if bom and not has_mark:
            raise RioError("encoding", f"{name} has no byte-order mark.", "Choose utf-8 or utf-16, or no mark.")
        wanted = bom if bom is not None else named if named is not None else self.format.bom and has_mark
        form = Format(name, bom=wanted)
        if form != self.format:
            before, self._state = self._state, self._next_state(form)
            self._undo.push(Step([], before, self._state, None))
        return self._commit([], origin, request)

    def reload(self, text: Text, form: Format, *, origin: str, request: int | str | None = None) -> Applied:
        """Take over what is on disk, in one step of undo that changes no more than what differs. It counts as saved."""
        changes, applied = self._apply_all(differences(self.text, text))
        if changes or form != self.format:
            before, self._state = self._state, self._next_state(form)
            self._undo.push(Step(changes, before, self._state, None))
        self._undo.end_typing()
        self._saved = self._state.number
        return self._commit(applied, origin, request)

    def version(self) -> Version:
        """The document as it is now, to be written. The next key begins a new step of undo."""
        self._undo.end_typing()
        return Version(self.text.snapshot(), self.format, self.revision, self._state.number)

    def saved(self, version: Version) -> None:
        """A version is on disk: undo and redo that lead back to it lead to a clean document."""
        self._saved = version.state

    def _is_place(self, position: Position) -> bool:
        try:
            self.text.offset(position)
        except RioError:
            return False
        return True

    def _since(self, revision: int) -> list[Span]:
        missed = self.revision - revision
        if missed < 0:
            raise bad_params(
                f"The document has no revision {revision} yet: it has {self.revision}.",
                "Send the revision of the last answer.",
            )
        if missed > len(self._spans):
            raise stale()
        return list(chain.from_iterable(list(self._spans)[len(self._spans) - missed :])) if missed else []

    def _apply_all(self, edits: Iterable[Edit]) -> tuple[list[Change], list[Edit]]:
        changes: list[Change] = []
        applied: list[Edit] = []
        try:
            for edit in edits:
                change, done = self._replace(edit)
                changes.append(change)
                applied.append(done)
        except RioError:
            for change in reversed(changes):
                self._apply(change.inverse())
            raise
        return changes, applied

    def _replace(self, edit: Edit) -> tuple[Change, Edit]:
        """Apply an edit, widened so that it joins no CR and LF at its ends."""
        start, end = self.text.offsets(edit.start, edit.end)
        text = edit.text
        if end < start:
            raise bad_params("An edit ends before it begins.", "Send start and end in this order.")
        before, behind = self.text.slice(start - 1, start), self.text.slice(end, end + 1)
        if before == "\r" and (text or behind).startswith("\n"):
            start -= 1
            text = before + text
        if behind == "\n" and text.endswith("\r"):
            end += 1
            text += behind
        if text != edit.text:
            edit = Edit(self.text.position(start), self.text.position(end), text)
        return Change(start, self.text.replace(start, end, text), text), edit

    def _apply(self, change: Change) -> Edit:
        start, removed, text = change
        first, last = self.text.position(start), self.text.position(start + len(removed))
        self.text.replace(start, start + len(removed), text)
        return Edit(first, last, text)

    def _push_typed(self, changes: Iterable[Change], origin: str, selection: Selection | None) -> None:
        now = self._clock()
        for change in changes:
            for word in _words(change):
                before, self._state = self._state, self._next_state(self.format)
                self._undo.type(word, before, self._state, selection, origin, now)
                selection = None

    def _next_state(self, form: Format) -> State:
        self._states += 1
        return State(self._states, form)

    def _commit(self, applied: Sequence[Edit], origin: str, request: int | str | None) -> Applied:
        edits = tuple(applied)
        self.revision += 1
        self._spans.append(tuple(Span.of(edit) for edit in edits))
        self._spans_kept += len(edits)
        if self.text.has_lone_cr:
            self._lone_cr = self.revision
        while len(self._spans) > KEPT or self._spans_kept > MAX_REBASE:
            self._spans_kept -= len(self._spans.popleft())
        self._changed(Changed(self.id, self.revision, edits, origin, request, self.dirty))
        return Applied(self.revision, edits)


def _behind(applied: Sequence[Edit]) -> Selection | None:
    """A caret behind the last edit."""
    if not applied:
        return None
    caret = end_of(applied[-1].start, applied[-1].text)
    return caret, caret


def _words(change: Change) -> list[Change]:
    """A typed change as one a word, each with the white space before it."""
    parts = _WORD.findall(change.text) if len(change.text) <= _TYPED else []
    if len(parts) < 2:
        return [change]
    words = [Change(change.start, change.removed, parts[0])]
    for part in parts[1:]:
        words.append(Change(words[-1].start + len(words[-1].text), "", part))
    return words
