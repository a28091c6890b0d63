"""`agent --json`: events as the wire has them, decisions in, one JSON object a line."""

import json
import os
import signal
import subprocess

import pytest

TWO = """
until("agent.send")
event("delta", text="hé\\u202e\\x1b", later={"a": [1]})
event("telepathy", thought="unknown events come too")
propose("p1", digest="d1")
propose("p2", digest="d2")
for _ in range(2):
    told = until("agent.approve")["params"]
    resolved(told["proposal"], "applied" if told["decision"] == "approve" else "rejected", told["decision"])
end()
serve_out()
"""


class Driver:
    def __init__(self, core, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*core.command, "agent", "--json", "--project", "/", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def tell(self, line) -> None:
        self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.process.stdin.flush()

    def hears(self, event: str) -> dict:
        while line := self.process.stdout.readline():
            assert line.isascii()
            message = json.loads(line)
            if message["event"] == event:
                return message
        raise AssertionError(f"no {event}: {self.process.stderr.read()}")

    def ends(self) -> int:
        self.process.stdin.close()
        code = self.process.wait(20)
        self.rest = [json.loads(line) for line in self.process.stdout]
        self.errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def test_a_round_trip_of_events_and_decisions(played):
    core = played(TWO)
    driver = Driver(core, "go")
    assert driver.hears("agent.delta") == {
        "event": "agent.delta", "turn": "t", "text": "hé\u202e\x1b", "later": {"a": [1]},
    }  # fmt: skip
    assert driver.hears("agent.telepathy")["thought"] == "unknown events come too"
    first, second = driver.hears("agent.propose"), driver.hears("agent.propose")
    assert first["diff"].startswith("--- a/a.py\n")
    driver.tell({"proposal": second["proposal"], "digest": second["digest"], "decision": "reject", "reason": "no"})
    driver.tell({"turn": "t", "proposal": "p1", "digest": "d1", "decision": "approve", "hunks": [0]})
    assert driver.hears("agent.resolved")["proposal"] == "p2"
    assert driver.hears("agent.message")["stop"] == "end_turn"
    assert driver.ends() == 3
    assert driver.errors == ""
    assert core.requests("agent.approve") == [
        {"turn": "t", "proposal": "p2", "digest": "d2", "decision": "reject", "reason": "no"},
        {"turn": "t", "proposal": "p1", "digest": "d1", "decision": "approve", "hunks": [0]},
    ]


def test_an_edited_text_is_passed_on_as_it_is(played):
    core = played(TWO)
    driver = Driver(core, "go")
    driver.hears("agent.propose")
    driver.tell({"proposal": "p1", "digest": "d1", "decision": "approve", "text": "mine\r\n\u202e"})
    driver.hears("agent.resolved")
    driver.tell({"proposal": "p2", "digest": "d2", "decision": "approve"})
    assert driver.ends() == 0
    assert core.requests("agent.approve")[0]["text"] == "mine\r\n\u202e"


BAD = [
    "nonsense", "[]", "5", "null", "{}", '{"send": 5}', '{"stop": false}', '{"send": "x", "extra": 1}',
    '{"proposal": "p1", "digest": "d1"}', '{"proposal": "p1", "digest": "d1", "decision": "yes"}',
    '{"proposal": "p1", "digest": "d1", "decision": "approve", "hunks": "all"}',
    '{"proposal": "p1", "digest": "d1", "decision": "reject", "decision": "approve"}',
    '{"proposal": "p1", "digest": "d1", "Decision": "approve", "decision": "approve"}',
    '{"proposal": "nobody", "digest": "d1", "decision": "approve"}', "[" * 100_000, "\ud800",
]  # fmt: skip


def test_J05_a_bad_line_gets_an_error_and_the_next_is_served(played):
    core = played(TWO)
    driver = Driver(core, "go")
    driver.process.stdin.reconfigure(errors="surrogatepass")
    driver.hears("agent.propose")
    for number, line in enumerate(BAD, 1):
        driver.tell(line)
        error = driver.hears("error")
        assert error["line"] == number
        assert error["kind"] in ("bad_message", "not_found")
        assert error["action"]
    assert core.requests("agent.approve") == []
    driver.tell("")
    for number in (1, 2):
        driver.tell({"proposal": f"p{number}", "digest": f"d{number}", "decision": "approve"})
    assert driver.ends() == 0


def test_an_error_of_the_core_is_told_with_the_line_that_caused_it(played):
    core = played("""
until("agent.send")
propose()
refuse(until("agent.approve", answer=False), "stale", "Old digest.", "Look again.")
propose(digest="d1", round=1)
until("agent.approve"); resolved(); end(); serve_out()
""")
    driver = Driver(core, "go")
    driver.hears("agent.propose")
    driver.tell({"proposal": "p1", "digest": "d0", "decision": "approve"})
    assert driver.hears("error") == {
        "event": "error", "kind": "stale", "message": "Old digest.", "action": "Look again.", "line": 1,
    }  # fmt: skip
    assert driver.hears("agent.propose")["round"] == 1
    driver.tell({"proposal": "p1", "digest": "d1", "decision": "approve"})
    assert driver.ends() == 0


@pytest.mark.parametrize("stdin", ["/dev/null", "file", "pipe"])
def test_at_the_end_of_input_what_is_undecided_is_rejected(played, stdin, tmp_path):
    core = played(TWO)
    empty = tmp_path / "empty"
    empty.touch()
    arguments = [*core.command, "agent", "--json", "--project", "/", "go"]
    with open("/dev/null" if stdin == "/dev/null" else empty, "rb") as source:
        more = {"input": b""} if stdin == "pipe" else {"stdin": source}
        done = subprocess.run(arguments, capture_output=True, timeout=20, **more)
    assert done.returncode == 3
    assert [(told["proposal"], told["decision"], told["reason"]) for told in core.requests("agent.approve")] == [
        ("p1", "reject", "nobody was there to decide"), ("p2", "reject", "nobody was there to decide"),
    ]  # fmt: skip


def test_decisions_in_a_file_are_read_too(played, tmp_path):
    core = played("until('agent.send'); event('delta', text='a'); end(); until('agent.send'); end(); serve_out()")
    lines = tmp_path / "lines"
    lines.write_text('{"send": "first"}\n{"send": "last line without its end"}')
    with lines.open("rb") as source:
        done = subprocess.run(
            [*core.command, "agent", "--json", "--project", "/"], stdin=source, capture_output=True, timeout=20
        )
    assert done.returncode == 0, done.stdout
    assert [told["text"] for told in core.requests("agent.send")] == ["first", "last line without its end"]


def test_messages_are_sent_and_stopped_by_line(played):
    core = played("""
until("agent.send"); event("started", text="one"); event("delta", text="talk")
until("agent.stop"); event("stopped")
until("agent.send"); event("error", kind="server", message="m", action="a")
serve_out()
""")
    driver = Driver(core)
    driver.tell({"send": "one"})
    driver.hears("agent.delta")
    driver.tell({"stop": True})
    driver.hears("agent.stopped")
    driver.tell({"send": "two"})
    assert driver.hears("agent.error")["message"] == "m"
    assert driver.ends() == 1


def test_an_interrupt_stops_the_turn_and_ends_with_130(played):
    core = played("until('agent.send'); event('delta', text='x'); until('agent.stop'); event('stopped'); serve_out()")
    driver = Driver(core, "go")
    driver.hears("agent.delta")
    os.kill(driver.process.pid, signal.SIGINT)
    driver.hears("agent.stopped")
    assert driver.ends() == 130
    assert core.requests("agent.stop") == [{}]


def test_a_core_that_dies_is_an_error_line(played):
    core = played("until('agent.send'); event('delta', text='x'); os._exit(5)")
    driver = Driver(core, "go")
    assert "status 5" in driver.hears("error")["message"]
    assert driver.ends() == 1
    assert driver.errors == ""


def test_what_waits_from_an_earlier_run_is_told_as_an_event(played):
    core = played("""
RESULTS["agent.history"]["proposals"] = [{"turn": "old", "proposal": "p0", "call": "c", "kind": "edit",
                                          "path": "b.py", "digest": "d9", "round": 2}]
RESULTS["agent.proposal"] = {"path": "b.py", "kind": "edit", "old": "x", "new": "y", "at": None, "digest": "d9",
    "hunks": [], "round": 2, "diff": "@@ -1 +1 @@\\n-was\\n+is\\n", "marks": []}
until("agent.approve")
event("resolved", turn="old", proposal="p0", decision="approve", by="user", outcome="applied", message="m")
event("message", turn="old", text="", stop="end_turn", usage={})
serve_out()
""")
    driver = Driver(core)
    assert driver.hears("agent.propose")["digest"] == "d9"
    driver.tell({"proposal": "p0", "digest": "d9", "decision": "approve"})
    assert driver.ends() == 0
    assert core.requests("agent.approve") == [{"turn": "old", "proposal": "p0", "digest": "d9", "decision": "approve"}]
