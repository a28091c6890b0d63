"""Finding and replacing in the editor in front. The core searches; the bar asks, and this shows."""

from collections.abc import Callable
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow

from rio_core.protocol import RioError
from rio_core.protocol.ops import Done
from rio_core.protocol.ops.search import FindParams, FindResult, ReplaceAllParams, ReplaceAllResult, StopParams
from rio_gui._ui.document.edits import Edit, Position, end_of
from rio_gui._ui.document.outbox import Selection
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.editor.reading import known_text
from rio_gui._ui.link.link import Link
from rio_gui._ui.text.operations import Change, at, ordered
from rio_gui._ui.window.find_bar import FindBar
from rio_gui._ui.window.find_marks import Marks
from rio_gui._ui.window.tabs import Tabs

_PAUSE: Final = 120  # milliseconds after a key before it is searched for
_BACK: Final = 300
_MARKED: Final = 1_000
_SEARCH: Final = "find"
_TRIES: Final = 20


class Query(NamedTuple):
    """What is looked for."""

    pattern: str
    regex: bool
    case: bool
    word: bool


class Finder(QObject):
    """The find bar's work."""

    failed = Signal(object)
    """Something could not be done; a RioError."""

    def __init__(self, link: Link, tabs: Tabs, window: QMainWindow) -> None:
        super().__init__(window)
        self._link = link
        self._tabs = tabs
        self._marks: Marks | None = None
        self._origin: Selection | None = None
        self._shown: Selection | None = None
        self._replaced: Position | None = None
        self._before = 0
        self._total = 0
        self._more = False
        self._turn = 0
        self._note = ""
        self.bar = FindBar(window)
        window.addToolBarBreak(Qt.ToolBarArea.BottomToolBarArea)
        window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, self.bar)
        self.bar.hide()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE)
        self._pause.timeout.connect(self._search)
        self._looks = False
        self.bar.typed.connect(self._typed)
        self.bar.within_wanted.connect(self._set_within)
        self.bar.next_wanted.connect(self.next)
        self.bar.previous_wanted.connect(self.previous)
        self.bar.replace_wanted.connect(self.replace)
        self.bar.replace_all_wanted.connect(self.replace_all)
        self.bar.stop_wanted.connect(self._stop)
        self.bar.left.connect(self.leave)
        tabs.changed.connect(self._front_changed)

    # The bar

    def ask(self, *, replace: bool) -> None:
        """Show the bar, with what is selected to be found; several selected lines are the range to search."""
        editor = self._attach()
        if editor is None:
            return
        start, end = ordered(editor.selection)
        text = ""
        if start.line == end.line:
            text = known_text(editor.document, start, end) or ""
        elif not self.bar.isVisible():
            self.bar.set_within(on=True)
            self._set_within(True)
        self._origin = editor.selection
        self.bar.ask(text, replace=replace)
        self._typed(looks=False)

    def leave(self) -> None:
        """Back to the text. A caret that only followed the typing of the pattern is put back."""
        self._pause.stop()
        self._turn += 1
        editor, origin = self._tabs.current(), self._origin
        self._detach()
        self.bar.set_within(on=False)
        self.bar.hide()
        if editor is not None:
            if origin is not None and editor.selection != origin:
                editor.queue.run(lambda: editor.select(origin))
            editor.setFocus()

    def _typed(self, *, looks: bool = True) -> None:
        self._looks = looks
        self._note = ""
        self._turn += 1
        if self.query().pattern:
            self._pause.start()
        else:
            self._pause.stop()
            self._show_nothing()

    def query(self) -> Query:
        """What the bar says."""
        bar = self.bar
        return Query(bar.pattern.currentText(), bar.checked("regex"), bar.checked("case"), bar.checked("word"))

    def _set_within(self, on: bool) -> None:  # what the signal carries
        if (editor := self._attach()) is None or self._marks is None:
            return
        start, end = ordered(editor.selection)
        self._marks.within = (start, end) if on and start != end else None
        if on and start == end:
            self.bar.set_within(on=False)
            self.bar.say("Nothing is selected.")
            return
        self._origin = None
        self._typed(looks=False)

    def _attach(self) -> Editor | None:
        editor = self._tabs.current()
        if self._marks is not None and self._marks.editor is not editor:
            self._detach()
        if editor is not None and self._marks is None:
            self._marks = Marks(editor, self)
            self._marks.edited.connect(self._edited)
            editor.verticalScrollBar().valueChanged.connect(self._scrolled)
        return editor

    def _detach(self) -> None:
        if self._marks is not None:
            self._marks.editor.verticalScrollBar().valueChanged.disconnect(self._scrolled)
            self._marks.detach()
            self._marks.deleteLater()
            self._marks = None
            self._origin = None

    def _front_changed(self) -> None:
        if self._marks is None:
            return
        if self._tabs.current() is not self._marks.editor:
            self._detach()
            self.bar.set_within(on=False)
            if self.bar.isVisible() and self._attach() is not None:
                self._typed(looks=False)
        else:
            if self._marks.editor.selection not in (self._origin, self._shown):
                self._origin = None  # one has gone elsewhere: there is nothing to put back
            self._say()

    def _edited(self) -> None:
        self._origin = None  # one has gone on working: there is nothing to put back
        self._note = ""
        if self.bar.isVisible() and self.query().pattern:
            self._looks = False
            self._pause.start()

    def _scrolled(self, _value: int) -> None:
        if self._marks is not None and self._total > len(self._marks.hits) and not self._pause.isActive():
            self._looks = False
            self._pause.start()

    # Asking the core

    def _ask(
        self,
        first: Callable[[Editor], Position | None],
        done: Callable[[Editor, FindResult], None],
        *,
        back: int = _BACK,
        limit: int = _MARKED,
        replacement: str | None = None,
    ) -> None:
        """Search, until the answer is for the text as it is when it comes."""
        editor = self._attach()
        if editor is None or self._marks is None or not self.query().pattern:
            return
        self._turn += 1
        turn, marks, query = self._turn, self._marks, self.query()
        tries = 0

        def is_current() -> bool:
            return turn == self._turn and marks is self._marks

        def failed(error: RioError) -> None:
            if is_current():
                self.bar.set_busy(busy=False)
                self._show_nothing(error.message)
                self.failed.emit(error)

        def send(_settled: object = None) -> None:
            if is_current():
                params = FindParams(
                    editor.document.buffer,
                    *query,
                    first=first(editor),
                    back=back,
                    limit=limit,
                    within=marks.within,
                    replacement=replacement,
                    token=_SEARCH,
                )
                self._link.call("search.buffer", params, take, failed)

        def take(result: FindResult) -> None:
            nonlocal tries
            if not is_current():
                return
            tries += 1
            document = editor.document
            if (result.revision != document.revision or not document.settled) and tries < _TRIES:
                document.when_settled(send, failed)
                return
            self.bar.set_busy(busy=False)
            self._take(result, marks, marked=replacement is None)
            done(editor, result)

        self.bar.set_busy(busy=True)
        editor.document.when_settled(send, failed)

    def _take(self, result: FindResult, marks: Marks, *, marked: bool) -> None:
        self._total, self._more = result.total, result.more
        if marked:
            self._before = result.before
            if self.bar.isVisible():
                marks.show_hits(_hits(result))
            else:
                marks.hits = _hits(result)
        self._say()

    def _stop(self) -> None:
        self._turn += 1
        self._link.call("search.stop", StopParams(_SEARCH), _nothing, self.failed.emit)
        self.bar.set_busy(busy=False)
        self._show_nothing("The search was stopped.")

    # Showing

    def _show_nothing(self, note: str = "") -> None:
        self._before = self._total = 0
        if self._marks is not None:
            self._marks.show_hits(())
        self._note = note
        self._say()

    def _say(self) -> None:
        if not self.query().pattern:
            self.bar.say("")
            return
        if self._note:
            self.bar.say(self._note)
            return
        total = f"over {self._total}" if self._more else str(self._total)
        if self._marks is not None and self._total:
            selection = ordered(self._marks.editor.selection)
            for index, hit in enumerate(self._marks.hits):
                if hit == selection:
                    self.bar.say(f"{self._before + index + 1} of {total}")
                    return
        self.bar.say("No match" if not self._total else f"{total} match{'' if self._total == 1 else 'es'}")

    # Searching while one types

    def _search(self) -> None:
        if self._looks:
            self._ask(lambda editor: ordered(self._origin or editor.selection)[0], self._look)
        else:
            self._ask(lambda editor: Position(editor.place.line, 0), lambda _editor, _result: None)

    def _look(self, editor: Editor, result: FindResult) -> None:
        """Show the first hit from where the search began."""
        origin = self._origin = self._origin or editor.selection
        later = [hit for hit in _hits(result) if hit[0] >= ordered(origin)[0]]
        if later:
            self._select(editor, later[0])
        elif result.total:
            self._ask(lambda _: None, lambda editor, result: self._select(editor, _hits(result)[0]), back=0)
        else:
            editor.queue.run(lambda: editor.select(origin))

    def _select(self, editor: Editor, hit: Selection) -> None:
        self._shown, self._replaced = hit, None
        editor.queue.run(lambda: editor.select(hit))
        self._say()

    # Commands

    def next(self) -> None:
        """Go to the next hit; behind the last one, to the first."""
        self._go(forward=True, wrap=True)

    def previous(self) -> None:
        """Go to the hit before; before the first one, to the last."""
        self._go(forward=False, wrap=True)

    def _go(self, *, forward: bool, wrap: bool) -> None:
        if not self.query().pattern:
            self.ask(replace=False)
            return
        self._pause.stop()
        self._note = ""
        self.bar.pattern.remember()

        def first(editor: Editor) -> Position:
            return ordered(editor.selection)[1 if forward else 0]

        def come(editor: Editor, result: FindResult) -> None:
            self._origin = None
            here = first(editor)
            if forward:
                hits = [hit for hit in _hits(result) if hit[0] >= here and hit != (here, here)]
            else:
                hits = [hit for hit in _hits(result) if hit[0] < here]
            if hits:
                self._select(editor, hits[0 if forward else -1])
            elif result.total and wrap:
                self._around(forward=forward)
            elif result.total:
                self._note = "No more to the end"
                self._say()

        self._ask(first, come)

    def _around(self, *, forward: bool) -> None:
        def come(editor: Editor, result: FindResult) -> None:
            if hits := _hits(result):
                self._select(editor, hits[0 if forward else -1])

        self._ask(lambda _: None, come, back=0 if forward else _MARKED, limit=_MARKED if forward else 0)

    def replace(self) -> None:
        """Replace the hit that is selected and go to the next; when none is selected, go to one."""
        self.bar.replacement.remember()
        self._note = ""

        def first(editor: Editor) -> Position:
            return ordered(editor.selection)[0]

        def come(editor: Editor, result: FindResult) -> None:
            hits = _hits(result)
            is_new = bool(hits) and hits[0] != (self._replaced, self._replaced)
            if not (is_new and result.texts and hits[0] == ordered(editor.selection)):
                self._go(forward=True, wrap=True)
                return
            (start, end), text = hits[0], result.texts[0]
            change = Change([Edit(start, end, text)], at(end_of(start, text)))

            def put() -> None:
                editor.apply(change)
                self._replaced = change.selection[1]
                self._go(forward=True, wrap=False)

            editor.queue.run(put)

        self._ask(first, come, back=0, limit=1, replacement=self.bar.replacement.currentText())

    def replace_all(self) -> None:
        """Replace every hit, in the whole text or in the range, as one step of undo."""
        editor, query = self._attach(), self.query()
        if editor is None or self._marks is None or not query.pattern:
            return
        if editor.document.info.read_only:
            self.failed.emit(RioError("read_only", "This file is read-only.", "Save it under another name first."))
            return
        self._pause.stop()
        self._turn += 1
        turn, marks = self._turn, self._marks
        self.bar.pattern.remember()
        self.bar.replacement.remember()

        def failed(error: RioError) -> None:
            if turn == self._turn:
                self.bar.set_busy(busy=False)
            if error.kind != "conflict":
                self._note = error.message
                self.failed.emit(error)
                self._say()

        def done(result: ReplaceAllResult) -> None:
            self.bar.set_busy(busy=False)
            self._note = f"{result.count} replaced"
            if marks.within is not None and result.within is not None:
                start, end = result.within
                marks.within = Position(*start), Position(*end)
            self._say()

        def send(_settled: object) -> None:
            params = ReplaceAllParams(
                editor.document.buffer,
                editor.document.revision,
                query.pattern,
                self.bar.replacement.currentText(),
                *query[1:],
                within=marks.within,
                selection=editor.selection,
                token=_SEARCH,
            )
            self._link.call("search.replace_all", params, done, failed)

        self.bar.set_busy(busy=True)
        editor.document.when_settled(send, failed)


def _hits(result: FindResult) -> list[Selection]:
    return [(Position(*start), Position(*end)) for start, end in result.hits]


def _nothing(_done: Done) -> None:
    """What is stopped says so itself."""
