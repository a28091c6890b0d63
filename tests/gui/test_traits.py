"""Manners of good desktop software, checked on the widgets themselves: menus, keys, access letters, dialogs."""

import re

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMessageBox,
    QTreeWidget,
)

from gui.harness import wait
from gui.windows import key, new_window, opened, shut
from rio_core.protocol import RioError
from rio_gui._ui.window.commands import COMMANDS, TOOLBAR
from rio_gui._ui.window.go_to_line import GoToLine
from rio_gui._ui.window.keys_help import KeysHelp
from rio_gui._ui.window.name_dialog import NameDialog
from rio_gui._ui.window.open_files import FileList
from rio_gui._ui.window.quick_open import FileNames, QuickOpen

ASKING = re.compile(r"\.\.\.$")


@pytest.fixture
def window(core, tmp_path):
    window = new_window(core)
    project = tmp_path / "project"
    project.mkdir()
    for number in range(11):
        (project / f"{number}&x.txt").write_text("text\n")
    window.open_project(str(project))
    wait(lambda: window.tree.topLevelItemCount() == 11, "the project")
    yield window
    shut(window)


def menus(window):
    found = []

    def walk(menu):
        menu.aboutToShow.emit()
        found.append(menu)
        for action in menu.actions():
            if action.menu() is not None:
                walk(action.menu())

    for top in window.menuBar().actions():
        walk(top.menu())
    return found


def letter(text):
    found = re.findall(r"&([^&])", text.replace("&&", ""))
    assert len(found) == 1, f"{text!r} has {len(found)} access letters"
    return found[0].lower()


def test_every_command_is_in_the_menus(window):
    shown = {action.objectName() for menu in menus(window) for action in menu.actions()}
    assert {command.name for command in COMMANDS} - shown == set()


def test_access_letters_are_unique_in_every_menu_with_files_open_and_recent(window, tmp_path):
    for number in range(11):
        opened(window, tmp_path / "project" / f"{number}&x.txt")
    tops = [letter(action.text()) for action in window.menuBar().actions()]
    assert len(set(tops)) == len(tops)
    for menu in menus(window):
        actions = [a for a in menu.actions() if not a.isSeparator() and (a.isEnabled() or "&" in a.text())]
        letters = [letter(action.text()) for action in actions]
        assert len(set(letters)) == len(letters), (menu.title(), letters)


def test_no_key_takes_an_access_letter_or_what_altgr_types(window):
    bound = {}
    for command in COMMANDS:
        for sequence in window.actions_[command.name].shortcuts():
            keys = sequence[0]
            modifiers, printable = keys.keyboardModifiers(), 0x20 <= keys.key() < 0x1000000
            if modifiers & Qt.KeyboardModifier.AltModifier:
                assert not printable, command.name
            if printable:
                assert modifiers & Qt.KeyboardModifier.ControlModifier, command.name
            text = sequence.toString()
            assert text not in bound, (command.name, bound[text])
            bound[text] = command.name
    assert bound[QKeySequence("Ctrl+S").toString()] == "file.save"


def test_the_menus_show_the_keys_that_work(window):
    for command in COMMANDS:
        action = window.actions_[command.name]
        assert action.isShortcutVisibleInContextMenu() or action.shortcut().isEmpty()
        assert action.statusTip()
        if any(command.name in group for group in TOOLBAR):
            assert action.shortcut().toString(QKeySequence.SequenceFormat.NativeText) in action.toolTip()


def test_the_window_menu_numbers_the_open_files_stars_what_is_not_saved_and_has_a_list_of_all(window, tmp_path):
    for number in range(11):
        opened(window, tmp_path / "project" / f"{number}&x.txt")
    QTest.keyClicks(window.tabs.editors()[1], "x")
    menu = window.actions_.menus["window"]
    menu.aboutToShow.emit()
    texts = [action.text() for action in menu.actions() if re.match(r"&\d", action.text())]
    assert texts[:3] == ["&1 0&&x.txt", "&2 1&&x.txt *", "&3 2&&x.txt"]
    assert len(texts) == 9
    next(action for action in menu.actions() if action.text() == texts[2]).trigger()
    assert window.tabs.currentIndex() == 2
    window._run_named("window.files")
    dialog = window.findChild(FileList)
    assert dialog._list.count() == 11
    dialog._list.setCurrentRow(10)
    key(dialog._list, "Return")
    assert window.tabs.currentIndex() == 10


def dialogs(window):
    yield GoToLine(window)
    yield NameDialog("Rename", "&New name:", "&Rename", "a.txt", window)
    yield FileList(window.tabs, window)
    yield KeysHelp(window.actions_, COMMANDS, window)
    yield QuickOpen(FileNames(window._link, window), window)


def test_every_dialog_has_access_letters_verbs_and_a_harmless_escape(window):
    for dialog in dialogs(window):
        name = type(dialog).__name__
        dialog.show()
        letters = []
        for label in dialog.findChildren(QLabel):
            if label.isVisible() and label.text():
                assert label.buddy() is not None, (name, label.text())
                letters.append(letter(label.text()))
        for button in dialog.findChildren(QAbstractButton):
            if button.isVisible() and button.text():
                assert button.text().replace("&", "") not in ("OK", "Yes", "No"), name
                letters.append(letter(button.text()))
        assert letters
        assert len(set(letters)) == len(letters), (name, letters)
        for field in [*dialog.findChildren(QLineEdit), *dialog.findChildren(QListWidget)]:
            if field.focusPolicy() & Qt.FocusPolicy.TabFocus:
                labelled = any(label.buddy() is field for label in dialog.findChildren(QLabel))
                assert labelled or field.accessibleName(), name
        results = []
        dialog.finished.connect(results.append)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert results == [QDialog.DialogCode.Rejected], name
        dialog.deleteLater()
    QApplication.processEvents()


def test_the_keys_page_lists_every_command_with_the_key_that_works(window):
    window._run_named("help.keys")
    dialog = window.findChild(KeysHelp)
    table = dialog.findChild(QTreeWidget)
    rows = [[table.topLevelItem(n).text(column) for column in range(3)] for n in range(table.topLevelItemCount())]
    assert len(rows) == len(COMMANDS)
    assert ["File", "Save As", "Ctrl+Shift+S"] in rows
    dialog.close()


def test_questions_have_verbs_and_neither_enter_nor_escape_loses_text(window, tmp_path):
    editor = opened(window, tmp_path / "project" / "1&x.txt")
    QTest.keyClicks(editor, "x")
    looked = []

    def look():
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(20, look)
            return
        texts = [button.text() for button in box.buttons()]
        letters = [letter(text) for text in texts]
        assert len(set(letters)) == len(letters)
        assert not {text.replace("&", "") for text in texts} & {"OK", "Yes", "No"}
        losing = [b for b in box.buttons() if box.buttonRole(b) == QMessageBox.ButtonRole.DestructiveRole]
        assert box.defaultButton() not in losing
        assert box.escapeButton() not in losing
        looked.append(texts)
        QTest.keyClick(box, Qt.Key.Key_Escape)

    QTimer.singleShot(20, look)
    key(editor, "Ctrl+F4")
    wait(lambda: looked, "the question")
    assert window.tabs.count() == 1
    assert editor.document.dirty
    QTimer.singleShot(20, look)
    assert not window.tabs.confirm(RioError("dirty", "It is so.", "Do it."), "&Discard")
    assert len(looked) == 2


def test_an_empty_window_closes(core, qapp):
    window = new_window(core)
    window.close()
    assert not window.isVisible()
    window.deleteLater()


def test_a_window_told_to_close_while_a_file_closes_does_so_without_a_complaint(core, qapp, tmp_path):
    window = new_window(core)
    (tmp_path / "a.txt").write_text("a")
    editor = opened(window, tmp_path / "a.txt")
    complaints = []
    window.tabs.failed.connect(complaints.append)
    window.tabs.close_editor(editor)
    window.close()
    wait(lambda: not window.isVisible(), "the end")
    assert not complaints
    window.deleteLater()


def test_opening_an_open_file_brings_its_one_tab_forward(window, tmp_path):
    path = tmp_path / "project" / "1&x.txt"
    opened(window, path)
    opened(window, tmp_path / "project" / "2&x.txt")
    opened(window, tmp_path / "project" / ".." / "project" / "1&x.txt")
    assert window.tabs.count() == 2
    assert window.tabs.currentIndex() == 0


def test_go_to_line_stays_open_while_one_types(window, tmp_path):
    editor = opened(window, tmp_path / "project" / "1&x.txt")
    key(editor, "Ctrl+G")
    dialog = window.findChild(GoToLine)
    assert not dialog.isModal()
    QTest.keyClicks(editor, "typed ")
    wait(lambda: editor.document.lines.get(0).text == "typed text", "what was typed")
    assert dialog.isVisible()
    buttons = dialog.findChild(QDialogButtonBox).buttons()
    assert {button.text() for button in buttons} == {"&Go", "&Close"}


def test_three_dots_stand_where_a_command_asks_for_something(window, tmp_path):
    opened(window, tmp_path / "project" / "1&x.txt")
    asking = {command.name for command in COMMANDS if ASKING.search(command.title)}
    for name in ("project.new_file", "project.new_folder", "window.files", "file.quick_open", "search.go_to_line"):
        assert name in asking
        window._run_named(name)
        dialogs = [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]
        assert dialogs, name
        for dialog in dialogs:
            dialog.close()
        QApplication.processEvents()
    for name in ("help.about", "help.keys", "file.save", "file.reload", "project.delete", "file.quit"):
        assert name not in asking


def test_files_of_one_name_are_told_apart_by_their_folders(window, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / "project" / folder).mkdir()
        (tmp_path / "project" / folder / "same.txt").write_text(folder)
        opened(window, tmp_path / "project" / folder / "same.txt")
        wait(lambda: window.tabs.current().document.lines.get(0), "its text")
    wait(lambda: window.tabs.count() == 2, "the tabs")
    assert [window.tabs.tabText(n) for n in range(2)] == ["same.txt (one)", "same.txt (two)"]
    key(window.tabs.current(), "Ctrl+F4")
    wait(lambda: window.tabs.count() == 1, "the end of one")
    assert window.tabs.tabText(0) == "same.txt"
