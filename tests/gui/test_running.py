"""The command line and a window that runs already: files handed over, waited for, piped in."""

import os
import socket
import stat
import subprocess
import sys
import time

import pytest
from PySide6.QtWidgets import QApplication

from gui.harness import wait
from gui.windows import key, new_window, press, shut
from rio_gui._ui import running
from rio_gui._ui.arguments import Target, target
from rio_gui._ui.standard_input import MOST, StandardInput
from rio_gui._ui.window.listening import Listening
from rio_gui._ui.window.waiting import Waiting


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "sub/b.txt").write_text("b\n")
    return folder


@pytest.fixture
def window(core, project):
    window = new_window(core)
    window.open_project(str(project))
    wait(lambda: window.memory._listening is not None, "the project")
    yield window
    shut(window)


def rio(*arguments, **how):
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "rio_gui", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "DISPLAY": ":4711"},  # one that starts a window of its own fails
        **how,
    )


def ended(process):
    wait(lambda: process.poll() is not None, "the end of the command")
    out, err = process.communicate()
    return process.returncode, out + err


def test_a_second_start_opens_its_file_in_the_running_window(window, project, tmp_path):
    (tmp_path / "alias").symlink_to(project)
    assert ended(rio(tmp_path / "alias/a.txt:3", project / "sub/b.txt")) == (0, b"")
    wait(lambda: window.tabs.count() == 2, "both files")
    editor = window.tabs.editors()[0]
    wait(lambda: editor.selection[1] == (2, 0), "the line")
    assert {editor.document.info.path for editor in window.tabs.editors()} == {"a.txt", "sub/b.txt"}
    assert ended(rio(project)) == (0, b"")


def test_wait_returns_when_the_tab_is_closed(window, project):
    process = rio("--wait", project / "a.txt")
    wait(lambda: window.tabs.count() == 1, "the file")
    time.sleep(0.1)
    QApplication.processEvents()
    assert process.poll() is None
    key(window.tabs.current(), "Ctrl+F4")
    assert ended(process) == (0, b"")


def test_wait_as_the_editor_of_git(window, project):
    def git(*arguments, **how):
        return subprocess.run(["git", "-C", project, *arguments], check=True, capture_output=True, **how)

    git("init", "-q")
    git("add", "a.txt")
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    editor = f"{sys.executable} -P -m rio_gui --wait"
    commit = subprocess.Popen(
        ["git", "-C", project, *who, "-c", f"core.editor={editor}", "commit"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait(lambda: window.tabs.count() == 1, "the message")
    page = window.tabs.current()
    page.insert_text("Say why\n")
    key(page, "Ctrl+S")
    wait(lambda: not page.document.dirty, "the save")
    key(page, "Ctrl+F4")
    code, said = ended(commit)
    assert code == 0, said
    assert git("log", "--format=%s").stdout == b"Say why\n"


def test_wait_fails_when_the_window_ends_first(window, project):
    listening = window.memory.findChild(Listening)
    process = rio("--wait", project / "a.txt")
    wait(lambda: window.tabs.count() == 1, "the file")
    listening.close()
    code, said = ended(process)
    assert code == 1
    assert said == b"rio: the window ended before the file was closed.\n"


def test_a_window_of_its_own_that_is_waited_for_says_so_when_all_are_closed(core, project, qapp):
    window = new_window(core)
    done = []
    files = [Target(str(project / "a.txt")), Target(str(project / "sub/b.txt")), Target(str(project / "sub"))]
    Waiting(window.tabs, files, lambda: done.append(True))
    wait(lambda: window.tabs.count() == 2, "the files")
    key(window.tabs.current(), "Ctrl+F4")
    wait(lambda: window.tabs.count() == 1, "the end of one")
    assert not done
    key(window.tabs.current(), "Ctrl+F4")
    wait(lambda: done, "the end of both")
    shut(window)


def test_a_file_of_no_running_project_is_not_handed_over(window, tmp_path):
    (tmp_path / "other.txt").write_text("")
    assert running.hand_over([target(str(tmp_path / "other.txt"))], wait=False) is None
    assert running.hand_over([target(str(tmp_path))], wait=False) is None


def test_a_folder_inside_a_running_project_is_another_project(window, project):
    assert running.hand_over([target(str(project / "sub"))], wait=False) is None


def test_a_stale_socket_is_cleaned_away(project):
    place = running.socket_of(str(project))
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(place)
    dead.close()
    assert running.hand_over([target(str(project / "a.txt"))], wait=False) is None
    assert not os.path.exists(place)


def test_the_socket_is_for_its_user_only_and_gone_with_the_window(core, project, qapp):
    window = new_window(core)
    window.open_project(str(project))
    wait(lambda: window.memory._listening is not None, "the project")
    place = running.socket_of(str(project))
    assert stat.S_IMODE(os.stat(os.path.dirname(place)).st_mode) == 0o700
    assert os.path.exists(place)
    shut(window)
    assert not os.path.exists(place)


def test_a_runtime_folder_that_others_can_enter_is_not_used(project):
    os.chmod(running.folder(), 0o750)  # noqa: S103  that is the point
    assert running.folder() is None
    assert running.socket_of(str(project)) is None


def test_a_second_window_of_a_project_leaves_the_first_its_socket(window, project):
    second = Listening(str(project))
    assert not second.active
    second.close()
    assert ended(rio(project / "a.txt"))[0] == 0


@pytest.mark.parametrize("line", [b"{}\n", b"nonsense\n", b'{"open": [3], "wait": 1}\n', b"[" * 60_000 + b"\n"])
def test_nonsense_on_the_socket_ends_its_connection_only(window, project, line):
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(running.socket_of(str(project)))
        channel.sendall(line)
        channel.setblocking(False)

        def closed():
            try:
                return channel.recv(1) == b""
            except BlockingIOError:
                return False

        wait(closed, "the end of the connection")
    assert ended(rio(project / "a.txt"))[0] == 0


@pytest.mark.parametrize(
    ("data", "text", "more"),
    [
        ("zwölf\n".encode(), "zwölf\n", False),
        (b"a\xffb", "aÿb", False),
        (b"", "", False),
        (b"x" * (MOST - 1) + "ü".encode(), "x" * (MOST - 1), True),
    ],
)
def test_what_is_piped_in_is_read_to_its_end(qapp, data, text, more, tmp_path):
    path = tmp_path / "input"
    path.write_bytes(data)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as source:
        reading = StandardInput(source.stdout.fileno())
        got = []
        reading.ended.connect(lambda *what: got.append(what))
        wait(lambda: got, "the text")
    assert got == [(text, more)]
    reading.deleteLater()


def test_text_that_was_piped_in_is_a_file_that_is_not_saved(core, qapp):
    window = new_window(core)
    window.tabs.new(text="piped\n")
    wait(lambda: window.tabs.count() == 1, "the text")
    editor = window.tabs.current()
    wait(lambda: editor.document.lines.get(0), "its lines")
    assert editor.document.lines.get(0).text == "piped"
    seen = []
    press("Cancel", seen)
    key(editor, "Ctrl+F4")
    assert seen == ["Untitled has changes that are not saved."]
    shut(window)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--wait"], "--wait needs a file"), (["--wait", "."], "--wait needs a file"), ([".", ".."], "one project")],
)
def test_what_makes_no_sense_is_said(arguments, says, tmp_path):
    code, said = ended(rio(*arguments))
    assert code == 2
    assert says in said.decode()
    assert said.count(b"\n") == 1
