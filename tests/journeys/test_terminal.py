"""The terminal client against a real core and the echo provider: whole processes, real files, a real terminal."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.at_terminal import User, users

RIO = [sys.executable, "-P", "-m", "rio_core"]
ASKED = "[q]uit"


@pytest.fixture
def user() -> Iterator[Callable[..., User]]:
    with users() as begin:
        yield begin


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "proj"
    root.mkdir()
    (root / "a.py").write_bytes(b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\nnine\r\n")
    (root / "b.py").write_bytes(b"b = 1\n")
    return root


def edit(path: str, old: str, new: str) -> str:
    return "/tool propose_edit " + json.dumps({"path": path, "old": old, "new": new})


def agent(project: Path, *more: str) -> list[str]:
    return [*RIO, "agent", "--project", str(project), *more]


def run(*arguments: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*RIO, *arguments], capture_output=True, text=True, timeout=60, **more)


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_chat_with_every_kind_of_decision_leaves_exactly_that_on_disk(user, project, tmp_path):
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nsed -i s/B/edited/ "$1"\n')
    script.chmod(0o755)
    at = user(agent(project), {"EDITOR": str(script)})
    at.sees("echo in ")
    at.sees("> ")
    at.types("hello there")
    at.sees("echo: hello there")

    at.sees("> ")
    at.types(edit("b.py", "b = 1\n", "b = 2\n"))
    at.is_asked(ASKED)
    assert (project / "b.py").read_bytes() == b"b = 1\n"  # T03: nothing before the decision
    at.types("a")
    at.sees("changed: ")
    assert (project / "b.py").read_bytes() == b"b = 2\n"

    at.sees("> ")
    at.types(edit("b.py", "b = 2\n", "b = 3\n"))
    at.is_asked(ASKED)
    at.types("r")
    at.is_asked("Reason")
    at.types("two is enough")
    at.sees("rejected ")

    at.sees("> ")
    at.types(edit("a.py", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
                  "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n"))  # fmt: skip
    at.is_asked(ASKED)
    at.types("h")
    at.is_asked("Keep this hunk?")
    at.types("n")
    at.is_asked("Keep this hunk?")
    at.types("y")
    at.sees("changed: ")

    at.sees("> ")
    at.types(edit("a.py", "two", "B"))
    at.is_asked(ASKED)
    at.types("e")
    at.is_asked("Approve this?")
    at.types("y")
    at.sees("changed: ")
    at.sees("> ")
    at.types(":quit")
    assert at.leaves() == 0
    assert files(project) == {
        "a.py": b"one\r\nedited\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\nNINE\r\n",
        "b.py": b"b = 2\n",
    }


def test_the_commands_of_the_chat(user, project):
    (project / "AGENTS.md").write_text("Be brief.\n")
    at = user(agent(project))
    at.sees("> ")
    at.types(":help")
    at.sees(":trust")
    at.sees("> ")
    at.types(":status")
    at.sees("not trusted")
    at.sees("> ")
    at.types(":trust")
    at.sees("is trusted")
    at.sees("> ")
    at.types(":prompt")
    at.sees("Be brief.")
    at.sees("> ")
    at.types(":stop")
    at.sees("Nothing runs.")
    at.sees("> ")
    at.types(":nonsense")
    at.sees("is no command")
    at.sees("> ")
    at.types("two lines\\")
    at.sees(". ")
    at.types("in one message")
    at.sees("echo: two lines")
    at.sees("in one message")
    at.sees("> ")
    at.presses("d")
    assert at.leaves() == 0


def test_ctrl_c_stops_a_turn_and_at_the_prompt_it_leaves(user, project):
    at = user(agent(project))
    at.sees("> ")
    at.types("/pause 600")
    at.settle(0.5)
    at.presses("c")
    at.sees("Stopped.")
    at.sees("> ")
    at.types("still there?")
    at.sees("echo: still there?")
    at.sees("> ")
    at.settle(0.1)
    at.presses("c")
    assert at.leaves() == 130


def test_ctrl_c_in_a_single_turn_ends_with_130(user, project):
    at = user(agent(project, "/say working\n/pause 600"))
    at.sees("working")
    at.presses("c")
    assert at.leaves() == 130


def test_what_waits_after_a_kill_is_asked_at_the_next_start(user, project):
    first = user(agent(project, edit("b.py", "1", "2")))
    first.is_asked(ASKED)
    os.kill(first.child.pid, signal.SIGKILL)
    first.leaves()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _running():
        time.sleep(0.05)
    second = user(agent(project, "go on"))
    second.sees("still waits")
    second.is_asked(ASKED)
    second.types("a")
    second.sees("echo: go on")
    assert second.leaves() == 0
    assert (project / "b.py").read_bytes() == b"b = 2\n"


def _running() -> list[str]:
    """Processes that use this test's home: the core that was left alone ends by itself."""
    return [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdecimal() and _environment(entry).get("RIO_HOME") == os.environ["RIO_HOME"]
    ]


def _environment(entry: Path) -> dict[str, str]:
    try:
        pairs = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair) if int(entry.name) != os.getpid() else {}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("hello", 0),
        ("/fail server it broke", 1),
        ("/raise oops", 1),
        (edit("b.py", "1", "2"), 3),
        ("/tool fs_read " + json.dumps({"path": "b.py"}), 0),
    ],
)
def test_exit_codes_without_a_terminal(project, text, code):
    before = files(project)
    done = run("agent", "--project", str(project), text, stdin=subprocess.DEVNULL)
    assert done.returncode == code, done.stderr
    assert files(project) == before
    assert "Traceback" not in done.stdout + done.stderr


def test_a_wrong_command_line_is_2_and_a_wrong_project_one_line(tmp_path):
    assert run("agent", "--nonsense").returncode == 2
    done = run("agent", "--project", str(tmp_path / "nowhere"), "hi", stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2
    assert "nowhere" in done.stderr
    done = run("agent", "--project", str(tmp_path), "--provider", "no\x1b[2Jbody", "hi", stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "\x1b" not in done.stderr


def test_the_project_is_the_nearest_folder_with_git(project):
    (project / ".git").mkdir()
    below = project / "x/y"
    below.mkdir(parents=True)
    done = run("agent", '/tool fs_read {"path": "b.py"}', cwd=below, stdin=subprocess.DEVNULL)
    assert "b.py: lines 1 to " in done.stdout


def test_json_round_trip_with_a_real_core(project):
    text = edit("b.py", "b = 1\n", "b = 2\n") + "\n" + edit("a.py", "one\n", "uno\n")
    process = subprocess.Popen(
        agent(project, "--json", text), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "agent.propose":
            path = events[-1]["path"]
            told = {name: events[-1][name] for name in ("turn", "proposal", "digest")}
            told |= {"decision": "approve", "text": "b = 9\n"} if path == "b.py" else {"decision": "reject"}
            process.stdin.write(json.dumps(told) + "\n")
            process.stdin.flush()
    process.stdin.close()
    process.stdout.close()
    assert process.wait(20) == 3
    names = [event["event"] for event in events]
    assert names.count("agent.resolved") == 2
    assert {"agent.started", "agent.tool", "agent.tool_result", "buffer.changed"} <= set(names)
    assert names[-1] == "agent.message"
    assert (project / "b.py").read_bytes() == b"b = 9\n"
    assert (project / "a.py").read_bytes().startswith(b"one\r\n")


def test_hidden_characters_in_a_real_proposal_are_seen_before_the_decision(user, project):
    hidden = "'\u202e\u2066\U000e0041\u200b\u00a0\x1b]52;c;QQ==\x07'"
    text = edit("b.py", "b = 1\n", f"b = {hidden}{' ' * 400}#p\u0430y \n")
    at = user(agent(project, text))
    at.is_asked(ASKED)
    at.types("r")
    at.is_asked("Reason")
    at.types("")
    assert at.leaves() == 3
    assert r"+b = '\u{202E}\u{2066}\u{E0041}\u{200B}\u{A0}\u{1B}]52;c;QQ==\u{7}'[400 spaces]#p" in at.screen
    assert "hidden characters in what is added" in at.screen
    assert r"p\u{430}y" in at.screen
    assert "\x1b]" not in at.raw


def test_plugins_and_providers_are_listed_and_switched(project):
    assert re.search(r"echo +on +rio-provider-echo [\d.]+ +provider echo", run("plugins").stdout)
    assert re.search(r"\* +echo ", run("provider", "list").stdout)
    assert run("plugins", "disable", "echo").returncode == 0
    assert re.search(r"echo +off", run("plugins", "list").stdout)
    assert run("plugins", "enable", "echo").returncode == 0
    assert re.search(r"echo +on", run("plugins").stdout)
    done = run("plugins", "disable", "no\x1bbody")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 2)
    assert run("provider", "select", "echo").returncode == 0
    assert run("provider", "select", "nobody").returncode == 1


def test_the_demo_without_a_terminal_decides_itself_and_leaves_nothing():
    done = run("demo", stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    order = [
        "> fs_list", "> fs_search", "> fs_read", "> propose_edit", '+"""Defines ', "Nobody is at a terminal",
        "applied ", "On disk: ", "byte for byte what it was", "rio-core agent --project .",
    ]  # fmt: skip
    places = [done.stdout.index(text) for text in order]
    assert places == sorted(places)
    assert not Path(os.environ["RIO_HOME"]).exists()  # the user's own conversations are not touched


@pytest.mark.parametrize("answer", ["a", "r"])
def test_the_demo_at_a_terminal_asks_and_plays_on_for_either_answer(user, answer):
    at = user([*RIO, "demo", "--keep"])
    at.is_asked(ASKED)
    at.types(answer)
    if answer == "r":
        at.is_asked("Reason")
        at.types("")
    at.sees("byte for byte what it was")
    at.sees("rio-core agent --project .")
    assert at.leaves() == 0
    kept = Path(re.search(r"Kept: +(\S+)", at.screen)[1])
    assert (kept / "README.md").is_file()
    assert ("had " in at.screen) is (answer == "a")
    subprocess.run(["rm", "-r", str(kept.parent)], check=True)


def test_ctrl_c_in_the_demo_leaves_nothing_behind(user):
    at = user([*RIO, "demo"])
    at.is_asked(ASKED)
    at.presses("c")
    assert at.leaves() == 130
    assert not list(Path(os.environ["TMPDIR"]).iterdir())
