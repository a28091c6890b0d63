"""What can be done to the files of the project from the tree: make, rename, delete, find the one in front."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMainWindow

from rio_core.protocol import RioError, visible_line
from rio_core.protocol.ops.project import CreateParams, PathParams, RenameParams
from rio_gui._ui.link.link import Link
from rio_gui._ui.window.tabs import Tabs
from rio_gui._ui.window.tree import FileTree


class ProjectFiles(QObject):
    """The commands of the Project menu. Each acts on the entry that is chosen in the tree."""

    def __init__(self, window: QMainWindow, link: Link, tree: FileTree, tabs: Tabs) -> None:
        super().__init__(window)
        self._window = window
        self._link = link
        self._tree = tree
        self._tabs = tabs

    def do_project_new_file(self) -> None:
        """Make an empty file, and open it."""
        folder = self._tree.folder()

        def make(name: str) -> None:
            path = _below(folder, name)
            params = CreateParams(path, "file")
            self._link.call("fs.create", params, lambda _: self._tabs.open(path), self._failed)

        self._ask("New File", f"&Name of the new file in {_shown(folder)}:", "&Make", "", make)

    def do_project_new_folder(self) -> None:
        """Make a folder."""
        folder = self._tree.folder()

        def make(name: str) -> None:
            path = _below(folder, name)
            done = self._tree.reveal
            self._link.call("fs.create", CreateParams(path, "folder"), lambda _: done(path), self._failed)

        self._ask("New Folder", f"&Name of the new folder in {_shown(folder)}:", "&Make", "", make)

    def do_project_rename(self) -> None:
        """Give an entry another name; an open file goes on under it."""
        if not (path := self._tree.path()):
            return
        folder, _, old = path.rpartition("/")

        def rename(name: str) -> None:
            if name != old:
                to = _below(folder, name)
                done = self._tree.reveal
                self._link.call("fs.rename", RenameParams(path, to), lambda _: done(to), self._failed)

        self._ask("Rename", f"&New name of {visible_line(old)}:", "&Rename", old, rename)

    def do_project_delete(self) -> None:
        """Delete an entry, when its user has said so."""
        if not (path := self._tree.path()):
            return
        what = RioError("conflict", f"Delete {visible_line(path)} from the disk?", "This cannot be undone.")
        if self._tabs.confirm(what, "&Delete"):
            self._link.call("fs.delete", PathParams(path), lambda _: None, self._failed)

    def do_project_reveal(self) -> None:
        """Show the file in front in the tree."""
        editor = self._tabs.current()
        path = editor.document.info.path if editor is not None else None
        if path is not None and not path.startswith("/"):
            self._tree.reveal(path)
            self._tree.setFocus()
        else:
            self._failed(RioError("not_found", "The file in front is not in the project.", ""))

    def _ask(self, title: str, label: str, verb: str, name: str, done: Callable[[str], None]) -> None:
        from rio_gui._ui.window.name_dialog import NameDialog

        dialog = NameDialog(title, label, verb, name, self._window)
        dialog.chosen.connect(done)
        dialog.open()

    def _failed(self, error: RioError) -> None:
        self._tabs.failed.emit(error)


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _shown(folder: str) -> str:
    return visible_line(folder) if folder else "the project"
