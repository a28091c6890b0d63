"""The window: commands and their menus, tabs, status panes, tree, quick open, saving and closing."""

import os
import signal

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel

from gui.harness import running_core, wait
from gui.windows import key, new_window, opened, press, shut
from rio_gui._ui.arguments import Target, target
from rio_gui._ui.window.commands import COMMANDS, MENUS, TOOLBAR, default_keys
from rio_gui._ui.window.go_to_line import GoToLine, place
from rio_gui._ui.window.quick_open import FileNames, QuickOpen, best


@pytest.fixture
def window(core, qapp):
    window = new_window(core)
    yield window
    shut(window)


# Commands as data


def test_every_command_is_in_a_menu_with_the_key_that_works(window):
    in_menus = set()
    for top in window.menuBar().actions():
        for action in top.menu().actions():
            in_menus.add(action.objectName())
    assert {command.name for command in COMMANDS} - in_menus == set()
    for command in COMMANDS:
        shown = window.actions_[command.name].shortcut().toString()
        assert shown == default_keys().get(command.name, "")


def test_every_command_has_something_that_does_it(window):
    from rio_gui._ui.editor.editor import Editor

    for command in COMMANDS:
        assert callable(window.method(command) or getattr(Editor, f"do_{command.verb}", None)), command.name
    assert {name for group in TOOLBAR for name in group} <= {command.name for command in COMMANDS}
    assert set(default_keys()) <= {command.name for command in COMMANDS}


def test_access_letters_are_there_and_unique_in_each_menu():
    def letter(title):
        assert title.count("&") == 1, title
        return title[title.index("&") + 1].lower()

    tops = [letter(title) for title in MENUS.values()]
    assert len(set(tops)) == len(tops)
    for menu in MENUS:
        letters = [letter(command.title) for command in COMMANDS if command.menu == menu]
        assert len(set(letters)) == len(letters), menu


def test_no_key_is_bound_twice_or_is_an_access_letter_or_typed():
    keys = list(default_keys().values())
    assert len(set(keys)) == len(keys)
    for name in keys:
        parts = name.split("+")
        assert "Alt" not in parts, name


def test_three_dots_only_where_something_is_asked_for():
    assert {command.name for command in COMMANDS if command.title.endswith("...")} == {
        "file.open", "file.open_project", "file.quick_open", "file.save_as", "search.go_to_line",
        "search.find", "search.replace", "search.find_in_files",
        "project.new_file", "project.new_folder", "project.rename", "window.files",
    }  # fmt: skip


def test_access_letters_in_dialogs_are_unique(window):
    names = FileNames(window._link)
    for dialog in (GoToLine(window), QuickOpen(names, window)):
        texts = [widget.text() for kind in (QLabel, QAbstractButton) for widget in dialog.findChildren(kind)]
        letters = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
        assert letters
        assert len(set(letters)) == len(letters)
        dialog.deleteLater()
    wait(lambda: not names._asked, "the names")


def test_commands_are_dimmed_when_there_is_nothing_for_them(window, tmp_path):
    assert not window.actions_["edit.undo"].isEnabled()
    assert not window.actions_["file.quick_open"].isEnabled()
    (tmp_path / "a").write_text("a")
    opened(window, tmp_path / "a")
    assert window.actions_["edit.undo"].isEnabled()


# Files and tabs


def test_a_person_edits_saves_undoes_and_closes(window, tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\n")
    editor = opened(window, path)
    QTest.keyClicks(editor, "zero")
    assert window.tabs.tabText(0) == "a.py *"
    assert window.isWindowModified()
    key(editor, "Ctrl+S")
    wait(lambda: path.read_text() == "zeroone\n", "the save")
    wait(lambda: window.tabs.tabText(0) == "a.py", "the title")
    key(editor, "Ctrl+Z")
    wait(lambda: editor.document.lines.get(0).text == "one", "the undo")
    seen = []
    press("Cancel", seen)
    key(editor, "Ctrl+F4")
    assert window.tabs.count() == 1
    press("Don't Save", seen)
    key(editor, "Ctrl+F4")
    wait(lambda: window.tabs.count() == 0, "the end")
    assert seen == ["a.py has changes that are not saved."] * 2
    assert path.read_text() == "zeroone\n"


def test_A32_a_file_opened_by_another_name_brings_its_tab_forward(window, tmp_path):
    (tmp_path / "foo").mkdir()
    (tmp_path / "bar").symlink_to("foo")
    (tmp_path / "foo/f").write_text("f\n")
    (tmp_path / "g").write_text("g\n")
    editor = opened(window, tmp_path / "foo/f")
    opened(window, tmp_path / "g")
    window.tabs.open(str(tmp_path / "bar/f"))
    wait(lambda: window.tabs.current() is editor, "its tab")
    assert window.tabs.count() == 2


def test_a_new_file_is_named_when_it_is_begun(window, tmp_path):
    path = tmp_path / "new.txt"
    window.tabs.open(str(path))
    wait(lambda: window.tabs.count() == 1, "the tab")
    editor = window.tabs.current()
    assert window.tabs.tabText(0).startswith("new.txt")
    QTest.keyClicks(editor, "text")
    key(editor, "Ctrl+S")
    wait(path.exists, "the file")
    wait(lambda: window.tabs.tabText(0) == "new.txt", "the title")
    assert path.read_text() == "text"


def test_a_change_on_disk_is_not_overwritten_without_a_word(window, tmp_path):
    path = tmp_path / "a"
    path.write_text("mine\n")
    editor = opened(window, path)
    QTest.keyClicks(editor, "x")
    wait(lambda: editor.document.settled, "the edit")
    path.write_text("theirs, longer\n")
    seen = []
    press("Cancel", seen)
    key(editor, "Ctrl+S")
    wait(lambda: seen, "the question")
    assert path.read_text() == "theirs, longer\n"
    press("Overwrite", seen)
    key(editor, "Ctrl+S")
    wait(lambda: path.read_text() == "xmine\n", "the save")


def test_status_panes_say_what_is_so(window, tmp_path):
    (tmp_path / "a").write_bytes("\tä\r\nb\r\n".encode())
    editor = opened(window, tmp_path / "a", 0, 2)
    wait(lambda: window.panes["position"].text() == "Ln 1, Col 3", "the position")
    assert window.panes["line_end"].text() == "CRLF"
    assert window.panes["encoding"].text() == "UTF-8"
    assert window.panes["mode"].text() == "INS"
    key(editor, "Ins")
    assert window.panes["mode"].text() == "OVR"
    key(editor, "Ctrl+A")
    wait(lambda: window.panes["selection"].text() == "3 lines", "the selection")


def test_encoding_and_line_ends_are_changed_from_their_panes(window, tmp_path):
    path = tmp_path / "a"
    path.write_bytes("ä\r\nb\n".encode())
    editor = opened(window, path)
    assert window.panes["line_end"].text() == "Mixed"
    QTest.mouseDClick(window.panes["line_end"], Qt.MouseButton.LeftButton)
    menu = QApplication.activePopupWidget()
    next(action for action in menu.actions() if "Unix" in action.text()).trigger()
    menu.close()
    wait(lambda: window.panes["line_end"].text() == "LF", "the line ends")
    QTest.mouseDClick(window.panes["encoding"], Qt.MouseButton.LeftButton)
    menu = QApplication.activePopupWidget()
    next(a for a in menu.actions()[0].menu().actions() if "8859-15" in a.text()).trigger()
    menu.close()
    wait(lambda: "8859" in window.panes["encoding"].text(), "the encoding")
    key(editor, "Ctrl+S")
    wait(lambda: path.read_bytes() == b"\xe4\nb\n", "the save")
    key(editor, "Ctrl+Z")
    wait(lambda: window.panes["encoding"].text() == "UTF-8", "the encoding as it was")
    key(editor, "Ctrl+Z")
    wait(lambda: window.panes["line_end"].text() == "Mixed", "the line ends as they were")


def test_the_context_menu_holds_what_fits_and_opens_from_the_keyboard(window, tmp_path):
    (tmp_path / "a").write_text("abc")
    editor = opened(window, tmp_path / "a")
    for selected in (False, True):
        if selected:
            key(editor, "Ctrl+A")
            wait(window.panes["selection"].text, "the selection")
        if selected:
            key(editor, "Shift+F10")
        else:
            event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
            QApplication.sendEvent(editor, event)
        menu = QApplication.activePopupWidget()
        names = {action.objectName() for action in menu.actions()}
        assert ("edit.cut" in names) is selected
        assert "edit.paste" in names
        menu.close()


def test_f10_enters_the_menu_bar_and_escape_leaves_it_for_the_same_caret(window, tmp_path):
    (tmp_path / "a").write_text("abc")
    editor = opened(window, tmp_path / "a", 0, 2)
    wait(lambda: editor.selection[1] == (0, 2), "the caret")
    key(editor, "F10")
    menu = QApplication.activePopupWidget()
    assert menu is window.menuBar().actions()[0].menu()
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    QTest.keyClick(window.menuBar(), Qt.Key.Key_Escape)
    assert window.focusWidget() is editor
    assert editor.selection[1] == (0, 2)


def test_S28_go_to_line_and_the_status_bar_count_alike(window, tmp_path):
    (tmp_path / "a").write_text("\t23456789\n")
    editor = opened(window, tmp_path / "a")
    key(editor, "Ctrl+G")
    dialog = next(d for d in window.findChildren(QDialog) if isinstance(d, GoToLine))
    QTest.keyClicks(dialog._line, "1:5")
    QTest.keyClick(dialog._line, Qt.Key.Key_Return)
    wait(lambda: window.panes["position"].text() == "Ln 1, Col 5", "the place")
    assert editor.selection[1] == (0, 4)


@pytest.mark.parametrize(
    ("text", "expected"), [("7", (6, 0)), ("7:3", (6, 2)), (" 7 , 3 ", (6, 2)), ("0", (0, 0)), ("x", None), ("", None)]
)
def test_places_are_read(text, expected):
    assert place(text) == expected


def test_the_tree_lists_folders_first_and_as_they_are_opened(window, tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/inner.txt").write_text("x")
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "x.log").write_text("")
    window.open_project(str(tmp_path))
    tree = window.tree
    wait(lambda: tree.topLevelItemCount() == 4, "the files")
    names = [tree.topLevelItem(n).text(0) for n in range(4)]
    assert names == ["b", ".gitignore", "a.txt", "x.log"]
    plain, dimmed = tree.topLevelItem(2), tree.topLevelItem(3)
    assert plain.foreground(0).color() != dimmed.foreground(0).color()
    tree.topLevelItem(0).setExpanded(True)
    wait(lambda: tree.topLevelItem(0).childCount() == 1, "what is in it")
    tree.setCurrentItem(tree.topLevelItem(0).child(0))
    key(tree, "Return")
    wait(lambda: window.tabs.count() == 1, "the file")
    assert window.windowTitle().startswith("inner.txt")


def test_quick_open_finds_a_file_among_thousands(window, tmp_path):
    for folder in range(30):
        (tmp_path / f"d{folder}").mkdir()
        for number in range(40):
            (tmp_path / f"d{folder}" / f"file_{number}.py").write_text("")
    (tmp_path / "d7" / "needle_here.py").write_text("found\n")
    window.open_project(str(tmp_path))
    wait(window.actions_["file.quick_open"].isEnabled, "the project")
    key(window, "Ctrl+P")
    dialog = next(d for d in window.findChildren(QDialog) if isinstance(d, QuickOpen))
    QTest.keyClicks(dialog._line, "nedlhere")
    wait(lambda: dialog._list.count() == 1, "the name")
    key(dialog._line, "Return")
    wait(lambda: window.tabs.count() == 1, "the file")
    assert window.tabs.tabText(0) == "needle_here.py"


def test_quick_open_puts_the_better_fit_first():
    paths = ["src/other/main_window.py", "main.py", "src/domain.py", "m/a/i/n"]
    assert best("main", paths)[0] == "main.py"
    assert best("zzz", paths) == []
    assert best("", paths, 2) == best("", paths)[:2]


def test_a_dead_core_is_said_in_the_window(qapp, tmp_path):
    with running_core() as core:
        window = new_window(core)
        (tmp_path / "a").write_text("a\n")
        opened(window, tmp_path / "a")
        os.kill(core.pipe._pid, signal.SIGKILL)
        wait(window._notice.isVisible, "the notice")
        assert "core has ended" in window._notice_text.text()
        window.close()
        window.deleteLater()


def test_a_window_whose_core_hangs_can_be_closed_after_a_word(qapp, tmp_path):
    with running_core(patience=0.2) as core:
        window = new_window(core)
        (tmp_path / "a").write_text("a\n")
        editor = opened(window, tmp_path / "a")
        os.kill(core.pipe._pid, signal.SIGSTOP)
        QTest.keyClicks(editor, "x")
        wait(window._notice.isVisible, "the notice")
        seen = []
        press("Cancel", seen)
        window.close()
        assert window.isVisible()
        press("Close Anyway", seen)
        window.close()
        assert not window.isVisible()
        assert seen == ["The core is not answering."] * 2
        window.deleteLater()


def test_what_is_named_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd:7").write_text("")
    assert target("a.py:12") == Target(str(tmp_path / "a.py"), 11, 0)
    assert target("a.py:12:3") == Target(str(tmp_path / "a.py"), 11, 2)
    assert target("a.py:12:3:") == Target(str(tmp_path / "a.py"), 11, 2)
    assert target("odd:7") == Target(str(tmp_path / "odd:7"))
    assert target(".") == Target(str(tmp_path))
