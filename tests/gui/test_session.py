"""What a window remembers: session, recent files and projects. Damaged files, other windows, closing called off."""

import json
import os
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gui.harness import running_core, wait
from gui.windows import key, new_window, opened, press, shut
from rio_gui._ui.window.state import Slot, StateFile


def state():
    return Path(os.environ["RIO_HOME"]) / "state"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text("".join(f"line {number} of {name}\n" for number in range(300)))
    return folder


def start(link, project, **how):
    window = new_window(link)
    window.open_project(str(project), **how)
    wait(lambda: window.memory._session is not None, "the session")
    return window


def names(window):
    return [window.tabs.tabText(number) for number in range(window.tabs.count())]


def test_a_session_is_restored_as_it_was(qapp, project):
    with running_core() as core:
        window = start(core, project)
        window.resize(733, 511)
        for name in "cab":
            opened(window, project / f"{name}.txt", 200, 3)
        window.tabs.setCurrentIndex(1)
        editor = window.tabs.current()
        wait(lambda: editor.selection[1] == (200, 3), "the caret")
        editor.scroll_pixels(-3 * editor.layouts.row_height)
        top = editor.place.line, editor.place.offset
        shut(window)
    with running_core() as core:
        window = start(core, project)
        wait(lambda: window.tabs.count() == 3, "the tabs")
        assert names(window) == ["c.txt", "a.txt", "b.txt"]
        wait(lambda: window.tabs.currentIndex() == 1, "the tab in front")
        editor = window.tabs.current()
        wait(lambda: editor.selection[1] == (200, 3), "the caret")
        assert (editor.place.line, editor.place.offset) == top
        assert (window.width(), window.height()) == (733, 511)
        assert window.focusWidget() is editor
        shut(window)


def test_a_hidden_toolbar_stays_hidden_and_a_notice_does_not_come_back(qapp, project):
    with running_core() as core:
        window = start(core, project)
        window.actions_["view.toolbar"].trigger()
        window._show_notice("of today")
        shut(window)
    with running_core() as core:
        window = start(core, project)
        assert window.actions_.toolbar.isHidden()
        assert not window.actions_["view.toolbar"].isChecked()
        assert window._notice.isHidden()
        window.actions_["view.toolbar"].trigger()
        assert window.actions_.toolbar.isVisible()
        shut(window)


def test_a_file_named_at_the_start_stays_in_front_of_the_session(qapp, project):
    with running_core() as core:
        window = start(core, project)
        opened(window, project / "a.txt")
        shut(window)
    with running_core() as core:
        window = start(core, project, front=False)
        opened(window, project / "b.txt")
        wait(lambda: window.tabs.count() == 2, "the tabs")
        assert window.tabs.name(window.tabs.current()) == "b.txt"
        shut(window)


@pytest.mark.parametrize("damage", [b"\0" * 36_000, b"", b'{"files": [{"pa', b"[1]", b'{"files": 3, "geometry": 7}'])
def test_A14_a_damaged_session_file_is_kept_aside_and_the_copy_before_is_used(qapp, project, damage):
    with running_core() as core:
        window = start(core, project)
        opened(window, project / "a.txt")
        shut(window)
    (path,) = (state() / "windows").glob("*.json")
    good = path.read_bytes()
    path.with_name(path.name + ".previous").write_bytes(good)
    path.write_bytes(damage)
    told = []
    with running_core() as core:
        window = new_window(core)
        window.tabs.failed.connect(told.append)
        window.open_project(str(project))
        wait(lambda: window.memory._session is not None, "the session")
        if damage.startswith(b'{"files": 3'):
            QApplication.processEvents()
            assert window.tabs.count() == 0
        else:
            wait(lambda: names(window) == ["a.txt"], "the tab")
            assert path.with_name(path.name + ".damaged").read_bytes() == damage
            assert len(told) == 1
        shut(window)
    assert json.loads(path.read_bytes())["files"] is not None


def test_A14_without_a_good_copy_the_window_starts_clean(qapp, project):
    file = StateFile(state() / "windows" / "x.json")
    file.path.parent.mkdir(parents=True)
    file.path.write_bytes(b"\0" * 100)
    assert file.load() == ({}, True)
    assert file.load() == ({}, False)
    file.store({"a": 1})
    assert StateFile(file.path).load() == ({"a": 1}, False)
    again = StateFile(file.path)
    again.store({"a": 2})
    again.store({"a": 3})
    file.path.write_bytes(b"{")
    assert again.load() == ({"a": 1}, True)
    again.store({"a": 4}, last=True)
    assert again.load() == ({"a": 4}, False)
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_A36_two_windows_on_one_project_keep_a_session_each(qapp, project):
    with running_core() as one, running_core() as two:
        first = start(one, project)
        opened(first, project / "a.txt")
        opened(first, project / "b.txt")
        second = start(two, project)
        opened(second, project / "c.txt")
        shut(first)
        shut(second)
    with running_core() as core:
        window = start(core, project)
        wait(lambda: names(window) == ["a.txt", "b.txt"], "the tabs of the first")
        shut(window)


def test_a_slot_is_free_again_when_its_window_is_closed(tmp_path):
    one, two = Slot(tmp_path, "x"), Slot(tmp_path, "x")
    assert one.file.path != two.file.path
    one.release()
    three = Slot(tmp_path, "x")
    assert three.file.path == one.file.path
    two.release()
    three.release()


def test_a_session_survives_a_close_that_is_called_off_and_a_kill(qapp, project):
    with running_core() as core:
        window = start(core, project)
        opened(window, project / "a.txt")
        editor = opened(window, project / "b.txt")
        QTest.keyClicks(editor, "x")
        seen = []
        press("Cancel", seen)
        window.close()
        wait(lambda: seen, "the question")
        assert window.tabs.count() == 2
        path = window.memory._session._slot.file.path
        wait(lambda: path.exists() and len(json.loads(path.read_bytes())["files"]) == 2, "what a kill would leave")
        shut(window)


def test_what_is_gone_is_said_and_left_out(qapp, project):
    with running_core() as core:
        window = start(core, project)
        opened(window, project / "a.txt")
        opened(window, project / "b.txt")
        shut(window)
    (project / "a.txt").unlink()
    with running_core() as core:
        window = start(core, project)
        wait(lambda: names(window) == ["b.txt"], "the other")
        wait(lambda: "a.txt" in window.statusBar().currentMessage(), "the message")
        shut(window)


def test_recent_files_are_numbered_in_order_of_use_and_cleared_on_request(qapp, project):
    with running_core() as core:
        window = start(core, project)
        for name in "abca":
            opened(window, project / f"{name}.txt")
        menu = recent(window, "Recent Files")
        assert [action.statusTip() for action in menu.actions()[:3]] == [f"{project}/{name}.txt" for name in "acb"]
        assert [action.text()[:3] for action in menu.actions()[:3]] == ["&1 ", "&2 ", "&3 "]
        assert all(action.text().endswith(".txt") for action in menu.actions()[:3])
        assert recent(window, "Recent Projects").actions()[0].statusTip() == str(project)
        menu.actions()[-1].trigger()
        assert [action.text() for action in recent(window, "Recent Files").actions()] == ["None"]
        shut(window)


def test_a_recent_file_is_opened_and_a_missing_one_taken_off_with_a_word(qapp, project):
    with running_core() as core:
        window = start(core, project)
        for name in "ab":
            opened(window, project / f"{name}.txt")
        for left in (1, 0):
            key(window.tabs.current(), "Ctrl+F4")
            wait(lambda left=left: window.tabs.count() == left, "the end of one")
        (project / "a.txt").unlink()
        recent(window, "Recent Files").actions()[1].trigger()
        assert "a.txt is not there any more" in window.statusBar().currentMessage()
        assert len(recent(window, "Recent Files").actions()) == 3
        recent(window, "Recent Files").actions()[0].trigger()
        wait(lambda: names(window) == ["b.txt"], "the file")
        shut(window)


def recent(window, title):
    action = next(a for a in window.actions_.menus["file"].actions() if a.text().replace("&", "") == title)
    action.menu().aboutToShow.emit()
    return action.menu()
