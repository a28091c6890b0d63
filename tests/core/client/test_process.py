"""The process behind a client: how it starts, how it dies, how it ends."""

import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from rio_core.client import start_core
from rio_core.protocol import RioError

pytestmark = pytest.mark.anyio


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


TELL = """
greet()
request = read()
answer(request, {"text": json.dumps({"pid": os.getpid(), "cwd": os.getcwd(), "env": dict(os.environ),
                                     "session": os.getsid(0), "path": sys.path})})
"""


async def told(client) -> dict:
    import json

    return json.loads((await client.call("agent.unqueue", queued="q")).text)


async def test_W07_the_core_starts_outside_the_project_and_without_foreign_python(core, monkeypatch):
    foreign = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONWARNINGS", "PYTHONBREAKPOINT"}
    for name in foreign:
        monkeypatch.setenv(name, str(Path.cwd()))
    monkeypatch.setenv("HARMLESS", "kept")
    async with start_core(project=None, command=core(TELL + "serve_out()")) as client:
        answer = await told(client)
    assert answer["cwd"] == "/"
    assert answer["env"]["HARMLESS"] == "kept"
    assert not foreign & answer["env"].keys()
    assert str(Path.cwd()) not in answer["path"]


async def test_the_core_is_in_a_session_of_its_own_so_that_interrupts_do_not_reach_it(core):
    async with start_core(project=None, command=core(TELL + "serve_out()")) as client:
        answer = await told(client)
        assert answer["session"] == answer["pid"] != os.getsid(0)


async def test_a_death_fails_every_waiting_call_with_the_last_words_escaped(core):
    body = """
greet()
for _ in range(3):
    read()
sys.stderr.write("x" * 100_000 + "\\nTraceback\\nValueError: \\x1b]52;c;AAAA\\x07 gone\\n")
sys.exit(3)
"""
    errors: list[RioError] = []
    async with start_core(project=None, command=core(body)) as client:

        async def ask() -> None:
            with pytest.raises(RioError) as caught:
                await client.call("buffer.list")
            errors.append(caught.value)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(ask)
        with pytest.raises(RioError, match="status 3"):
            await client.call("buffer.list")
        assert (await client.ended()).kind == "internal"
    assert len({id(error) for error in errors}) == 3
    for error in errors:
        assert error.kind == "internal"
        assert "status 3" in error.message
        assert r"ValueError: \u{1B}]52;c;AAAA\u{7} gone" in error.message
        assert "\x1b" not in error.message
        assert len(error.message) < 20_000
        assert error.action


@pytest.mark.parametrize("signal_name", ["SIGKILL", "SIGSEGV"])
async def test_a_killed_core_is_reported_with_its_signal(core, signal_name):
    body = f"greet(); read(); os.kill(os.getpid(), signal.{signal_name}); time.sleep(60)"
    async with start_core(project=None, command=core(body)) as client:
        with pytest.raises(RioError, match="killed by signal"):
            await client.call("buffer.list")


async def test_a_death_is_noticed_though_a_grandchild_holds_the_pipes(core):
    body = """
import subprocess
greet(); read()
child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(30)"])
sys.stderr.write(f"child={child.pid}\\n")
os._exit(4)
"""
    began = time.monotonic()
    async with start_core(project=None, command=core(body)) as client:
        with pytest.raises(RioError, match="status 4") as caught:
            await client.call("buffer.list")
    os.kill(int(caught.value.message.rpartition("child=")[2]), 9)
    assert time.monotonic() - began < 20  # not until the grandchild ends


@pytest.mark.parametrize(
    ("output", "words"),
    [(b"\\xff\\n", "not UTF-8"), (b"x", "too long")],
)
async def test_what_cannot_be_parsed_on_is_a_death(core, output, words):
    body = f"""
greet(); read()
line = b"{output.decode()}"
sys.stdout.buffer.write(line if len(line) > 1 else line * (64 * 1024 * 1024 + 1))
sys.stdout.buffer.flush()
time.sleep(60)
"""
    async with start_core(project=None, command=core(body)) as client:
        with pytest.raises(RioError, match=words):
            await client.call("buffer.list")


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("serve_out()", id="asked"),
        pytest.param("refuse(read(), 'dirty', 'm', 'a'); read()", id="refuses, ends with its input"),
        pytest.param("time.sleep(60)", id="deaf, ends with TERM"),
        pytest.param("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", id="needs KILL"),
        pytest.param(
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: event('fs.changed', paths=['x' * 9000])",
            id="floods until KILL",
        ),
    ],
)
async def test_leaving_ends_the_process_in_a_bounded_time_whatever_it_does(core, ending):
    # The guard of every test checks that no task, process, thread or pipe stays.
    async with start_core(project=None, command=core(TELL + ending)) as client:
        pid = (await told(client))["pid"]
        began = time.monotonic()
    assert time.monotonic() - began < 30
    assert not alive(pid)


async def test_an_error_in_the_body_comes_out_as_it_is_and_the_process_ends(core):
    pids = []

    async def body() -> None:
        async with start_core(project=None, command=core(TELL + "serve_out()")) as client:
            pids.append((await told(client))["pid"])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await body()
    assert not alive(pids[0])


async def test_cancelling_the_body_ends_the_process(core):
    pid = 0
    with anyio.move_on_after(0.3) as scope:
        async with start_core(project=None, command=core(TELL + "serve_out()")) as client:
            pid = (await told(client))["pid"]
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert pid
    assert not alive(pid)


async def test_a_core_that_refuses_the_project_is_ended_and_its_error_told(core):
    body = "greet(); refuse(read(), 'not_found', '/nowhere is not there.', 'Name a folder.'); serve_out()"
    with pytest.raises(RioError, match="/nowhere"):
        async with start_core(project="/nowhere", command=core(body)):
            pytest.fail("the body must not run")


async def test_a_core_of_another_protocol_is_refused(core):
    body = "HELLO['protocol'] = 2; greet(); serve_out()"
    with pytest.raises(RioError, match="protocol 2"):
        async with start_core(project=None, command=core(body)):
            pytest.fail("the body must not run")


@pytest.mark.parametrize("command", [["/nowhere/core"], [sys.executable, "-I", "-c", "raise SystemExit(9)"]])
async def test_a_core_that_cannot_start_is_one_error(command):
    with pytest.raises(RioError) as caught:
        async with start_core(project=None, command=command):
            pytest.fail("the body must not run")
    assert "cannot be started" in caught.value.message or "status 9" in caught.value.message
    assert caught.value.action


async def test_hello_says_who_asks_for_decisions(core):
    body = "request = greet(); answer(read(), {'text': json.dumps(request['params'])}); serve_out()"
    async with start_core(project=None, command=core(body), approve=False, client="tester") as client:
        text = (await client.call("agent.unqueue", queued="q")).text
    assert '"approve": false' in text
    assert '"client": "tester"' in text
    assert '"protocol": 1' in text
