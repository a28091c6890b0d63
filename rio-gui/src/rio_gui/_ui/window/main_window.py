"""The main window: menus, toolbar, docks, tabs, status bar, and what the commands do."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCloseEvent, QFont, QKeyEvent
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QMenu, QPushButton, QToolBar, QWidget

from rio_core.protocol import RioError, visible_line
from rio_core.protocol.ops.project import OpenParams, OpenResult
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.link.link import Link
from rio_gui._ui.window.actions import Actions
from rio_gui._ui.window.commands import COMMANDS, Command, default_keys
from rio_gui._ui.window.find_commands import FindCommands
from rio_gui._ui.window.memory import Memory
from rio_gui._ui.window.open_files import OpenFiles
from rio_gui._ui.window.panes import Panes
from rio_gui._ui.window.project_files import ProjectFiles
from rio_gui._ui.window.tabs import Tabs
from rio_gui._ui.window.tree import FileTree

if TYPE_CHECKING:
    from rio_gui._ui.window.go_to_line import GoToLine
    from rio_gui._ui.window.quick_open import FileNames

_MESSAGE_TIME = 10_000
_SILENT = RioError(
    "internal",
    "The core is not answering.",
    "What is not saved would be lost. Wait, or close the window all the same.",
)


class MainWindow(QMainWindow):
    """A window on one core."""

    def __init__(self, link: Link, font: QFont) -> None:
        super().__init__()
        self._link = link
        self._closing = False
        self._project: str | None = None
        self._go_to: GoToLine | None = None
        self.setObjectName("rio")
        self.resize(1000, 700)
        self.keys = default_keys()
        self.tabs = Tabs(link, font, self)
        self.setCentralWidget(self.tabs)
        self.actions_ = Actions(self, self.keys, self.run)
        self.panes = Panes(self.statusBar())
        self.tree = FileTree(link)
        self._dock = QDockWidget("Project", self)
        self._dock.setObjectName("project")
        self._dock.setWidget(self.tree)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._dock)
        self._dock.hide()
        self.tree.chosen.connect(self.tabs.open)
        self.tree.commanded.connect(self._run_named)
        self.tree.menu_wanted.connect(self._tree_menu)
        self._files = ProjectFiles(self, link, self.tree, self.tabs)
        self.finding = FindCommands(self, link, self.tabs)
        self.finding.failed.connect(self._say)
        OpenFiles(self.actions_.menus["window"], self.tabs)
        self.memory = Memory(self, link, self.tabs)
        self.memory.project_chosen.connect(self._open_project)
        self.memory.recent.add_menus(self.actions_.menus["file"], self.actions_["file.save"])
        self._names: FileNames | None = None
        self._notice = self._make_notice()
        self.tabs.changed.connect(self._show_state)
        self.tabs.failed.connect(self._say)
        self.tabs.refused.connect(self._hand_back)
        self.tabs.menu_wanted.connect(self._context_menu)
        self.panes["position"].activated.connect(lambda: self._run_named("search.go_to_line"))
        self.panes["encoding"].activated.connect(self._choose_encoding)
        self.panes["line_end"].activated.connect(self._choose_line_end)
        self.panes["mode"].activated.connect(lambda: self._in_editor("toggle_overwrite"))
        link.lost.connect(self._lost)
        link.answering.connect(self._answering)
        self.actions_["view.toolbar"].setChecked(True)
        self.actions_.toolbar.toggleViewAction().toggled.connect(self.actions_["view.toolbar"].setChecked)
        self.actions_.enable("project", enabled=False)
        self._show_state()

    def _make_notice(self) -> QToolBar:
        bar = QToolBar("Notice", self)
        bar.setObjectName("notice")
        bar.setMovable(False)
        self._notice_text = QLabel()
        self._notice_text.setWordWrap(True)
        self._notice_text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._notice_text.setTextFormat(Qt.TextFormat.PlainText)
        bar.addWidget(self._notice_text)
        hide = QPushButton("&Hide")
        hide.setFlat(True)
        hide.clicked.connect(bar.hide)
        bar.addWidget(hide)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)
        bar.hide()
        return bar

    # Opening

    def open_project(self, path: str, *, front: bool = True) -> None:
        """Serve a folder, show its files, and restore its session; with `front`, also which file was in front."""

        def opened(result: OpenResult) -> None:
            self._project = result.root
            self.actions_.enable("project", enabled=True)
            self._dock.show()
            self.tree.show_project()
            self.memory.begin(result.root, front=front)
            self._show_state()

        self._link.call("project.open", OpenParams(path), opened, self._say)

    # Commands

    def run(self, command: Command) -> None:
        """Do a command: here, or in the editor in front."""
        if (method := self.method(command)) is not None:
            method()
        else:
            self._in_editor(command.verb)

    def method(self, command: Command) -> Callable[[], None] | None:
        """What does a command, if it is not the editor in front."""
        name = f"do_{command.menu}_{command.verb}"
        methods = (getattr(part, name, None) for part in (self, self._files, self.finding))
        return next((method for method in methods if method is not None), None)

    def _run_named(self, name: str) -> None:
        self.run(next(command for command in COMMANDS if command.name == name))

    def _in_editor(self, verb: str) -> None:
        if (editor := self.tabs.current()) is not None:
            editor.do(verb)

    def _choose_encoding(self) -> None:
        from rio_gui._ui.window.text_form import encoding_menu

        if (editor := self.tabs.current()) is not None:
            self._pop_up(encoding_menu(editor.document, self._say, self), self.panes["encoding"])

    def _choose_line_end(self) -> None:
        from rio_gui._ui.window.text_form import line_end_menu

        if (editor := self.tabs.current()) is not None:
            self._pop_up(line_end_menu(editor.document, self._say, self), self.panes["line_end"])

    def _pop_up(self, menu: QMenu, pane: QWidget) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(pane.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _context_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        editor = self.tabs.current()
        selected = editor is not None and editor.selection[0] != editor.selection[1]
        names = ("edit.cut", "edit.copy", "edit.paste") if selected else ("edit.paste", "edit.select_all")
        menu.addActions([self.actions_[name] for name in names])
        menu.addSeparator()
        menu.addActions([self.actions_[name] for name in ("edit.toggle_comment", "search.to_bracket")])
        menu.popup(place)

    def _tree_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.actions_[name] for name in ("project.new_file", "project.new_folder")])
        if self.tree.path():
            menu.addSeparator()
            menu.addActions([self.actions_[name] for name in ("project.rename", "project.delete")])
        menu.popup(place)

    def do_file_new(self) -> None:
        """Begin a file."""
        self.tabs.new()

    def do_file_open(self) -> None:
        """Ask for files and open them."""
        from PySide6.QtWidgets import QFileDialog

        paths, _ = QFileDialog.getOpenFileNames(self, "Open", self._project or "")
        for path in paths:
            self.tabs.open(path)

    def do_file_open_project(self) -> None:
        """Ask for a folder and open it in a window of its own."""
        from PySide6.QtWidgets import QFileDialog

        if path := QFileDialog.getExistingDirectory(self, "Open Project", self._project or ""):
            self._open_project(path)

    def _open_project(self, path: str) -> None:
        """Open a project here if there is nothing here, else in a window of its own."""
        from rio_gui._ui.window.another import open_window

        if self._project is None and not self.tabs.count():
            self.open_project(path)
        else:
            open_window(path)

    def do_file_quick_open(self) -> None:
        """Open a file of the project by a part of its name."""
        from rio_gui._ui.window.quick_open import FileNames, QuickOpen

        if self._names is None:
            self._names = FileNames(self._link, self)
        dialog = QuickOpen(self._names, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self.tabs.open)
        dialog.show()

    def do_file_save(self) -> None:
        """Write the file in front."""
        if (editor := self.tabs.current()) is not None:
            self.tabs.save(editor, lambda: self.statusBar().showMessage(f"{self.tabs.name(editor)} saved", 3_000))

    def do_file_save_as(self) -> None:
        """Write the file in front under another name."""
        if (editor := self.tabs.current()) is not None:
            self.tabs.save_as(editor)

    def do_file_reload(self) -> None:
        """Read the file in front again."""
        if (editor := self.tabs.current()) is not None:
            self.tabs.reload(editor)

    def do_file_close(self) -> None:
        """Close the file in front."""
        if (editor := self.tabs.current()) is not None:
            self.tabs.close_editor(editor)

    def do_file_quit(self) -> None:
        """Close the window."""
        self.close()

    def do_search_go_to_line(self) -> None:
        """Ask for a line, and go on editing meanwhile."""
        if self._go_to is None:
            from rio_gui._ui.window.go_to_line import GoToLine

            self._go_to = GoToLine(self)
            self._go_to.chosen.connect(self._go)
        self._go_to.ask()

    def _go(self, line: int, column: int) -> None:
        if (editor := self.tabs.current()) is not None:
            editor.go_to(line, column)
            editor.setFocus()

    def do_view_project_tree(self) -> None:
        """Go to the files of the project."""
        self._dock.show()
        self.tree.setFocus()

    def do_view_toolbar(self) -> None:
        """Show the toolbar or hide it."""
        self.actions_.toolbar.setVisible(self.actions_["view.toolbar"].isChecked())

    def do_window_files(self) -> None:
        """Choose among the open files."""
        from rio_gui._ui.window.open_files import FileList

        FileList(self.tabs, self).open()

    def do_window_next(self) -> None:
        """The next tab."""
        self._turn(1)

    def do_window_previous(self) -> None:
        """The tab before."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        if count := self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + by) % count)
            if (editor := self.tabs.current()) is not None:
                editor.setFocus()

    def do_help_keys(self) -> None:
        """Every command with its key."""
        from rio_gui._ui.window.keys_help import KeysHelp

        KeysHelp(self.actions_, COMMANDS, self).show()

    def do_help_about(self) -> None:
        """What this is."""
        from importlib.metadata import version

        self._tell("About rio", f"rio {version('rio-gui')}\nrio-core {version('rio-core')}\n\nMIT licence")

    def _tell(self, title: str, text: str) -> None:
        from PySide6.QtWidgets import QMessageBox

        box = QMessageBox(QMessageBox.Icon.NoIcon, title, text, parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.addButton("&Close", QMessageBox.ButtonRole.RejectRole)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # What is shown

    def _show_state(self) -> None:
        editor = self.tabs.current()
        self.panes.show_editor(editor)
        self.actions_.enable("document", enabled=editor is not None)
        self.setWindowTitle(self._title(editor))
        self.setWindowModified(editor is not None and editor.document.dirty)
        if editor is not None:
            self.actions_["view.toggle_wrap"].setChecked(editor.wraps)
            self.actions_["view.toggle_blanks"].setChecked(editor.style_.blanks)

    def _title(self, editor: Editor | None) -> str:
        project = visible_line(self._project.rpartition("/")[2]) if self._project else ""
        name = f"{self.tabs.name(editor)}[*]" if editor is not None else ""
        return " - ".join(part for part in (name, project, "rio") if part)

    def _say(self, error: RioError) -> None:
        self.statusBar().showMessage(f"{error.message} {error.action}", _MESSAGE_TIME)

    def _hand_back(self, texts: Sequence[str], error: RioError) -> None:
        typed = " ".join(visible_line(text) for text in texts)
        shown = typed if len(typed) <= 2_000 else f"{typed[:2_000]}... ({len(typed)} characters)"
        self._show_notice(f"{error.message} What you typed there was taken out and is here: {shown}")

    def _show_notice(self, text: str) -> None:
        self._notice_text.setText(text)
        self._notice.show()

    def _answering(self, answers: bool) -> None:  # what the signal carries
        if answers:
            self._notice.hide()
        else:
            self._show_notice("The core is not answering. You can go on typing; it gets everything when it does.")

    def _lost(self, reason: str) -> None:
        last = reason.strip().splitlines()[-1:] or [""]
        self._show_notice(
            "The core has ended, and what was not saved with it. What is in view can still be copied. Start rio again."
            f" {visible_line(last[0])}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        # Qt does this on Windows only.
        if event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            bar = self.menuBar()
            bar.setActiveAction(bar.actions()[0])
        elif event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            if (editor := self.tabs.current()) is not None and editor.hasFocus():
                editor.ask_for_menu()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802  Qt's name
        if self._closing or not self._link.alive or not self.tabs.count():
            self.memory.close()
            self._link.close()
            event.accept()
            return
        if self._link.silent:
            if self.tabs.confirm(_SILENT, "Close &Anyway"):
                self.memory.close()
                self._link.abandon()
                event.accept()
            else:
                event.ignore()
            return
        event.ignore()
        self.memory.about_to_close()
        self.tabs.close_all(self._close_now)

    def _close_now(self) -> None:
        self._closing = True
        self.close()

    def restoreState(self, state: Any, version: int | None = 0) -> bool:  # noqa: N802  Qt's name
        """Put docks and toolbars back; a notice is of its day only."""
        shown = not self._notice.isHidden()
        done = super().restoreState(state, version)
        self._notice.setVisible(shown)
        return done

    def createPopupMenu(self) -> Any:  # noqa: N802  Qt's name
        """No menu of its own on the toolbars: what they show and hide is in the View menu."""
        return None
