"""The tree: making, renaming, deleting and finding files, by keyboard."""

import pytest
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from gui.harness import wait
from gui.windows import key, new_window, opened, press, shut
from rio_gui._ui.window.name_dialog import NameDialog


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "sub/deep").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "sub/deep/b.txt").write_text("b\n")
    return folder


@pytest.fixture
def window(core, project):
    window = new_window(core)
    window.open_project(str(project))
    wait(lambda: window.tree.topLevelItemCount() == 2, "the tree")
    yield window
    shut(window)


def answer(window, text, label):
    wait(lambda: isinstance(QApplication.activeModalWidget(), NameDialog), "the question")
    dialog = QApplication.activeModalWidget()
    assert dialog.findChild(QLabel).text().replace("&", "") == label
    dialog._line.setText(text)
    key(dialog._line, "Return")


def choose(window, path):
    window.tree.reveal(path)
    wait(lambda: window.tree.path() == path, "the entry")


def test_a_file_is_made_in_the_chosen_folder_and_opened(window, project):
    choose(window, "sub/deep/b.txt")
    window._run_named("project.new_file")
    answer(window, "new.py", "Name of the new file in sub/deep:")
    wait(lambda: window.tabs.count() == 1, "its tab")
    assert (project / "sub/deep/new.py").read_bytes() == b""
    choose(window, "sub/deep/new.py")
    assert window.tree._find("sub").isExpanded()


def test_a_folder_is_made_and_chosen(window, project):
    window.tree.setCurrentItem(None)
    window._run_named("project.new_folder")
    answer(window, "x", "Name of the new folder in the project:")
    wait(lambda: window.tree.path() == "x", "the folder")
    assert (project / "x").is_dir()


def test_a_name_that_is_taken_is_refused_with_a_word(window, project):
    window.tree.setCurrentItem(None)
    window._run_named("project.new_file")
    answer(window, "a.txt", "Name of the new file in the project:")
    wait(window.statusBar().currentMessage, "the refusal")
    assert (project / "a.txt").read_text() == "a\n"


def test_an_open_file_follows_when_it_is_renamed(window, project):
    editor = opened(window, project / "sub/deep/b.txt")
    QTest.keyClicks(editor, "typed ")
    choose(window, "sub/deep/b.txt")
    key(window.tree, "F2")
    answer(window, "c.txt", "New name of b.txt:")
    wait(lambda: window.tabs.tabText(0) == "c.txt *", "its title")
    wait(lambda: window.tree.path() == "sub/deep/c.txt", "the tree")
    key(editor, "Ctrl+S")
    wait(lambda: (project / "sub/deep/c.txt").read_text() == "typed b\n", "the save")
    assert not (project / "sub/deep/b.txt").exists()


def test_the_files_in_a_renamed_folder_follow(window, project):
    editor = opened(window, project / "sub/deep/b.txt")
    choose(window, "sub")
    key(window.tree, "F2")
    answer(window, "other", "New name of sub:")
    wait(lambda: editor.document.info.path == "other/deep/b.txt", "the path")


def test_a_file_is_deleted_only_with_its_users_word(window, project):
    choose(window, "a.txt")
    seen = []
    press("Cancel", seen)
    key(window.tree, "Del")
    assert (project / "a.txt").exists()
    press("Delete", seen)
    key(window.tree, "Del")
    wait(lambda: window.tree.topLevelItemCount() == 1, "the tree without it")
    assert not (project / "a.txt").exists()
    assert seen == ["Delete a.txt from the disk?"] * 2


def test_a_folder_that_holds_something_is_not_deleted(window, project):
    choose(window, "sub")
    press("Delete", [])
    key(window.tree, "Del")
    wait(window.statusBar().currentMessage, "the refusal")
    assert (project / "sub/deep/b.txt").exists()


def test_the_file_in_front_is_found_in_the_tree(window, project):
    editor = opened(window, project / "sub/deep/b.txt")
    key(editor, "Ctrl+Shift+R")
    wait(lambda: window.tree.path() == "sub/deep/b.txt", "the entry")


def test_what_is_opened_up_stays_so_when_a_folder_is_listed_again(window, project):
    choose(window, "sub/deep/b.txt")
    window.tree._list_again("")
    (project / "z").mkdir()
    window.tree._list_again("")
    wait(lambda: window.tree.topLevelItemCount() == 3, "the new folder")
    assert window.tree._find("sub/deep").isExpanded()
    assert window.tree.path() == "sub/deep/b.txt"


def test_the_context_menu_of_the_tree_opens_from_the_keyboard(window, project):
    choose(window, "a.txt")
    place = window.tree.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, place)
    QApplication.sendEvent(window.tree, event)
    menu = QApplication.activePopupWidget()
    names = {action.objectName() for action in menu.actions()}
    assert {"project.rename", "project.delete", "project.new_file"} <= names
    menu.close()
