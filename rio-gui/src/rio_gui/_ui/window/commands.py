"""Every command of the window, as data: menus, toolbar, keys and help are made from it."""

import tomllib
from pathlib import Path
from typing import Final, Literal, NamedTuple

Needs = Literal["nothing", "document", "project"]

MENUS: Final = {
    "file": "&File",
    "edit": "&Edit",
    "search": "&Search",
    "view": "&View",
    "project": "&Project",
    "window": "&Window",
    "help": "&Help",
}
"""The menu bar, by the first part of a command's name."""


class Command(NamedTuple):
    """One command. `name` is menu and method; `title` has its access letter behind `&`.

    Three dots at the end of a title say that the command asks for something before it acts. `group` numbers the
    stretches of a menu between lines.
    """

    name: str
    title: str
    tip: str
    group: int = 0
    needs: Needs = "document"
    icon: str = ""
    checkable: bool = False

    @property
    def menu(self) -> str:
        """The menu it is in."""
        return self.name.partition(".")[0]

    @property
    def verb(self) -> str:
        """What it does, without its menu."""
        return self.name.partition(".")[2]

    @property
    def label(self) -> str:
        """The title without its access letter."""
        return self.title.replace("&", "")


COMMANDS: Final = (
    Command("file.new", "&New", "Begin a file", 0, "nothing", "new"),
    Command("file.open", "&Open...", "Open a file", 0, "nothing", "open"),
    Command("file.open_project", "Open Pro&ject...", "Open a folder in a window of its own", 0, "nothing"),
    Command("file.quick_open", "&Quick Open...", "Open a file of the project by a part of its name", 0, "project"),
    Command("file.save", "&Save", "Write the file", 1, icon="save"),
    Command("file.save_as", "Save &As...", "Write the file under another name", 1),
    Command("file.reload", "&Reload", "Read the file again", 1),
    Command("file.close", "&Close", "Close the file", 2),
    Command("file.quit", "E&xit", "Close the window", 3, "nothing"),
    Command("edit.undo", "&Undo", "Take the last step back", 0, icon="undo"),
    Command("edit.redo", "&Redo", "Make the last step again", 0, icon="redo"),
    Command("edit.cut", "Cu&t", "Put the selection on the clipboard and remove it", 1, icon="cut"),
    Command("edit.copy", "&Copy", "Put the selection on the clipboard", 1, icon="copy"),
    Command("edit.paste", "&Paste", "Put in what is on the clipboard", 1, icon="paste"),
    Command("edit.select_all", "Select &All", "Select the whole text", 1),
    Command("edit.duplicate", "&Duplicate Lines", "The lines once more", 2),
    Command("edit.delete_lines", "D&elete Lines", "Remove the lines", 2),
    Command("edit.move_lines_up", "Move Line&s Up", "Let the lines go up by one", 2),
    Command("edit.move_lines_down", "Move Lines Dow&n", "Let the lines go down by one", 2),
    Command("edit.join_lines", "&Join Lines", "Make one line of this and the next", 2),
    Command("edit.indent", "&Indent", "Indent the lines by one level", 3),
    Command("edit.outdent", "&Outdent", "Take one level of indentation away", 3),
    Command("edit.toggle_comment", "Toggle Co&mment", "Make comments of the lines, or of comments lines", 3),
    Command("search.find", "&Find...", "Find in the text", 0),
    Command("search.find_next", "Find &Next", "Go to the next place that was found", 0),
    Command("search.find_previous", "Find &Previous", "Go to the place before that was found", 0),
    Command("search.replace", "&Replace...", "Replace in the text", 0),
    Command("search.find_in_files", "Find &in Files...", "Find in the files of the project", 1, "project"),
    Command("search.next_hit", "Ne&xt Hit", "Open the next hit in files", 1, "project"),
    Command("search.previous_hit", "Previous &Hit", "Open the hit in files before", 1, "project"),
    Command("search.go_to_line", "&Go to Line...", "Go to a line and column", 2),
    Command("search.to_bracket", "Matching &Bracket", "Go to the bracket that belongs to the one at the caret", 2),
    Command("view.toggle_wrap", "&Wrap Lines", "Wrap lines at the width of the window", 0, checkable=True),
    Command("view.toggle_blanks", "Show &Blanks", "Show spaces and tabs", 0, checkable=True),
    Command("view.zoom_in", "Zoom &In", "Larger text", 1),
    Command("view.zoom_out", "Zoom &Out", "Smaller text", 1),
    Command("view.zoom_reset", "&Normal Size", "Text of the size that is set", 1),
    Command("view.project_tree", "&Project", "Go to the files of the project", 2, "nothing"),
    Command("view.toolbar", "&Toolbar", "Show the toolbar or hide it", 2, "nothing", checkable=True),
    Command("project.new_file", "New &File...", "Make an empty file in the folder that is chosen", 0, "project"),
    Command("project.new_folder", "New F&older...", "Make a folder in the folder that is chosen", 0, "project"),
    Command("project.rename", "&Rename...", "Give the file or folder that is chosen another name", 1, "project"),
    Command("project.delete", "&Delete", "Delete the file or empty folder that is chosen", 1, "project"),
    Command("project.reveal", "Re&veal Active File", "Choose the file in front in the tree", 2, "project"),
    Command("window.next", "&Next", "The file of the next tab", 0),
    Command("window.previous", "&Previous", "The file of the tab before", 0),
    Command("window.files", "&Files...", "Choose among all open files", 0),
    Command("help.keys", "&Keys", "Every command with its key", 0, "nothing"),
    Command("help.about", "&About", "Version, plugins and folders", 1, "nothing"),
)

TOOLBAR: Final = (
    ("file.new", "file.open", "file.save"),
    ("edit.cut", "edit.copy", "edit.paste"),
    ("edit.undo", "edit.redo"),
)
"""What is on the toolbar, in groups."""


def default_keys() -> dict[str, str]:
    """The keys that rio comes with, by the name of the command."""
    with Path(__file__).with_name("keys.toml").open("rb") as file:
        return tomllib.load(file)
