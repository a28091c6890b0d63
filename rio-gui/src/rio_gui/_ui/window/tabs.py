"""The open files, one tab each: opening, saving, closing, and what the core says about them."""

from collections.abc import Callable
from pathlib import PurePath

from PySide6.QtCore import QPoint, QUrl, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QTabWidget, QWidget

from rio_core.protocol import Event, RioError, visible_line
from rio_core.protocol.events import BufferChanged, BufferClosed, FsChanged
from rio_core.protocol.ops import Nothing
from rio_core.protocol.ops.buffer import (
    BufferResult,
    CloseParams,
    ListResult,
    NewParams,
    OpenParams,
    ReloadParams,
    SaveAsParams,
    SaveParams,
)
from rio_gui._ui.document.document import Document
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.link.link import Link

Opened = Callable[[Editor], None]
Failed = Callable[[RioError], None]


def _nothing(*_: object) -> None:
    """After an op that nothing waits for."""


class Tabs(QTabWidget):
    """The editors of a window."""

    changed = Signal()
    """Another file is in front, or something about the one in front is different."""
    failed = Signal(object)
    """Something could not be done; a RioError."""
    menu_wanted = Signal(QPoint)
    """The context menu of the editor in front is wanted, at a place of the screen."""
    refused = Signal(list, object)
    """Typed text was taken out again; the texts, and a RioError."""
    opened = Signal(str)
    """A file was opened by its user, or saved under a name; its path as the core has it."""
    closed = Signal(str)
    """A file was closed; the name of its buffer."""
    kept = Signal()
    """A file was not closed or saved, as its user said so."""

    def __init__(self, link: Link, font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._font = font
        self._editors: dict[str, Editor] = {}
        self._intended: dict[str, str] = {}
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setTabsClosable(True)
        self.setUsesScrollButtons(True)
        self.currentChanged.connect(lambda _: self._front_changed())
        self.tabCloseRequested.connect(lambda index: self.close_editor(self._editor_at(index)))
        link.happened.connect(self._happened)

    # Looking

    def current(self) -> Editor | None:
        """The editor in front."""
        widget = self.currentWidget()
        return widget if isinstance(widget, Editor) else None

    def editors(self) -> list[Editor]:
        """All of them, in the order of the tabs."""
        return [self._editor_at(index) for index in range(self.count())]

    def _editor_at(self, index: int) -> Editor:
        widget = self.widget(index)
        if not isinstance(widget, Editor):
            raise IndexError(index)
        return widget

    def name(self, editor: Editor) -> str:
        """What a file is called in the window: its name, with its folder where another one has that name too."""
        path = self._path(editor)
        if not path:
            return "Untitled"
        name = PurePath(path).name
        alike = sum(PurePath(self._path(other)).name == name for other in self._editors.values())
        folder = PurePath(path).parent.name or "."
        return visible_line(f"{name} ({folder})" if alike > 1 else name)

    def _path(self, editor: Editor) -> str:
        return editor.document.info.path or self._intended.get(editor.document.buffer, "")

    # Opening

    def new(
        self, path: str | None = None, text: str = "", then: Opened = _nothing, failed: Failed | None = None
    ) -> None:
        """Begin a file with a text, which is to have this path when it is saved."""

        def made(info: BufferResult) -> None:
            if path is not None:
                self._intended[info.buffer] = path
            then(self._show(info))

        self._link.call("buffer.new", NewParams(text), made, failed or self.failed.emit)

    def open(
        self,
        path: str,
        line: int | None = None,
        column: int = 0,
        then: Opened = _nothing,
        failed: Failed | None = None,
    ) -> None:
        """Open a file, or bring its tab forward; with the caret at a line and column from 0. A missing one is begun."""

        def opened(info: BufferResult) -> None:
            editor = self._show(info)
            if line is not None:
                editor.go_to(line, column)
            if info.path is not None:
                self.opened.emit(info.path)
            then(editor)

        def refused(error: RioError) -> None:
            if error.kind == "not_found":
                self.new(path, "", then, failed)
            else:
                (failed or self.failed.emit)(error)

        self._link.call("buffer.open", OpenParams(path), opened, refused)

    def open_again(self, path: str, then: Opened, failed: Failed) -> None:
        """Open a file behind the others, where it is still there."""
        self._link.call("buffer.open", OpenParams(path), lambda info: then(self._add(info)), failed)

    def bring_forward(self, editor: Editor) -> None:
        """Let a file be in front, and take keys."""
        self.setCurrentWidget(editor)
        editor.setFocus()

    def _open_dropped(self, urls: list[QUrl]) -> None:
        for url in urls:
            if url.isLocalFile():
                self.open(url.toLocalFile())

    def _show(self, info: BufferResult) -> Editor:
        editor = self._add(info)
        self.bring_forward(editor)
        return editor

    def _add(self, info: BufferResult) -> Editor:
        editor = self._editors.get(info.buffer)
        if editor is None:
            editor = Editor(self._link, Document(self._link, info), self._font, self)
            self._editors[info.buffer] = editor
            editor.moved.connect(self._front_changed)
            editor.mode_changed.connect(self._front_changed)
            editor.state_changed_.connect(lambda at=editor: self._retitle(at))
            editor.failed.connect(self.failed)
            editor.refused.connect(self.refused)
            editor.menu_wanted.connect(self.menu_wanted)
            editor.files_dropped.connect(self._open_dropped)
            self.addTab(editor, "")
            self._retitle_all()
        return editor

    # Saving

    def save(self, editor: Editor, then: Callable[[], None] = _nothing) -> None:
        """Write a file, asking for its name when it has none, and for the user's word over a change by others.

        Like everything here that acts on a file, it comes after the keys that were typed before.
        """
        editor.queue.run(lambda: self._save(editor, then))

    def _save(self, editor: Editor, then: Callable[[], None]) -> None:
        document = editor.document
        if document.info.path is None:
            self._save_as(editor, then)
            return

        def failed(error: RioError) -> None:
            if error.kind in ("changed_on_disk", "read_only") and self.confirm(error, "&Overwrite"):
                force()
            elif error.kind not in ("changed_on_disk", "read_only"):
                self.failed.emit(error)

        def force() -> None:
            params = SaveParams(document.buffer, force=True)
            document.call("buffer.save", lambda _: then(), self.failed.emit, params)

        document.call("buffer.save", lambda _: then(), failed, SaveParams(document.buffer))

    def save_as(self, editor: Editor, then: Callable[[], None] = _nothing) -> None:
        """Write a file under a name that is asked for."""
        editor.queue.run(lambda: self._save_as(editor, then))

    def _save_as(self, editor: Editor, then: Callable[[], None]) -> None:
        document = editor.document
        start = document.info.path or self._intended.get(document.buffer, "")
        if document.info.path is None and start:
            path = start  # it was named when it was begun
        else:
            from PySide6.QtWidgets import QFileDialog

            path, _ = QFileDialog.getSaveFileName(self, "Save As", start)
        if not path:
            self.kept.emit()
            return

        def saved(info: BufferResult) -> None:
            self._intended.pop(document.buffer, None)
            document.update(info)
            self._retitle_all()
            if info.path is not None:
                self.opened.emit(info.path)
            then()

        # The dialog has asked about an existing file.
        params = SaveAsParams(document.buffer, path, force=document.buffer not in self._intended)
        document.call("buffer.save_as", saved, self.failed.emit, params)

    def reload(self, editor: Editor) -> None:
        """Read a file again, over unsaved text only with the user's word."""
        document = editor.document

        def failed(error: RioError) -> None:
            if error.kind != "dirty":
                self.failed.emit(error)
            elif self.confirm(error, "&Discard"):
                params = ReloadParams(document.buffer, discard=True)
                document.call("buffer.reload", document.update, self.failed.emit, params)

        document.call("buffer.reload", document.update, failed, ReloadParams(document.buffer))

    def confirm(self, error: RioError, verb: str) -> bool:
        """Say what stands in the way, and ask whether to do it all the same. Enter and Esc do not."""
        from PySide6.QtWidgets import QMessageBox

        box = QMessageBox(QMessageBox.Icon.Warning, "rio", error.message, parent=self)
        box.setInformativeText(error.action)
        go = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton("&Cancel", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(cancel)
        box.setEscapeButton(cancel)
        box.exec()
        return box.clickedButton() is go

    # Closing

    def close_editor(self, editor: Editor, then: Callable[[], None] = _nothing) -> None:
        """Close a file; what is not saved is asked about first. `then` follows only when it is closed."""
        editor.queue.run(lambda: self._close_asking(editor, then))

    def _close_asking(self, editor: Editor, then: Callable[[], None]) -> None:
        if editor.document.dirty:
            self.setCurrentWidget(editor)
            answer = self._ask_to_save(editor)
            if answer == "cancel":
                self.kept.emit()
                return
            if answer == "save":
                self._save(editor, lambda: self._close(editor, then, discard=False))
                return
        self._close(editor, then, discard=True)

    def close_all(self, then: Callable[[], None]) -> None:
        """Close every file, one after the other."""
        if self.count():
            self.close_editor(self._editor_at(self.count() - 1), lambda: self.close_all(then))
        else:
            then()

    def _ask_to_save(self, editor: Editor) -> str:
        from PySide6.QtWidgets import QMessageBox

        box = QMessageBox(QMessageBox.Icon.Warning, "rio", f"{self.name(editor)} has changes that are not saved.")
        box.setParent(self, box.windowFlags())
        box.setInformativeText("Save them before it is closed?")
        save = box.addButton("&Save", QMessageBox.ButtonRole.AcceptRole)
        discard = box.addButton("&Don't Save", QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton("&Cancel", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(save)
        box.setEscapeButton(cancel)
        box.exec()
        return "save" if box.clickedButton() is save else "discard" if box.clickedButton() is discard else "cancel"

    def _close(self, editor: Editor, then: Callable[[], None], *, discard: bool) -> None:
        document = editor.document

        def closed(_result: object) -> None:
            self._remove(document.buffer)
            then()

        def failed(error: RioError) -> None:
            if document.buffer in self._editors:
                self.failed.emit(error)
            else:
                then()  # it was told to close twice

        document.call("buffer.close", closed, failed, CloseParams(document.buffer, discard=discard))

    def _remove(self, buffer: str) -> None:
        self._intended.pop(buffer, None)
        editor = self._editors.pop(buffer, None)
        if editor is not None:
            self.removeTab(self.indexOf(editor))
            editor.deleteLater()
            self._retitle_all()
            self.closed.emit(buffer)

    # Following

    def _happened(self, event: Event) -> None:
        if isinstance(event, FsChanged):
            # What was renamed goes on under its new name.
            self._link.call("buffer.list", Nothing(), self._take_names, self.failed.emit)
        editor = self._editors.get(getattr(event, "buffer", ""))
        if editor is None:
            return
        if isinstance(event, BufferClosed):
            self._remove(event.buffer)
        else:
            editor.document.on_event(event)
            if isinstance(event, BufferChanged) and event.origin not in ("client", "agent"):
                # Undo and reload can bring another encoding or other line ends back, of which the event says nothing.
                self._link.call("buffer.list", Nothing(), self._take_list, self.failed.emit)

    def _take_list(self, result: ListResult) -> None:
        for info in result.buffers:
            editor = self._editors.get(info.buffer)
            if editor is not None and editor.document.settled and editor.document.revision == info.revision:
                editor.document.update(info)

    def _take_names(self, result: ListResult) -> None:
        for info in result.buffers:
            editor = self._editors.get(info.buffer)
            if editor is not None and editor.document.info.path != info.path:
                editor.document.info.path = info.path
                self._retitle_all()

    def _retitle_all(self) -> None:
        for editor in self.editors():
            self._retitle(editor)

    def _retitle(self, editor: Editor) -> None:
        index = self.indexOf(editor)
        if index < 0:
            return
        name = self.name(editor)
        # An ampersand in a name is no access letter.
        self.setTabText(index, name.replace("&", "&&") + (" *" if editor.document.dirty else ""))
        self.setTabToolTip(index, visible_line(editor.document.info.path or name))
        if editor is self.currentWidget():
            self._front_changed()

    def _front_changed(self) -> None:
        self.changed.emit()
