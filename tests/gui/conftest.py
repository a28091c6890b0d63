"""Tests of the window run without a screen; any warning of Qt fails them."""

import os
import tempfile
from pathlib import Path

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.pop("QT_SCALE_FACTOR", None)

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
            item.add_marker(
                pytest.mark.qt_log_ignore(
                    "^This plugin does not support (propagateSizeHints|raise|grabbing the keyboard)", extend=True
                )
            )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    # Qt paints large areas with a pool of threads, each with a descriptor, that end when they have been idle for a
    # while. Woken here, they are no news to the guards of the test.
    from PySide6.QtGui import QImage

    image = QImage(1000, 1000, QImage.Format.Format_RGB32)
    image.fill(0)
    image.convertToFormat(QImage.Format.Format_RGBA8888)


@pytest.fixture(scope="session", autouse=True)
def _application(qapp):
    # Before the first test's guards look: what Qt opens once, with its first window, stays open.
    from PySide6.QtWidgets import QPlainTextEdit

    qapp.setCursorFlashTime(0)
    window = QPlainTextEdit("text")
    window.show()
    window.activateWindow()
    window.setFocus()
    qapp.clipboard().setText("text")
    for _ in range(20):
        qapp.processEvents()
    window.close()
    return qapp


@pytest.fixture(autouse=True)
def _runtime_folder(monkeypatch):
    # A short one: the path of a socket has little room.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="rio-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@pytest.fixture
def core(qapp):
    """A real core in a process of its own, greeted."""
    from gui.harness import running_core

    with running_core() as link:
        yield link


@pytest.fixture
def opened(core, tmp_path, qapp):
    """`opened(text)` opens a file with this text in an editor on the screen, and gives a hand to work it with."""
    from gui.harness import Hand, open_file

    hands = []

    def open_(text="", name="file.txt", *, size=(700, 400)):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        hands.append(Hand(core, open_file(core, path), path, size))
        return hands[-1]

    yield open_
    for hand in hands:
        hand.close()
