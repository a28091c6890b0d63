"""What the terminal asks, and what counts as an answer. The core is played, so that odd moments can be made."""

import os
import stat
import subprocess
from pathlib import Path

ONE = """
until("agent.send")
propose()
request = until("agent.approve")
resolved(outcome="applied" if request["params"]["decision"] == "approve" else "rejected",
         decision=request["params"]["decision"])
end()
serve_out()
"""
QUESTION = "[a]pprove  [r]eject  [h]unks  [e]dit in $EDITOR  [q]uit"
BASE = {"turn": "t", "proposal": "p1", "digest": "d0"}


def agent(core, *more: str) -> list[str]:
    return [*core.command, "agent", "--project", "/", *more, "do it"]


def test_approve_needs_the_letter_and_enter_and_sends_what_was_shown(user, played):
    core = played(ONE)
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("a")
    assert at.leaves() == 0
    assert core.requests("agent.approve") == [BASE | {"decision": "approve"}]
    assert "-old\n+new\n" in at.screen
    assert "applied a.py" in at.screen
    assert at.screen.endswith("changed: a.py\n")


def test_reject_asks_for_a_reason_and_sends_it(user, played):
    core = played(ONE)
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("r")
    at.is_asked("Reason")
    at.types("not like this")
    assert at.leaves() == 3
    assert core.requests("agent.approve") == [BASE | {"decision": "reject", "reason": "not like this"}]
    assert "changed:" not in at.screen


def test_a_reason_may_be_empty(user, played):
    core = played(ONE)
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("reject")
    at.is_asked("Reason")
    at.types("")
    assert at.leaves() == 3
    assert core.requests("agent.approve") == [BASE | {"decision": "reject"}]


def test_T08_what_was_typed_before_the_question_does_not_count(user, played, tmp_path):
    core = played("""
until("agent.send")
event("delta", text="thinking about it")
while not os.path.exists(os.environ["GO"]):
    time.sleep(0.01)
propose()
until("agent.stop")
event("stopped")
serve_out()
""")
    go = tmp_path / "go"
    at = user(agent(core), {"GO": str(go)})
    at.sees("thinking about it")
    at.types("a")
    at.types("yes")
    at.child.send("a")
    at.settle()
    go.touch()
    at.is_asked(QUESTION)
    at.settle()
    assert core.requests("agent.approve") == []
    at.types("q")
    at.leaves()
    assert core.requests("agent.approve") == []


def test_T08_held_keys_and_anything_but_a_choice_ask_again(user, played):
    core = played(ONE)
    at = user(agent(core))
    at.is_asked(QUESTION)
    for line in ("", "", "   ", "aaaaaaaaaa", "y", "yes", "1", "A b", "\t"):
        at.types(line)
        at.is_asked(QUESTION)
    assert core.requests("agent.approve") == []
    at.types("a")
    assert at.leaves() == 0


def test_quit_stops_the_turn_and_leaves_nothing_approved(user, played):
    core = played("""
until("agent.send")
propose()
until("agent.stop")
resolved(outcome="interrupted", decision="interrupted")
event("stopped")
serve_out()
""")
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("q")
    assert at.leaves() == 3
    assert core.requests("agent.approve") == []
    assert core.requests("agent.stop") == [{"turn": "t"}]


def test_the_end_of_input_at_the_question_is_quit(user, played):
    core = played("until('agent.send'); propose(); until('agent.stop'); event('stopped'); serve_out()")
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.presses("d")
    at.leaves()
    assert core.requests("agent.approve") == []


def test_T01_a_stale_decision_shows_the_new_round_and_asks_again(user, played):
    core = played("""
until("agent.send")
propose()
refuse(until("agent.approve", answer=False), "stale", "a.py has changed.", "Look at it again.")
propose(digest="d1", round=1, diff="--- a/a.py\\n+++ b/a.py\\n@@ -1 +1 @@\\n-other\\n+new\\n")
until("agent.approve")
resolved()
end()
serve_out()
""")
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("a")
    at.sees("a.py has changed.")
    at.sees("-other")
    at.is_asked(QUESTION)
    at.types("a")
    assert at.leaves() == 0
    assert [params["digest"] for params in core.requests("agent.approve")] == ["d0", "d1"]
    assert "round 1" in at.screen


def test_several_proposals_are_asked_one_after_the_other(user, played):
    core = played("""
until("agent.send")
for number in (1, 2, 3):
    propose(f"p{number}", f"{number}.py", digest=f"d{number}")
for _ in range(3):
    told = until("agent.approve")["params"]
    resolved(told["proposal"], "applied" if told["decision"] == "approve" else "rejected", told["decision"])
end()
serve_out()
""")
    at = user(agent(core))
    for answer in ("a", "r", "a"):
        at.is_asked(QUESTION)
        at.types(answer)
        if answer == "r":
            at.is_asked("Reason")
            at.types("no")
    assert at.leaves() == 3
    assert [(told["digest"], told["decision"]) for told in core.requests("agent.approve")] == [
        ("d1", "approve"), ("d2", "reject"), ("d3", "approve"),
    ]  # fmt: skip
    assert at.screen.endswith("changed: 1.py, 3.py\n")


HUNKS = """
RESULTS["agent.proposal"] = {
    "path": "a.py", "kind": "edit", "old": "1\\n2\\n3\\n4\\n5\\n6", "new": "one\\n2\\n3\\n4\\n5\\nsix\\n", "at": [0, 0],
    "digest": "d0", "round": 0, "diff": "", "marks": [],
    "hunks": [{"id": 0, "old_start": 0, "old_lines": 1, "new_start": 0, "new_lines": 1},
              {"id": 1, "old_start": 5, "old_lines": 1, "new_start": 5, "new_lines": 1}]}
"""


def test_hunks_are_shown_and_asked_each_and_the_kept_ones_sent(user, played):
    core = played(HUNKS + ONE)
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("h")
    at.sees("hunk 1 of 2")
    at.sees("-1")
    at.sees("+one")
    at.is_asked("Keep this hunk?")
    at.types("")
    at.is_asked("Keep this hunk?")
    at.types("n")
    at.sees("-6")
    at.sees("No newline at end of file")
    at.sees("+six")
    at.is_asked("Keep this hunk?")
    at.types("y")
    assert at.leaves() == 0
    assert core.requests("agent.approve") == [BASE | {"decision": "approve", "hunks": [1]}]


def test_no_hunk_kept_is_a_rejection(user, played):
    core = played(HUNKS + ONE)
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("h")
    for _ in range(2):
        at.is_asked("Keep this hunk?")
        at.types("n")
    at.is_asked("Reason")
    at.types("")
    assert at.leaves() == 3
    assert core.requests("agent.approve") == [BASE | {"decision": "reject"}]


def test_hunks_of_another_round_than_the_shown_one_are_not_asked(user, played):
    core = played(
        HUNKS.replace('"digest": "d0"', '"digest": "d1"')
        + """
until("agent.send")
propose()
until("agent.proposal")
propose(digest="d1", round=1)
until("agent.approve")
resolved(); end(); serve_out()
"""
    )
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("h")
    at.sees("has changed since")
    at.is_asked(QUESTION)
    at.types("a")
    assert at.leaves() == 0
    assert [told["digest"] for told in core.requests("agent.approve")] == ["d1"]


def editor(folder: Path, body: str) -> str:
    script = folder / f"my editor {len(list(folder.iterdir()))}"
    script.write_text(f"#!/bin/sh\nfor last; do :; done\n{body}\n")
    script.chmod(0o755)
    return f"'{script}' --wait"


def test_edit_hands_the_new_text_to_the_editor_in_a_private_file(user, played, tmp_path):
    core = played(HUNKS + ONE)
    command = editor(
        tmp_path,
        f"""
stat -c '%a %n' "$last" "$(dirname "$last")" > {tmp_path}/seen
echo "$@" >> {tmp_path}/seen; pwd >> {tmp_path}/seen; cat "$last" >> {tmp_path}/seen
printf 'mine\\n2\\n3\\n4\\n5\\n6\\n' > "$last"
""",
    )
    at = user(agent(core), {"EDITOR": command})
    at.is_asked(QUESTION)
    at.types("e")
    at.sees("+mine")
    at.is_asked("Approve this?")
    at.types("")
    at.is_asked("Approve this?")
    assert core.requests("agent.approve") == []
    at.types("y")
    assert at.leaves() == 0
    assert core.requests("agent.approve") == [BASE | {"decision": "approve", "text": "mine\n2\n3\n4\n5\n6\n"}]
    seen = (tmp_path / "seen").read_text().split("\n", 4)
    assert seen[0].startswith("600 ")
    assert seen[0].endswith(".py")
    assert seen[1].startswith("700 ")
    assert seen[2].startswith("--wait ")
    assert not Path(seen[3]).exists()
    assert seen[4] == "one\n2\n3\n4\n5\nsix\n"


def test_a_no_after_the_edit_asks_again_and_nothing_is_sent(user, played, tmp_path):
    core = played(HUNKS + ONE)
    at = user(agent(core), {"VISUAL": editor(tmp_path, 'echo x > "$last"'), "EDITOR": "false"})
    at.is_asked(QUESTION)
    at.types("e")
    at.is_asked("Approve this?")
    at.types("n")
    at.is_asked(QUESTION)
    assert core.requests("agent.approve") == []
    at.types("a")
    assert at.leaves() == 0


def test_what_goes_wrong_with_the_editor_is_said_and_asked_again(user, played, tmp_path):
    core = played(HUNKS + ONE)
    for command, words in (
        ("/nowhere/editor", "cannot be started"),
        ("'unclosed", "is no command"),
        ("false", "ended with status 1"),
        (editor(tmp_path, 'printf "\\377" > "$last"'), "not UTF-8"),
        (editor(tmp_path, 'rm "$last"'), "is not there"),
        (editor(tmp_path, "printf '1\\n2\\n3\\n4\\n5\\n6' > \"$last\""), "changes nothing"),
    ):
        at = user(agent(core), {"EDITOR": command})
        at.is_asked(QUESTION)
        at.types("e")
        at.sees(words)
        at.is_asked(QUESTION)
        at.child.close(force=True)
    assert core.requests("agent.approve") == []


def test_ctrl_c_in_the_editor_is_the_editors(user, played, tmp_path):
    core = played(HUNKS + ONE)
    command = editor(tmp_path, "trap 'echo mine > \"$last\"; exit 0' INT; echo editing; while :; do sleep 0.05; done")
    at = user(agent(core), {"EDITOR": command})
    at.is_asked(QUESTION)
    at.types("e")
    at.sees("editing")
    at.presses("c")
    at.is_asked("Approve this?")
    at.types("y")
    assert at.leaves() == 0
    assert core.requests("agent.stop") == []


LARGE = """
body = "".join(f"+line {number}\\n" for number in range(3000))
""" + ONE.replace("propose()", 'propose(diff="--- a/a.py\\n+++ b/a.py\\n@@ -0,0 +1,3000 @@\\n" + body)')


def test_M03_M10_a_large_diff_is_shown_whole_and_one_letter_does_not_approve_it(user, played):
    core = played(LARGE)
    at = user(agent(core))
    at.sees("+line 2999")
    at.is_asked("[yes] approve")
    at.types("a")
    at.is_asked("[yes] approve")
    assert core.requests("agent.approve") == []
    at.types("yes")
    assert at.leaves() == 0
    assert core.requests("agent.approve") == [BASE | {"decision": "approve"}]


def test_M10_paging_to_the_end_opens_the_letter_and_leaving_the_pages_does_not(user, played):
    core = played(LARGE)
    at = user(agent(core))
    at.is_asked("[yes] approve")
    at.types("show")
    at.is_asked("-- Enter for more")
    at.types("q")
    at.is_asked("[yes] approve")
    at.types("show")
    for _ in range(3000 // 38):
        at.is_asked("-- Enter for more")
        at.types("")
    at.sees("+line 2999")
    at.is_asked(QUESTION)
    at.types("a")
    assert at.leaves() == 0


def test_one_very_long_line_counts_by_the_rows_that_it_takes(user, played):
    core = played(ONE.replace("propose()", 'propose(diff="@@ -1 +1 @@\\n+" + "x" * 300_000 + "END\\n")'))
    at = user(agent(core))
    at.sees("xEND")
    at.is_asked("[yes] approve")
    at.types("r")
    at.is_asked("Reason")
    at.types("")
    assert at.leaves() == 3


def test_marks_and_cautions_stand_between_the_diff_and_the_question(user, played):
    core = played(
        ONE.replace(
            "propose()",
            """
propose(path="x\\x1b[31m\\u202e.py\\nb", marks=["can run later", "odd \\x1b]52;c;QQ==\\x07"],
        diff="@@ -1 +1 @@\\n-old\\n+git status" + " " * 400 + "; p\\u0430y\\u200b \\n")""",
        )
    )
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("a")
    assert at.leaves() == 0
    shown = at.screen
    assert r"edit x\u{1B}[31m\u{202E}.py\nb" in shown
    assert "+git status[400 spaces]; p\u0430y\\u{200B} \n" in shown
    order = [
        shown.index(text)
        for text in (
            "[400 spaces]", "! can run later", r"! odd \u{1B}]52;c;QQ==\u{7}", "! 1 hidden character",
            "! 1 long run", "! white space at the end", "! letters of several", QUESTION,
        )
    ]  # fmt: skip
    assert order == sorted(order)
    assert "\x1b[7m\\u{200B}\x1b[0m" in at.raw
    assert "\x1b]" not in at.raw


def test_a_decision_that_the_core_refuses_for_its_content_is_asked_again(user, played):
    core = played("""
until("agent.send")
propose()
refuse(until("agent.approve", answer=False), "read_only", "a.py cannot be written.", "Change its rights.")
until("agent.approve"); resolved(); end(); serve_out()
""")
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.types("a")
    at.sees("Change its rights.")
    at.is_asked(QUESTION)
    at.types("a")
    assert at.leaves() == 0


def test_ctrl_c_at_the_question_stops_the_turn(user, played):
    core = played("until('agent.send'); propose(); until('agent.stop'); event('stopped'); serve_out()")
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.presses("c")
    assert at.leaves() == 130
    assert core.requests("agent.stop") == [{"turn": "t"}]
    assert core.requests("agent.approve") == []


def test_a_second_ctrl_c_leaves_though_the_stop_is_never_answered(user, played):
    core = played("""
until("agent.send")
event("delta", text="talking")
until("agent.stop", answer=False)
event("delta", text="still talking")
while True:
    read(answer=False)
""")
    at = user(agent(core))
    at.sees("talking")
    at.presses("c")
    at.sees("still talking")
    at.presses("c")
    assert at.leaves() == 130


def test_a_core_that_dies_at_the_question_is_told_at_once(user, played):
    core = played("until('agent.send'); propose(); time.sleep(0.3); sys.stderr.write('gone\\n'); os._exit(7)")
    at = user(agent(core))
    at.is_asked(QUESTION)
    at.sees("status 7")
    assert at.leaves() == 1
    assert "gone" in at.screen
    assert "Traceback" not in at.screen


def test_a_proposal_that_waits_from_an_earlier_run_is_decided_before_the_message_is_sent(user, played):
    core = played("""
RESULTS["agent.history"]["proposals"] = [{"turn": "old", "proposal": "p0", "call": "c", "kind": "edit",
                                          "path": "b.py", "digest": "d9", "round": 0}]
RESULTS["agent.proposal"] = {"path": "b.py", "kind": "edit", "old": "x", "new": "y", "at": None, "digest": "d9",
    "hunks": [], "round": 0, "diff": "@@ -1 +1 @@\\n-was\\n+is\\n", "marks": ["shapes later turns"]}
until("agent.approve")
event("resolved", turn="old", proposal="p0", decision="approve", by="user", outcome="applied", message="m")
event("message", turn="old", text="old done", stop="end_turn", usage={})
until("agent.send"); event("delta", text="hello"); end(); serve_out()
""")
    at = user(agent(core))
    at.sees("still waits")
    at.sees("+is")
    at.is_asked(QUESTION)
    assert core.requests("agent.send") == []
    at.types("a")
    at.sees("hello")
    assert at.leaves() == 0
    assert "! shapes later turns" in at.screen
    assert core.requests("agent.approve") == [{"turn": "old", "proposal": "p0", "digest": "d9", "decision": "approve"}]


def test_without_a_terminal_nothing_is_asked_and_everything_rejected(played):
    core = played(ONE)
    run = subprocess.run(agent(core), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    assert run.returncode == 3
    assert core.requests("agent.approve") == [BASE | {"decision": "reject", "reason": "nobody was there to decide"}]
    assert "\x1b" not in run.stdout


def test_an_answer_on_a_pipe_is_no_answer(played):
    core = played(ONE)
    run = subprocess.run(agent(core), input="a\nyes\n", capture_output=True, text=True, timeout=20)
    assert run.returncode == 3
    assert core.requests("agent.approve")[0]["decision"] == "reject"


def test_a_terminal_that_only_types_and_sees_nothing_is_none(played, user, tmp_path):
    core = played(ONE)
    out = tmp_path / "out"
    at = user(["/bin/sh", "-c", 'out=$1; shift; exec "$@" >"$out"', "sh", str(out), *agent(core)])
    assert at.leaves() == 3
    assert core.requests("agent.approve")[0]["decision"] == "reject"


def test_the_temporary_folder_of_an_edit_is_made_for_its_user_alone():
    # What the test of the editor relies on: no umask can widen what mkdtemp makes.
    import tempfile

    before = os.umask(0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    finally:
        os.umask(before)
