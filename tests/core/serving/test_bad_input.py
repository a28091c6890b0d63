"""Whatever arrives on the channel: an error that says what to do next, and the following request is served."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rio_core.protocol import LINE_CAP, OPS
from support.raw import HELLO, RawCore


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture
def core(project):
    with RawCore() as core:
        yield core.hello(project)


def served(core: RawCore) -> None:
    """The next request is answered."""
    assert core.call("fs.list")["entries"]


MALFORMED = {
    "not JSON": b"hello\n",
    "half an object": b'{"jsonrpc": "2.0"\n',
    "two values": b'{"jsonrpc":"2.0","id":1,"method":"fs.list"} {}\n',
    "a name twice": b'{"jsonrpc":"2.0","id":1,"method":"fs.list","method":"core.shutdown"}\n',
    "a name twice inside": b'{"jsonrpc":"2.0","id":1,"method":"fs.list","params":{"path":"","path":"sub"}}\n',
    "another case": b'{"jsonrpc":"2.0","id":1,"Method":"fs.list"}\n',
    "a look-alike name": '{"jsonrpc":"2.0","id":1,"method":"fs.list","paramſ":{}}\n'.encode(),
    "a batch": b'[{"jsonrpc":"2.0","id":1,"method":"fs.list"}]\n',
    "a number": b"5\n",
    "an empty line": b"\n",
    "NaN": b'{"jsonrpc":"2.0","id":NaN,"method":"fs.list"}\n',
    "no version": b'{"id":1,"method":"fs.list"}\n',
    "another version": b'{"jsonrpc":"1.0","id":1,"method":"fs.list"}\n',
    "id true": b'{"jsonrpc":"2.0","id":true,"method":"fs.list"}\n',
    "id 1.0": b'{"jsonrpc":"2.0","id":1.0,"method":"fs.list"}\n',
    "id null": b'{"jsonrpc":"2.0","id":null,"method":"fs.list"}\n',
    "params a list": b'{"jsonrpc":"2.0","id":1,"method":"fs.list","params":[]}\n',
    "method a number": b'{"jsonrpc":"2.0","id":1,"method":7}\n',
    "deep nesting": b'{"jsonrpc":"2.0","id":1,"method":"fs.list","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED.keys())
def test_J05_malformed_messages_are_refused_and_the_next_request_is_served(core, line):
    core.write(line)
    answer = core.answer()
    assert answer["error"]["code"] in (-32700, -32600, -32602)
    data = answer["error"]["data"]
    assert data["kind"] == "bad_message"
    assert data["message"]
    assert data["action"]
    served(core)


WRONG = {
    "unknown op": ("fs.frobnicate", {}, "unknown_op"),
    "op in another case": ("FS.list", {}, "unknown_op"),
    "wrong type": ("buffer.lines", {"buffer": "b1", "first": "0", "count": 1}, "bad_message"),
    "missing field": ("buffer.open", {}, "bad_message"),
    "field that is not there": ("buffer.open", {"path": "a.txt", "pathh": 1}, "bad_message"),
    "null": ("buffer.open", {"path": None}, "bad_message"),
    "missing file": ("buffer.open", {"path": "nothing.txt"}, "not_found"),
    "folder in place of a file": ("buffer.open", {"path": "sub"}, "unsupported"),
    "file in place of a folder": ("fs.list", {"path": "a.txt"}, None),
    "pipe in place of a file": ("buffer.open", {"path": "pipe"}, "unsupported"),
    "pipe to read": ("fs.read", {"path": "pipe"}, "unsupported"),
    "outside": ("fs.read", {"path": "../x"}, "outside"),
    "outside, absolute": ("fs.read", {"path": "/etc/hostname"}, "outside"),
    "NUL in a path": ("buffer.open", {"path": "a\0b"}, "bad_message"),
    "lone surrogate in a path": ("buffer.open", {"path": "a\ud800"}, "bad_message"),
    "a path of 5,000 characters": ("buffer.open", {"path": "x" * 5000}, "bad_message"),
    "unknown buffer": ("buffer.text", {"buffer": "b99"}, "not_found"),
    "negative page": ("fs.list", {"offset": -1}, "bad_message"),
    "unknown conversation": ("agent.resume", {"conversation": "../../etc"}, "not_found"),
    "unknown proposal": (
        "agent.approve",
        {"turn": "t", "proposal": "p", "digest": "d", "decision": "approve"},
        "not_found",
    ),
    "decision without digest": ("agent.approve", {"turn": "t", "proposal": "p", "decision": "approve"}, "bad_message"),
    "bare decision": ("agent.approve", {"decision": "approve"}, "bad_message"),
    "empty message": ("agent.send", {"text": "  \n"}, "bad_message"),
    "another project": ("project.open", {"path": "/usr"}, "conflict"),
    "trust of another folder": ("project.trust", {"path": "/usr"}, "conflict"),
    "unknown setting": ("settings.set", {"key": "no.such", "value": 1}, None),
    "unknown provider": ("provider.select", {"name": "nobody"}, "not_found"),
    "hello again": ("core.hello", HELLO, "conflict"),
}


@pytest.mark.parametrize(("op", "params", "kind"), WRONG.values(), ids=WRONG.keys())
def test_wrong_requests_get_their_error_with_the_next_action(core, op, params, kind):
    data = core.refused(op, **params)
    assert data["kind"] == kind or kind is None
    assert data["kind"] != "internal"
    for text in (data["message"], data["action"]):
        assert text
        assert text.isprintable()  # one line, nothing that a terminal obeys
    served(core)


def test_without_a_project_what_needs_one_says_so():
    with RawCore() as core:
        core.hello()
        for op, params in {
            "fs.list": {},
            "buffer.open": {"path": "a.txt"},
            "agent.send": {"text": "hi"},
            "project.close": {},
        }.items():
            assert core.refused(op, **params)["kind"] == "no_project"
        assert core.call("buffer.new", text="still serving")["dirty"]


@pytest.mark.parametrize("path", ["relative", "/no/such/folder", "/etc/hostname", ""])
def test_a_project_that_cannot_be_opened(path):
    with RawCore() as core:
        core.hello()
        data = core.refused("project.open", path=path)
        assert data["kind"] in ("bad_message", "not_found", "unsupported", "io")
        assert core.call("core.status")["project"] is None


def resident(core: RawCore) -> int:
    """Bytes of memory of the core's process."""
    return int(Path(f"/proc/{core.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_J03_a_line_over_the_cap_closes_the_connection_and_nothing_after_it_is_parsed(project):
    with RawCore() as core:
        core.hello(project)
        piece = b"x" * (1024 * 1024)
        for _ in range(LINE_CAP // len(piece)):
            core.write(piece)
        assert resident(core) < 3 * LINE_CAP
        with contextlib.suppress(BrokenPipeError):  # it may have closed already
            core.write(b'x\n{"jsonrpc":"2.0","id":77,"method":"fs.create","params":{"path":"evil"}}\n')
        last = core.answer()
        assert last["error"]["data"]["kind"] == "bad_message"
        assert core.answer() is None
        assert core.process.wait(20) == 0
        assert not (project / "evil").exists()


def test_a_line_as_long_as_the_cap_is_read(project):
    with RawCore() as core:
        core.hello(project)
        head = b'{"jsonrpc":"2.0","id":5,"method":"core.status","params":{}'
        core.write(head + b" " * (LINE_CAP - len(head) - 1) + b"}\n")
        assert core.answer()["id"] == 5


@pytest.mark.parametrize(
    "first",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"core.status","params":{}}\n',
        b"POST / HTTP/1.1\r\n",
        b"\n",
        b'{"jsonrpc":"2.0","method":"fs.list","params":{}}\n',
    ],
)
def test_J02_a_first_message_that_is_not_hello_closes_the_connection(first):
    with RawCore() as core:
        hello = {"jsonrpc": "2.0", "id": 2, "method": "core.hello", "params": HELLO}
        core.write(first + json.dumps(hello).encode() + b"\n")
        assert core.answer()["error"]["data"]["kind"] == "bad_message"
        assert core.answer() is None
        assert core.process.wait(20) == 0


def test_invalid_utf_8_closes_the_connection(core):
    core.write(b'{"jsonrpc":"2.0","id":1,"method":"fs.list\xff"}\n{"jsonrpc":"2.0","id":2,"method":"fs.list"}\n')
    assert "UTF-8" in core.answer()["error"]["data"]["message"]
    assert core.answer() is None


def test_another_protocol_version_is_refused_with_what_to_install():
    with RawCore() as core:
        data = core.refused("core.hello", protocol=2, client="x")
        assert data["kind"] == "unsupported"
        assert "protocol 1" in data["message"]


def test_J08_answers_to_questions_that_were_never_asked_are_dropped(core):
    for stray in (1, "1", 99, "x"):
        core.write(json.dumps({"jsonrpc": "2.0", "id": stray, "result": {}}).encode() + b"\n")
    served(core)


def test_requests_without_an_id_are_done_and_not_answered(core):
    core.write(b'{"jsonrpc":"2.0","method":"fs.create","params":{"path":"quiet.txt"}}\n')
    assert core.call("fs.stat", path="quiet.txt")["size"] == 0


def test_pipelined_requests_are_answered_in_any_order_each_once(core, project):
    numbers = {core.send("fs.stat", path="a.txt") for _ in range(200)}
    answered = [core.answer()["id"] for _ in range(200)]
    assert set(answered) == numbers
    assert len(answered) == 200


def test_A12_a_full_disk_refuses_the_save_keeps_the_text_and_serves_on(project):
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))\n"
        "from rio_core._cli.main import main\n"
        "sys.exit(main(['serve']))\n"
    )
    core = RawCore.__new__(RawCore)
    core.events, core._id = [], 0
    core.process = subprocess.Popen(
        [sys.executable, "-P", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with core:
        core.hello(project)
        old = (project / "a.txt").read_bytes()
        buffer = core.call("buffer.open", path="a.txt")["buffer"]
        long = {"start": [0, 0], "end": [0, 0], "text": "x" * 100_000}
        core.call("buffer.edit", buffer=buffer, revision=0, edits=[long])
        data = core.refused("buffer.save", buffer=buffer)
        assert data["kind"] == "io"
        assert "a.txt" in data["message"]
        assert (project / "a.txt").read_bytes() == old
        assert sorted(path.name for path in project.iterdir()) == ["a.txt", "pipe", "sub"]
        assert core.call("buffer.undo", buffer=buffer)["dirty"] is False
        core.call("buffer.edit", buffer=buffer, revision=2, edits=[{"start": [0, 0], "end": [0, 0], "text": "y"}])
        assert core.call("buffer.save", buffer=buffer)["bytes"] == len(old) + 1


def test_no_right_to_write_is_said_with_the_next_action(core, project):
    path = project / "locked.txt"
    path.write_text("keep\n")
    path.chmod(0o444)
    opened = core.call("buffer.open", path="locked.txt")
    assert opened["read_only"]
    core.call("buffer.edit", buffer=opened["buffer"], revision=0, edits=[{"start": [0, 0], "end": [0, 0], "text": "z"}])
    data = core.refused("buffer.save", buffer=opened["buffer"])
    assert data["kind"] == "read_only"
    assert data["action"]
    assert path.read_text() == "keep\n"
    served(core)


def test_every_op_refuses_parameters_that_it_does_not_know(core):
    for name, op in OPS.items():
        if name == "core.hello":
            continue
        data = core.refused(name, no_such_parameter=1)
        assert data["kind"] == "bad_message", name
        assert op.name in data["message"]


def test_no_answer_is_longer_than_256_KiB(core, project):
    (project / "wide.txt").write_text("é\U0001f34b" * 300_000 + "\n" + "y\n" * 100_000, encoding="utf-8")
    many = project / "many"
    many.mkdir()
    for number in range(1200):
        (many / (f"{number:04}" + "🍋" * 60)).touch()
    buffer = core.call("buffer.open", path="wide.txt")["buffer"]
    for op, params in [
        ("buffer.lines", {"buffer": buffer, "first": 0, "count": 10}),
        ("buffer.lines", {"buffer": buffer, "first": 1, "count": 100_000}),
        ("buffer.text", {"buffer": buffer}),
        ("fs.list", {"path": "many"}),
        ("fs.read", {"path": "wide.txt", "limit": 10_000_000}),
    ]:
        number = core.send(op, **params)
        line = core.process.stdout.readline()
        assert json.loads(line)["id"] == number
        assert len(line) <= 256 * 1024, op


def test_pages_of_text_join_to_the_whole(core, project):
    text = "é🍋\r\n" * 60_000
    (project / "t.txt").write_bytes(text.encode())
    buffer = core.call("buffer.open", path="t.txt")["buffer"]
    pieces, first = [], 0
    while first is not None:
        page = core.call("buffer.text", buffer=buffer, first=first)
        pieces.append(page["text"])
        first = page.get("next")
    assert "".join(pieces) == text


def test_the_core_ends_well_when_its_front_end_closes_and_when_told_to(project):
    with RawCore() as core:
        core.hello(project)
        assert core.finish() == 0
    with RawCore() as core:
        core.hello(project)
        core.process.send_signal(signal.SIGTERM)
        assert core.process.wait(20) == 0
    with RawCore() as core:
        core.hello(project)
        core.call("buffer.new", text="unsaved")
        assert core.refused("core.shutdown")["kind"] == "dirty"
        core.call("core.shutdown", discard=True)
        assert core.process.wait(20) == 0
