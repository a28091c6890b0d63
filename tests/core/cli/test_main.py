"""The command line itself: help, usage errors, and what it costs to start."""

import subprocess
import sys

import pytest

RIO = [sys.executable, "-P", "-m", "rio_core"]
COMMANDS = ["agent", "demo", "plugins", "provider", "secret", "serve"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*RIO, *arguments], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)


def test_help_names_every_command_and_what_to_type_first():
    done = run("--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert f"\n    {command} " in done.stdout
    assert "rio-core demo" in done.stdout
    assert run("agent", "--help").stdout.count("\n  130 ") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    done = run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["nonsense"], ["agent", "--nonsense"], ["agent", "a", "b\x1b[2J"], ["secret"], ["secret", "set", "echo"],
        ["provider", "select"], ["plugins", "enable"],
    ],
)  # fmt: skip
def test_a_command_line_that_is_not_understood_is_2_with_the_usage(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "usage: rio-core" in done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_the_installed_one():
    from importlib.metadata import version

    assert run("--version").stdout == f"rio-core {version('rio-core')}\n"


def test_help_starts_neither_the_event_loop_nor_a_front_end_nor_the_engine():
    code = """
import contextlib, io, sys
from rio_core._cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["--help"])
print([name for name in sys.modules if name.split(".")[0] in ("anyio", "asyncio", "tempfile", "difflib")
       or name.startswith(("rio_core._engine", "rio_core.client"))])
"""
    assert subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_serving_loads_no_front_end():
    code = """
import sys
import rio_core._engine.server as server
server.main = lambda **given: print(given, [name for name in sys.modules if name.startswith("rio_core.client")
    or name.startswith("rio_core._cli") and name.rpartition(".")[2] not in ("_cli", "main", "parser", "serve")])
from rio_core._cli.main import main
main(["serve", "--safe-mode"])
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.stdout == "{'safe_mode': True} []\n"


@pytest.mark.needs_echo
def test_W07_a_project_folder_with_modules_of_its_own_is_not_imported(tmp_path):
    (tmp_path / "json.py").write_text("open('M', 'w')\n")
    (tmp_path / "anyio.py").write_text("open('M', 'w')\n")
    done = subprocess.run(
        [*RIO, "agent", "hello"], cwd=tmp_path, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL
    )
    assert done.stdout == "echo: hello\n"
    assert not (tmp_path / "M").exists()
