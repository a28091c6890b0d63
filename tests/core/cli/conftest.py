"""A user at a real terminal, and cores that play what a test wants to be shown."""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

SGR = re.compile(r"\x1b\[[0-9;]*m")

PLAYED = r"""
import json, os, sys, time

LOG = open(sys.argv[1], "a")
STATUS = {"version": "1", "instance": "i", "project": "/p", "trusted": False, "buffers": 0, "dirty": 0,
          "plugins": "loaded", "provider": "echo", "state_folder": "/s", "config_folder": "/c"}
RESULTS = {
    "core.hello": {"protocol": 1, "version": "1", "instance": "i", "capabilities": {}, "approve": True},
    "core.status": STATUS,
    "project.open": {"root": "/p", "trusted": False},
    "agent.history": {"conversation": "c", "messages": [], "total": 0, "running": None, "proposals": [],
                      "queued": [], "notices": []},
    "agent.status": {"conversation": "c", "running": None, "waiting": 0, "queued": 0, "provider": "echo",
                     "model": None},
    "agent.send": {"turn": "t"},
    "agent.stop": {"stopped": 1, "queued": []},
    "agent.approve": {"outcome": "applied", "message": "done"},
}

def write(message):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()

def read(answer=True):
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    request = json.loads(line)
    LOG.write(json.dumps([request["method"], request["params"]]) + "\n")
    LOG.flush()
    if answer:
        reply(request, RESULTS.get(request["method"], {}))
        if request["method"] == "core.shutdown":
            sys.exit(0)
    return request

def reply(request, result):
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})

def refuse(request, kind, message, action):
    data = {"kind": kind, "message": message, "action": action}
    write({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": message, "data": data}})

def until(method, answer=True):
    while True:
        request = read(answer=False)
        if request["method"] == method:
            if answer:
                reply(request, RESULTS[method])
            return request
        reply(request, RESULTS.get(request["method"], {}))
        if request["method"] == "core.shutdown":
            sys.exit(0)

def event(name, **params):
    write({"jsonrpc": "2.0", "method": "agent." + name, "params": {"turn": "t", **params}})

def propose(proposal="p1", path="a.py", diff="--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n", digest="d0", round=0,
            marks=(), kind="edit"):
    event("propose", proposal=proposal, call="c", kind=kind, path=path, diff=diff, digest=digest, round=round,
          marks=list(marks))

def resolved(proposal="p1", outcome="applied", decision="approve", message="m"):
    event("resolved", proposal=proposal, decision=decision, by="user", outcome=outcome, message=message)

def end(text="bye", stop="end_turn"):
    event("message", text=text, stop=stop, usage={})

def serve_out():
    while True:
        read()
"""

DRIVER = """
import functools, json, sys
import rio_core._cli.project as project
project.start_core = functools.partial(project.start_core, command=json.loads(sys.argv[1]))
from rio_core._cli.main import main
sys.exit(main(sys.argv[2:]))
"""


class Played:
    """A core that plays a body, and the command that talks to it in place of a real one."""

    def __init__(self, folder: Path, body: str) -> None:
        self._log = folder / "requests"
        self._log.touch()
        core = [sys.executable, "-P", "-c", PLAYED + body, str(self._log)]
        self.command = [sys.executable, "-P", "-c", DRIVER, json.dumps(core)]

    def requests(self, method: str) -> list[dict[str, Any]]:
        """Parameters of what was asked of this op."""
        calls = [json.loads(line) for line in self._log.read_text().splitlines()]
        return [params for name, params in calls if name == method]


class User:
    """Somebody at a terminal of 100 columns."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        import os

        self.child = pexpect.spawn(
            command[0], command[1:], env={**os.environ, "TERM": "xterm", **(environment or {})}, cwd=cwd,
            dimensions=(40, 100), timeout=20, encoding="utf-8", codec_errors="backslashreplace",
        )  # fmt: skip
        self.child.delaybeforesend = 0
        self._seen = ""

    def sees(self, text: str) -> str:
        """Wait until this text is on the screen; gives what came before it and was not asked for yet."""
        self.child.expect_exact(text)
        self._seen += self.child.before + self.child.after
        return self.child.before

    def types(self, line: str) -> None:
        """Type a line and Enter."""
        self.child.send(line + "\r")

    def presses(self, key: str) -> None:
        """Ctrl and this key."""
        self.child.sendcontrol(key)

    def leaves(self) -> int:
        """Wait for the end; gives the exit code."""
        self.child.expect(pexpect.EOF)
        self._seen += self.child.before
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -(self.child.signalstatus or 0)

    @property
    def screen(self) -> str:
        """All that was seen, without colours."""
        return SGR.sub("", self._seen).replace("\r\n", "\n")

    @property
    def raw(self) -> str:
        """All that was seen, as it came."""
        return self._seen

    def settle(self, seconds: float = 0.3) -> None:
        """Give the command the time to do something that it must not do."""
        time.sleep(seconds)


@pytest.fixture
def user() -> Iterator[Callable[..., User]]:
    """`user(command, environment)`: starts a command at a terminal of its own."""
    users: list[User] = []

    def begin(command: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None) -> User:
        users.append(User(command, environment, cwd))
        return users[-1]

    yield begin
    for one in users:
        one.child.close(force=True)


@pytest.fixture
def played(tmp_path: Path) -> Callable[[str], Played]:
    """`played(body)`: a core that plays this body."""
    return lambda body: Played(tmp_path, body)
