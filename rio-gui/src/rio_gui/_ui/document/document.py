"""A document in the window: the lines it has seen, the edits it has made, and how both follow the core."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from rio_core.protocol import Event, RioError
from rio_core.protocol.events import BufferChanged, BufferSaved
from rio_core.protocol.ops.buffer import BufferParams, BufferResult, EditParams, EditResult, LinesParams, LinesResult
from rio_core.protocol.values import Edit as WireEdit
from rio_core.protocol.values import Params
from rio_gui._ui.document.edits import Edit, OverlapError, Position, Span, end_of
from rio_gui._ui.document.outbox import Batch, Call, Group, Outbox, Selection
from rio_gui._ui.document.sparse import Line, SparseLines

LONG: Final = 4_096
"""Code points from which a line is long: shown by its columns in view, never wrapped and never read whole."""

_OUTDATED: Final = "Look at the text as it is now and edit again; what you typed is in the message."


class Core(Protocol):
    """The part of the link that a document needs."""

    def call(self, op: str, params: Params, done: Callable[[Any], None], failed: Callable[[RioError], None]) -> int:
        """Send a request and return its id. One of the functions is called later, never at once."""
        ...


class View(Protocol):
    """Who shows a document, or follows it."""

    def changed(self, edits: Sequence[Edit], *, own: bool) -> None:
        """The text has changed, by the window (`own`) or by somebody else."""

    def arrived(self) -> None:
        """Lines that were asked for are there, or the text is another one altogether."""

    def state_changed(self) -> None:
        """Path, encoding, dirty or the like is another."""

    def set_aside(self, texts: Sequence[str], error: RioError) -> None:
        """Edits were refused by the core and are gone from the text. `texts` is what they had put in."""


class MissingLinesError(Exception):
    """Lines that are not known yet are needed. Fetch them and try again."""

    def __init__(self, first: int, count: int, columns: tuple[int, int] | None = None) -> None:
        super().__init__(first, count, columns)
        self.first = first
        self.count = count
        self.columns = columns


class Document:
    """The window's side of one buffer. Edits are in force at once; the core's answer can only take them back."""

    def __init__(self, core: Core, info: BufferResult) -> None:
        self._core = core
        self.buffer = info.buffer
        self.info = info
        self.dirty = info.dirty
        self._dirty_in_core = info.dirty
        self.revision = info.revision
        self.lines = SparseLines(info.lines)
        self.views: list[View] = []
        self._outbox = Outbox()
        self._fetches: set[tuple[int, int, tuple[int, int] | None]] = set()
        self._faded: dict[int, Line] = {}
        self._total_known = True

    # Reading

    @property
    def settled(self) -> bool:
        """Whether the core has answered everything."""
        return self._outbox.empty

    @property
    def ready(self) -> bool:
        """Whether the text can be changed: not while it is being read anew."""
        return self._total_known

    def shown(self, number: int) -> Line | None:
        """A line to paint: as it is or, while the text is being read anew, as it was."""
        return self.lines.get(number) or self._faded.get(number)

    def line(self, number: int) -> Line:
        """A line of which at least the length is known. Raises MissingLinesError."""
        found = self.lines.get(number)
        if found is None:
            raise MissingLinesError(max(0, number - 20), 40)
        return found

    def length(self, number: int) -> int:
        """The length of a line. Raises MissingLinesError."""
        return self.line(number).length

    @property
    def total(self) -> int:
        """How many lines there are."""
        return self.lines.total

    def around(self, position: Position, reach: int = 256) -> tuple[str, int]:
        """The known text of a line, `reach` columns on both sides of a place at least, and its first column.

        Raises MissingLinesError.
        """
        line = self.line(position.line)
        low, high = position.column - reach, position.column + reach
        if not line.knows(low, high):
            raise MissingLinesError(position.line, 1, (max(0, low - LONG), high + LONG))
        return line.text, line.first

    def text_of(self, number: int) -> str:
        """The whole of a line that is not long. Raises MissingLinesError; RioError for a long line."""
        line = self.line(number)
        if not line.whole:
            if line.length > LONG:
                raise RioError(
                    "unsupported", f"Line {number + 1} is too long for this command.", "Work on a part of it."
                )
            raise MissingLinesError(number, 1)
        return line.text

    def end(self) -> Position:
        """The end of the text. Raises MissingLinesError."""
        last = self.lines.total - 1
        return Position(last, self.line(last).length)

    def fetch(self, first: int, count: int, columns: tuple[int, int] | None = None) -> None:
        """Ask the core for lines; `arrived` follows. Of each, only `columns`, by default the first ones."""
        first = max(0, first)
        count = min(count, self.lines.total - first) if self._total_known else count
        key = (first, max(1, count), columns)
        if key in self._fetches:
            return
        self._fetches.add(key)
        low, high = self._to_core(first), self._to_core(first + key[1] - 1)
        params = LinesParams(self.buffer, low, high - low + 1, columns or (0, LONG + 1))
        self._core.call("buffer.lines", params, lambda r: self._fetched(key, r), lambda e: self._fetch_failed(key, e))

    def _to_core(self, number: int) -> int:
        """About which line of the core's text a line is in: exact where no unanswered edit has changed it."""
        for edit in reversed(self._outbox.edits()):
            span = Span.of(edit)
            if number > span.new_end.line:
                number += span.end.line - span.new_end.line
            elif number > span.start.line:
                number = min(number, span.end.line)
        return number

    def _fetched(self, key: tuple[int, int, tuple[int, int] | None], result: LinesResult) -> None:
        self._fetches.discard(key)
        if result.revision != self.revision:
            self.fetch(*key)
            return
        first_column = key[2][0] if key[2] else 0
        seen = SparseLines(result.total)
        seen.put(
            result.first,
            (
                Line(text, min(first_column, length), length)
                for text, length in zip(result.lines, result.lengths, strict=True)
            ),
        )
        for edit in self._outbox.edits():
            seen.apply(edit)
        if self._total_known and seen.total != self.lines.total:
            self._reread()
            return
        self._total_known = True
        self._faded.clear()
        self.lines.total = seen.total
        for number in seen.numbers():
            new, old = seen.get(number), self.lines.get(number)
            if new is not None and not (old is not None and old.whole):
                self.lines.put(number, [new])
        self._tell("arrived")

    def _fetch_failed(self, key: tuple[int, int, tuple[int, int] | None], error: RioError) -> None:
        self._fetches.discard(key)
        if error.kind == "bad_message" and not self._total_known:
            self.fetch(0, key[1])  # the text is shorter than it was

    def _reread(self) -> None:
        """Forget the lines: the core's text is another one than was thought. They are painted until new ones come."""
        self._faded = {number: line for number in self.lines.numbers() if (line := self.lines.get(number))}
        self.lines.clear()
        self._total_known = False
        self._tell("arrived")

    # Changing

    def edit(self, edits: Sequence[Edit], *, group: Group = None, selection: Selection | None = None) -> None:
        """Change the text, at once and in the core. Each edit is in the coordinates that the one before left.

        Raises MissingLinesError, with nothing done, while the text is being read anew.
        """
        if not edits:
            return
        if not self._total_known:
            raise MissingLinesError(edits[0].start.line, 1)
        for edit in edits:
            self.lines.apply(edit)
        self._outbox.add(list(edits), group, selection)
        self._note_dirty()
        for view in self.views:
            view.changed(edits, own=True)
        self._send()

    def call(
        self,
        op: str,
        done: Callable[[Any], None],
        failed: Callable[[RioError], None],
        params: Params | None = None,
    ) -> None:
        """Call another op of this buffer, after the core has answered the edits made so far."""
        self._outbox.waiting.append(Call(op, params or BufferParams(self.buffer), done, failed))
        self._send()

    def when_settled(self, done: Callable[[Any], None], failed: Callable[[RioError], None]) -> None:
        """Call a function as soon as the core has answered the edits made so far."""
        self._outbox.waiting.append(Call(None, BufferParams(self.buffer), done, failed))
        self._send()

    def _send(self) -> None:
        box = self._outbox
        while box.sent is None and box.waiting:
            entry = box.waiting.popleft()
            if isinstance(entry, Call) and entry.op is None:
                entry.done(None)
                continue
            box.sent, box.accepted = entry, False
            if isinstance(entry, Batch):
                edits = [WireEdit(edit.start, edit.end, edit.text) for edit in entry.edits]
                params = EditParams(self.buffer, self.revision, edits, entry.group, entry.selection)
                box.request = self._core.call("buffer.edit", params, self._edited, self._refused)
            else:
                box.request = self._core.call(str(entry.op), entry.params, self._called, self._call_failed)

    def _edited(self, result: EditResult) -> None:
        box = self._outbox
        if isinstance(box.sent, Batch) and not box.accepted:
            self._accept(result.revision, None if result.reset else [_plain(edit) for edit in result.edits])
        box.sent = None
        self._send()

    def _accept(self, revision: int, applied: list[Edit] | None) -> None:
        """The core has taken the batch that is sent; `applied` is None where that is too long to be told."""
        box = self._outbox
        # Nothing came between, so what was sent is what was applied.
        untold = applied is None and revision == self.revision + 1
        self.revision = max(revision, self.revision)
        same = untold or (isinstance(box.sent, Batch) and box.sent.edits == applied)
        box.accepted = True
        if not same:
            self._reread()

    def _refused(self, error: RioError) -> None:
        box = self._outbox
        if isinstance(box.sent, Batch) and not box.accepted:
            self._give_up(error)
        box.sent = None
        self._send()

    def _called(self, result: Any) -> None:
        entry, self._outbox.sent = self._outbox.sent, None
        if isinstance(entry, Call):
            entry.done(result)
        self._send()

    def _call_failed(self, error: RioError) -> None:
        entry, self._outbox.sent = self._outbox.sent, None
        if isinstance(entry, Call):
            entry.failed(error)
        self._send()

    def _give_up(self, error: RioError) -> None:
        """Take the unanswered edits out of the text, and hand what they had put in to the user."""
        box = self._outbox
        texts = _typed(box.edits())
        behind = [entry for entry in box.waiting if isinstance(entry, Call)]
        box.waiting.clear()
        if isinstance(box.sent, Batch):
            box.accepted = True  # whatever comes for it later is no answer to anything in the text
            box.request = None
        self._reread()
        self._note_dirty()
        for call in behind:
            call.failed(error)
        for view in self.views:
            view.set_aside(texts, error)

    # Events

    def on_event(self, event: Event) -> None:
        """Follow what the core says about this buffer."""
        if isinstance(event, BufferChanged):
            self._on_changed(event)
        elif isinstance(event, BufferSaved):
            self.info.path = event.path
            self._dirty_in_core = event.dirty
            self._note_dirty()
            self._tell("state_changed")

    def _on_changed(self, event: BufferChanged) -> None:
        if event.revision <= self.revision:
            return
        self._dirty_in_core = event.dirty
        edits = [_plain(edit) for edit in event.edits]
        box = self._outbox
        if isinstance(box.sent, Batch) and not box.accepted and event.request == box.request:
            self._accept(event.revision, None if event.reset else edits)
        elif event.reset:
            self._replaced(event.revision)
        else:
            self.revision = event.revision
            try:
                edits = box.carry(edits)
            except OverlapError:
                self._give_up(RioError("stale", "The text was changed where you were typing.", _OUTDATED))
            else:
                for edit in edits:
                    self.lines.apply(edit)
                for view in self.views:
                    view.changed(edits, own=False)
        self._note_dirty()

    def _replaced(self, revision: int) -> None:
        """Follow a change that is too long to be told: over it, no edit can be carried."""
        self.revision = revision
        if self._outbox.edits():
            self._give_up(RioError("stale", "The text was replaced while you were typing.", _OUTDATED))
        else:
            self._reread()

    def update(self, info: BufferResult) -> None:
        """Take over what an op said about the buffer."""
        self.info = info
        self._dirty_in_core = info.dirty
        self._note_dirty()
        self._tell("state_changed")

    def _note_dirty(self) -> None:
        dirty = self._dirty_in_core or any(True for _ in self._outbox.unanswered())
        if dirty != self.dirty:
            self.dirty = dirty
            self._tell("state_changed")

    def _tell(self, what: str) -> None:
        for view in list(self.views):
            getattr(view, what)()


def _plain(edit: Any) -> Edit:
    return Edit(Position(*edit.start), Position(*edit.end), edit.text)


def _typed(edits: Sequence[Edit]) -> list[str]:
    """What edits put in, with text that was typed in one go in one piece."""
    texts: list[str] = []
    place: Position | None = None
    for edit in edits:
        if not edit.text:
            continue
        if edit.start == place and texts:
            texts[-1] += edit.text
        else:
            texts.append(edit.text)
        place = end_of(edit.start, edit.text)
    return texts
