"""Starting: what is said when a window cannot be shown, and what is not imported in the window's process."""

import os
import subprocess
import sys

import pytest

from rio_gui._ui import missing


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-m", "rio_gui", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_without_a_display_one_line_says_so_and_offers_the_terminal():
    done = run(DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no display" in done.stderr
    assert "rio-core agent" in done.stderr


def test_with_a_display_that_is_not_there_one_line_says_so():
    done = run(DISPLAY=":4711", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="xcb")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "':4711' cannot be reached" in done.stderr or "sudo apt-get install" in done.stderr


@pytest.mark.parametrize(
    ("error", "package"),
    [
        ("libEGL.so.1: cannot open shared object file: No such file or directory", "libegl1"),
        ("libxcb-icccm.so.4: cannot open shared object file", "libxcb-icccm4"),
        ("libxkbcommon-x11.so.0: cannot open shared object file", "libxkbcommon-x11-0"),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_brings_it(error, package):
    line = missing.explain(error)
    assert f"sudo apt-get install {package}." in line
    assert line.count("\n") == 1


def test_help_version_and_an_unknown_option():
    assert run("--help").stdout.startswith("usage: rio")
    assert run("--version").stdout.startswith("rio ")
    wrong = run("--nonsense")
    assert wrong.returncode == 2
    assert "--nonsense" in wrong.stderr


def test_the_window_imports_neither_the_engine_nor_its_libraries():
    program = "import sys, rio_gui._ui.application; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert "PySide6.QtWidgets" in loaded
    unwanted = {"anyio", "asyncio", "httpx", "subprocess", "pluggy", "tomlkit", "PySide6.QtNetwork"}
    assert not unwanted & loaded
    assert not [name for name in loaded if name.startswith("rio_core._engine")]


def test_the_core_is_started_before_qt_is_imported():
    program = (
        "import sys, rio_gui._ui.main as m; assert not [n for n in sys.modules if 'PySide6' in n or 'msgspec' in n]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
