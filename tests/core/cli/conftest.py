"""A user at a real terminal, and cores that play what a test wants to be shown."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.at_terminal import User, users

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

def event(name, /, **params):
    write({"jsonrpc": "2.0", "method": "agent." + name, "params": {"turn": "t", **params}})

def propose(proposal="p1", path="a.py", diff="--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n", digest="d0", round=0,
            marks=(), kind="edit"):
    event("propose", proposal=proposal, call="c", kind=kind, path=path, diff=diff, digest=digest, round=round,
          marks=list(marks))

def resolved(proposal="p1", outcome="applied", decision="approve", message="m"):
    event("resolved", proposal=proposal, decision=decision, by="user", outcome=outcome, message=message)

def end(text="bye", stop="end_turn", detail=""):
    event("message", text=text, stop=stop, detail=detail, usage={})

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


@pytest.fixture
def user() -> Iterator[Callable[..., User]]:
    """`user(command, environment)`: starts a command at a terminal of its own."""
    with users() as begin:
        yield begin


@pytest.fixture
def played(tmp_path: Path) -> Callable[[str], Played]:
    """`played(body)`: a core that plays this body."""
    return lambda body: Played(tmp_path, body)
