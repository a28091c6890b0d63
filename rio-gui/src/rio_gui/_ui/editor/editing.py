"""Editing commands on a view: each is a method, called by name from keys, menus and plugins."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QClipboard, QFont, QGuiApplication
from PySide6.QtWidgets import QWidget

from rio_core.protocol import RioError
from rio_core.protocol.ops.buffer import UndoResult
from rio_gui._ui.document.document import Core, Document
from rio_gui._ui.document.edits import START, Edit, Position, Span
from rio_gui._ui.document.outbox import Selection
from rio_gui._ui.editor.command_queue import CommandQueue
from rio_gui._ui.editor.layouts import Style
from rio_gui._ui.editor.motions import MOTIONS, VERTICAL
from rio_gui._ui.editor.reading import Reading, known_text
from rio_gui._ui.editor.view import TextView
from rio_gui._ui.text import operations as ops
from rio_gui._ui.text.brackets import partner
from rio_gui._ui.text.columns import from_units
from rio_gui._ui.text.comments import line_comment
from rio_gui._ui.text.indentation import Indent, detect
from rio_gui._ui.text.operations import Change, at, ordered
from rio_gui._ui.text.words import word_at

PASTED: Final = 4 * 1024 * 1024
"""Code points that one paste may have."""

_PRIMARY: Final = 1_000_000  # a larger selection is not offered to the middle button
_SIZES: Final = (4.0, 72.0)
_ENDS: Final = {"lf": "\n", "crlf": "\r\n", "cr": "\r", "mixed": "\n"}


class EditingView(TextView):
    """A view with a caret that commands work on."""

    moved = Signal()
    """The selection or the caret is another."""
    mode_changed = Signal()
    """Overwriting, indentation, wrapping or zoom is another."""
    state_changed_ = Signal()
    """The document's path, encoding, dirtiness or the like is another."""
    failed = Signal(object)
    """A command could not be done; a RioError."""
    refused = Signal(list, object)
    """Typed text was taken out of the document again: the texts, and the RioError that says why."""

    def __init__(self, core: Core, document: Document, font: QFont, parent: QWidget | None = None) -> None:
        self.goal: float | None = None
        self._core = core
        self._own = False
        self._undoing = False
        self._reading: Reading | None = None
        self._size = font.pointSizeF()
        self._detected = False
        self.indent = Indent()
        super().__init__(document, Style(font, self.indent.tab), parent)
        self.queue = CommandQueue(document, self.failed.emit)

    @property
    def wraps(self) -> bool:
        """Whether lines are wrapped."""
        return self._wraps

    # Running

    def do(self, name: str) -> None:
        """Run the command of this name, after those that wait."""
        self.queue.run(getattr(self, f"do_{name}"))

    def apply(self, change: Change) -> None:
        """Make a change, and show where it was made."""
        if change.edits and self.document.info.read_only:
            raise RioError("read_only", "This file is read-only.", "Save it under another name to change it.")
        self._own = True
        before = self.selection
        try:
            self.document.edit(change.edits, group=change.group, selection=before)
        finally:
            self._own = False
        self.select(change.selection)

    def select(self, selection: Selection, *, keep_goal: bool = False, centred: bool = False) -> None:
        """Put the selection somewhere, and show its caret. Raises MissingLinesError, with nothing done."""
        if not keep_goal:
            self.goal = None
        old, self.selection = self.selection, selection
        try:
            self.reveal(selection[1], centred=centred)
        finally:
            self._repaint_selection(old)
        self._after_move()

    def _repaint_selection(self, old: Selection) -> None:
        if old == self.selection:
            self.update_line(old[1].line)
        elif old[0] == old[1] and self.selection[0] == self.selection[1]:
            self.update_line(old[1].line)
            self.update_line(self.selection[1].line)
        else:
            self.viewport().update()

    def _after_move(self) -> None:
        self._find_brackets()
        self.moved.emit()

    def page_rows(self) -> int:
        """Rows of a page; one row of the old page stays in view."""
        return max(1, self.viewport().height() // self.layouts.row_height - 1)

    # What the document says

    def changed(self, edits: Sequence[Edit], *, own: bool) -> None:
        if own and self._own:
            self._update_edited(edits)
            return
        super().changed(edits, own=own)
        if self._undoing and not own:
            place = Span.of(edits[-1]).new_end if edits else self.selection[1]
            self.selection = at(place)
        self._after_move()

    def arrived(self) -> None:
        super().arrived()
        if not self._detected and self.document.lines.get(0) is not None:
            self._detected = True
            self._detect_indent()
        self.queue.go_on()

    def state_changed(self) -> None:
        self.state_changed_.emit()

    def set_aside(self, texts: Sequence[str], error: RioError) -> None:
        self.refused.emit(list(texts), error)

    def _detect_indent(self) -> None:
        known = (self.document.lines.get(number) for number in range(min(1_000, self.document.total)))
        self.indent = detect((line.text for line in known if line is not None), self.indent)
        self.mode_changed.emit()

    # Moving

    def move_caret(self, motion: str, *, extend: bool = False) -> None:
        """Move the caret; with `extend` the selection grows or shrinks."""
        self.queue.run(lambda: self._move(motion, extend=extend))

    def _move(self, motion: str, *, extend: bool) -> None:
        anchor, caret = self.selection
        if not extend and anchor != caret and motion in ("left", "right"):
            place = min(anchor, caret) if motion == "left" else max(anchor, caret)
        else:
            place = MOTIONS[motion](self, caret)
        self.document.line(place.line)
        self.select((anchor if extend else place, place), keep_goal=motion in VERTICAL)

    def go_to(self, line: int, column: int = 0) -> None:
        """Put the caret at a line and column from 0, or as near as the text has it, in the middle of the view."""

        def go() -> None:
            number = min(max(line, 0), self.document.total - 1)
            place = Position(number, min(max(column, 0), self.document.length(number)))
            self.select(at(place), centred=True)

        self.queue.run(go)

    def put_back(self, anchor: Position, caret: Position, top: Position) -> None:
        """Select what was selected before, as far as it is there, with `top` at the top: a line, and pixels of it."""

        def put() -> None:
            for place in (anchor, caret):
                self.document.line(min(place.line, self.document.total - 1))
            self.select((self._inside(anchor), self._inside(caret)))
            self.place.jump(min(top.line, self.document.total - 1), top.column)
            self.scroll_pixels(0)

        self.queue.run(put)

    def do_select_all(self) -> None:
        """Select the whole text."""
        end = self.document.end()
        old, self.selection = self.selection, (START, end)
        self._repaint_selection(old)
        self._after_move()

    def do_select_word(self) -> None:
        """Select the word at the caret."""
        caret = self.selection[1]
        text, first = self.document.around(caret)
        start, end = word_at(text, caret.column - first)
        self.select((Position(caret.line, first + start), Position(caret.line, first + end)))

    def do_select_line(self) -> None:
        """Select the caret's line with its end."""
        self.select(self.line_range(self.selection[1].line))

    def line_range(self, number: int) -> Selection:
        """A line with its end."""
        if number + 1 < self.document.total:
            return Position(number, 0), Position(number + 1, 0)
        return Position(number, 0), Position(number, self.document.length(number))

    def do_to_bracket(self) -> None:
        """Go to the matching bracket."""
        if len(self.brackets) == 2:
            here, there = self.brackets
            self.select(at(Position(there.line, there.column + (there > here))))

    def do_escape(self) -> None:
        """Select nothing."""
        self.select(at(self.selection[1]))

    def do_scroll_up(self) -> None:
        """Scroll by a row; the caret stays."""
        self.scroll_pixels(-self.layouts.row_height)

    def do_scroll_down(self) -> None:
        """Scroll by a row; the caret stays."""
        self.scroll_pixels(self.layouts.row_height)

    def _find_brackets(self) -> None:
        caret = self.selection[1]
        found: tuple[Position, ...] = ()
        if self.selection[0] == caret:
            for place in (caret, Position(caret.line, caret.column - 1)):
                if (other := partner(self._known_line, place)) is not None:
                    found = place, other
                    break
        if found != self.brackets:
            for bracket in {*self.brackets, *found}:
                self.update_line(bracket.line)
            self.brackets = found

    def _known_line(self, number: int) -> str | None:
        line = self.document.lines.get(number)
        return line.text if line is not None and line.whole else None

    # Typing and removing

    @property
    def end_of_line(self) -> str:
        """What a new line ends with."""
        return _ENDS[self.document.info.line_ending]

    def type_text(self, text: str) -> None:
        """Type a text at the caret."""

        def type_() -> None:
            if self.overwrite:
                self.apply(ops.overwrite(self.document, self.selection, text))
            else:
                self.document.line(self.selection[1].line)
                self.apply(ops.insert(self.selection, text, typing=True))

        self.queue.run(type_)

    def insert_text(self, text: str) -> None:
        """Put a text, of any line ends, in the place of the selection, as one step."""
        if len(text) > PASTED:
            self.failed.emit(
                RioError("unsupported", "The text is too long to be pasted.", "Save it to a file and open that.")
            )
            return
        plain = from_units(text).replace("\r\n", "\n").replace("\r", "\n").replace("\n", self.end_of_line)

        def put() -> None:
            self.document.line(max(self.selection).line)
            self.apply(ops.insert(self.selection, plain))

        self.queue.run(put)

    def do_newline(self) -> None:
        """Begin a new line."""
        self.apply(ops.newline(self.document, self.selection, self.indent, self.end_of_line))

    def do_backspace(self) -> None:
        """Remove the selection or the character before the caret."""
        self.apply(ops.backspace(self.document, self.selection, self.indent))

    def do_delete(self) -> None:
        """Remove the selection or the character behind the caret."""
        self.apply(ops.delete(self.document, self.selection))

    def do_delete_word_left(self) -> None:
        """Remove to the start of the word."""
        self._remove_to("word_left")

    def do_delete_word_right(self) -> None:
        """Remove to the start of the next word."""
        self._remove_to("word_right")

    def _remove_to(self, motion: str) -> None:
        anchor, caret = self.selection
        other = MOTIONS[motion](self, caret) if anchor == caret else anchor
        self.apply(ops.delete(self.document, (caret, other)) if other != caret else Change([], at(caret)))

    def do_tab(self) -> None:
        """Indent the selected lines, or go to the next level."""
        self.apply(ops.tab(self.document, self.selection, self.indent))

    def do_indent(self) -> None:
        """Indent the lines of the selection."""
        self.apply(ops.indent_lines(self.document, self.selection, self.indent))

    def do_outdent(self) -> None:
        """Take one level away from the lines of the selection."""
        self.apply(ops.outdent_lines(self.document, self.selection, self.indent))

    def do_duplicate(self) -> None:
        """The lines of the selection once more."""
        self.apply(ops.duplicate(self.document, self.selection, self.end_of_line))

    def do_delete_lines(self) -> None:
        """Remove the lines of the selection."""
        self.apply(ops.delete_lines(self.document, self.selection))

    def do_move_lines_up(self) -> None:
        """Let the lines of the selection go up by one."""
        self.apply(ops.move_lines(self.document, self.selection, down=False, end_of_line=self.end_of_line))

    def do_move_lines_down(self) -> None:
        """Let the lines of the selection go down by one."""
        self.apply(ops.move_lines(self.document, self.selection, down=True, end_of_line=self.end_of_line))

    def do_join_lines(self) -> None:
        """Make one line of two."""
        self.apply(ops.join_lines(self.document, self.selection))

    def do_toggle_comment(self) -> None:
        """Make comments of the lines of the selection, or of comments lines."""
        sign = line_comment(self.document.info.path)
        if sign is None:
            raise RioError("unsupported", "How a comment begins in this file is not known.", "Give it a known ending.")
        self.apply(ops.toggle_comment(self.document, self.selection, sign))

    # Undo

    def do_undo(self) -> None:
        """Take the last step back."""
        self._step("buffer.undo")

    def do_redo(self) -> None:
        """Make the last step that was taken back again."""
        self._step("buffer.redo")

    def _step(self, op: str) -> None:
        self._undoing = True

        def done(result: UndoResult) -> None:
            self._undoing = False
            if result.changed and result.revision == self.document.revision and self.document.settled:
                selection = result.selection
                if selection is not None:
                    anchor, caret = (Position(*place) for place in selection)
                    self.queue.run(lambda: self.select((anchor, caret)))
                else:
                    self.queue.run(lambda: self.select(self.selection))

        def failed(error: RioError) -> None:
            self._undoing = False
            self.failed.emit(error)

        self.document.call(op, done, failed)

    # Clipboard

    def with_selected_text(self, use: Callable[[str], None]) -> None:
        """Read the selected text, at once where it is known, and do something with it."""
        start, end = ordered(self.selection)
        if self._reading is not None:
            self._reading.cancel()
        known = known_text(self.document, start, end)
        if known is not None:
            use(known)
        else:
            self._reading = Reading(self._core, self.document, start, end, use, self.failed.emit)

    def do_copy(self) -> None:
        """Put the selected text on the clipboard."""
        if self.selection[0] != self.selection[1]:
            self.with_selected_text(lambda text: QGuiApplication.clipboard().setText(text))

    def do_cut(self) -> None:
        """Put the selected text on the clipboard and remove it."""
        start, end = ordered(self.selection)
        if start == end:
            return
        text = known_text(self.document, start, end)
        if text is not None:
            QGuiApplication.clipboard().setText(text)
            self.apply(ops.delete(self.document, self.selection))
            return

        def cut(read: str) -> None:
            QGuiApplication.clipboard().setText(read)
            if ordered(self.selection) == (start, end):
                self.do("delete")

        self.with_selected_text(cut)

    def do_paste(self) -> None:
        """Put the text on the clipboard in the place of the selection."""
        self._paste_from(QGuiApplication.clipboard().mimeData())

    def _paste_from(self, data: QMimeData | None) -> None:
        if data is not None and data.hasText():
            self.insert_text(data.text())

    def offer_selection(self) -> None:
        """Give the selected text to the middle mouse button of every window (X11's primary selection)."""
        clipboard = QGuiApplication.clipboard()
        start, end = ordered(self.selection)
        if start != end and clipboard.supportsSelection():
            text = known_text(self.document, start, end)
            if text is not None and len(text) <= _PRIMARY:
                clipboard.setText(text, QClipboard.Mode.Selection)

    # Modes

    def do_toggle_overwrite(self) -> None:
        """Typed text goes over what is there, or between."""
        self.overwrite = not self.overwrite
        self.update_line(self.selection[1].line)
        self.mode_changed.emit()

    def do_toggle_wrap(self) -> None:
        """Wrap lines at the view's width, or not."""
        self.set_style(self.style_._replace(wrap=None if self._wraps else 0.0))
        self.mode_changed.emit()

    def do_toggle_blanks(self) -> None:
        """Show spaces and tabs, or not."""
        self.set_style(self.style_._replace(blanks=not self.style_.blanks))
        self.mode_changed.emit()

    def do_zoom_in(self) -> None:
        """Larger text."""
        self.zoom_to(self.style_.font.pointSizeF() + 1)

    def do_zoom_out(self) -> None:
        """Smaller text."""
        self.zoom_to(self.style_.font.pointSizeF() - 1)

    def do_zoom_reset(self) -> None:
        """Text of the size that is set."""
        self.zoom_to(self._size)

    def zoom_to(self, size: float) -> None:
        """Text of a size in points."""
        font = QFont(self.style_.font)
        font.setPointSizeF(min(max(size, _SIZES[0]), _SIZES[1]))
        self.set_style(self.style_._replace(font=font))
        self.mode_changed.emit()
