"""The commands that find. What they need is made when the first of them is used."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMainWindow

from rio_gui._ui.link.link import Link
from rio_gui._ui.window.tabs import Tabs

if TYPE_CHECKING:
    from rio_gui._ui.window.find import Finder
    from rio_gui._ui.window.find_files import FindInFiles


class FindCommands(QObject):
    """Does the commands of the Search menu that find."""

    failed = Signal(object)
    """Something could not be done; a RioError."""

    def __init__(self, window: QMainWindow, link: Link, tabs: Tabs) -> None:
        super().__init__(window)
        self._window = window
        self._link = link
        self._tabs = tabs
        self._finder: Finder | None = None
        self._files: FindInFiles | None = None

    @property
    def finder(self) -> "Finder":
        """Finds in the editor in front."""
        if self._finder is None:
            from rio_gui._ui.window.find import Finder

            self._finder = Finder(self._link, self._tabs, self._window)
            self._finder.failed.connect(self.failed)
        return self._finder

    @property
    def files(self) -> "FindInFiles":
        """Finds in the files of the project."""
        if self._files is None:
            from rio_gui._ui.window.find_files import FindInFiles

            self._files = FindInFiles(self._link, self._tabs, self._window)
        return self._files

    def do_search_find(self) -> None:
        """Ask what to find in the text."""
        self.finder.ask(replace=False)

    def do_search_replace(self) -> None:
        """Ask what to replace in the text."""
        self.finder.ask(replace=True)

    def do_search_find_next(self) -> None:
        """Go to the next place."""
        self.finder.next()

    def do_search_find_previous(self) -> None:
        """Go to the place before."""
        self.finder.previous()

    def do_search_find_in_files(self) -> None:
        """Ask what to find in the files of the project."""
        self.files.ask()

    def do_search_next_hit(self) -> None:
        """Open the next hit of the list."""
        self.files.step(1)

    def do_search_previous_hit(self) -> None:
        """Open the hit before."""
        self.files.step(-1)
