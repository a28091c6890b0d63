"""Each guard of tests/conftest.py stops the test that deserves it, and no other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SUSPECTS = """
import support.leaks
import asyncio, logging, os, socket, subprocess, tempfile, threading, time
from pathlib import Path
from hypothesis import Phase, given, settings, strategies
import anyio

KEPT = []
support.leaks.GRACE = 0.5

def test_clean(expect_log):
    expect_log("a.b: the .* is lit")
    logging.getLogger("a.b").warning("the lamp is lit")
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
        server.accept()[0].close()
    subprocess.run(["true"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x").touch()
    os.mkdir(os.environ["RIO_HOME"])
    Path(os.environ["RIO_HOME"], "kept").touch()
    assert Path.home().name == "home"

async def test_clean_async():
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
    await anyio.to_thread.run_sync(time.sleep, 0)
    await anyio.run_process(["true"])

def test_short_lived_thread_is_waited_for():
    threading.Thread(target=time.sleep, args=(0.2,)).start()

def test_allowed_thread(allow_thread):
    allow_thread("stuck-.*")
    threading.Thread(target=time.sleep, args=(5,), name="stuck-1", daemon=True).start()

def test_bad_log():
    logging.getLogger("x").warning("surprise")

def test_bad_log_from_asyncio():
    async def forgotten():
        raise ValueError
    async def main():
        asyncio.ensure_future(forgotten())
        await asyncio.sleep(0.01)
    asyncio.run(main())

def test_bad_expectation(expect_log):
    expect_log("never")

async def test_bad_task():
    KEPT.append(asyncio.ensure_future(asyncio.sleep(60)))

@settings(max_examples=1, phases=[Phase.generate])
@given(strategies.integers())
async def test_bad_task_in_hypothesis(number):
    KEPT.append(asyncio.ensure_future(asyncio.sleep(60)))

def test_bad_thread():
    threading.Thread(target=time.sleep, args=(8,), daemon=True).start()

def test_bad_child():
    KEPT.append(subprocess.Popen(["sleep", "5"]))

def test_bad_zombie():
    if not os.fork():
        os._exit(0)

def test_bad_descriptor():
    os.open("/", os.O_RDONLY)

def test_bad_file_in_home():
    (Path.home() / ".config").mkdir()

def test_bad_file_in_work():
    Path("core").touch()

def test_bad_file_in_tmp():
    tempfile.mkstemp(prefix="left"), os.close

def test_bad_environment():
    os.environ["RIO_X"] = "1"

def test_bad_working_folder():
    os.chdir("/")

def test_bad_network_even_if_swallowed():
    try:
        with socket.socket() as connection:
            connection.connect(("192.0.2.1", 9))
    except OSError:
        pass

def test_bad_name_lookup_even_if_swallowed():
    try:
        socket.getaddrinfo("example.invalid", 80)
    except OSError:
        pass

def test_bad_open_interface_even_if_swallowed():
    with socket.socket() as server:
        try:
            server.bind(("", 0))
        except OSError:
            pass
"""

TOLD = {
    "test_bad_log": "unexpected log: WARNING x: surprise",
    "test_bad_log_from_asyncio": "unexpected log: ERROR asyncio",
    "test_bad_expectation": "expected log that never came: never",
    "test_bad_task": "the test left tasks running",
    "test_bad_task_in_hypothesis": "the test left tasks running",
    "test_bad_thread": "thread: Thread-",
    "test_bad_child": "child process: sleep",
    "test_bad_zombie": "child process: ",
    "test_bad_descriptor": "open file: / (",
    "test_bad_file_in_home": "file left in home: .config",
    "test_bad_file_in_work": "file left in work: core",
    "test_bad_file_in_tmp": "file left in tmp: left",
    "test_bad_environment": "environment: RIO_X was None, is '1'",
    "test_bad_working_folder": "working folder: is now /",
    "test_bad_network_even_if_swallowed": "socket.connect ('192.0.2.1', 9)",
    "test_bad_name_lookup_even_if_swallowed": "socket.getaddrinfo 'example.invalid'",
    "test_bad_open_interface_even_if_swallowed": "socket.bind ('', 0)",
}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files and children are read from /proc")
def test_guards_tell_the_guilty_and_only_them(tmp_path):
    suspects = tmp_path / "test_suspects.py"
    suspects.write_text(SUSPECTS)
    told = tmp_path / "told"
    with told.open("wb") as output:  # no pipe: the child that a suspect leaves behind would hold it open
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path),
                *("--basetemp", tmp_path / "base", "-o", "pythonpath=", "-p", "conftest", "-p", "no:cacheprovider"),
                *("-p", "no:xdist", "-p", "no:pytest-qt", "-rA", suspects),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    report = told.read_text()
    guilty = {
        line.partition("::")[2].partition("[")[0].partition(" ")[0]
        for line in report.splitlines()
        if line.startswith(("FAILED ", "ERROR ")) and "::" in line
    }
    assert guilty == set(TOLD), report
    assert [complaint for complaint in TOLD.values() if complaint not in report] == []
