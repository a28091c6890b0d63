"""Proposals and decisions, field by field as the contract has them (DESIGN sections 4 and 6; security T and J07)."""

import hashlib
import json

import anyio
import pytest

from rio_core.protocol import RioError
from support.work import at_work, create, decision_on, digest_of, edit, tool

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
CHANGED = TEXT.replace("line 2\n", "line two\n").replace("line 9\n", "").replace("line 15\n", "line 15\nmore\n")


async def test_a_proposal_is_told_with_every_field(tmp_path):
    async with at_work(tmp_path, {"sub/f.txt": TEXT.encode()}) as work:
        turn = await work.send(edit("sub/f.txt", "line 3\nline 4", "line 3\r\nLINE \u20ac \U0001f34b 4"))
        called = await work.journal.kind("agent.tool")
        assert (called.turn, called.name) == (turn, "propose_edit")
        assert called.input["old"] == "line 3\nline 4"
        shown = await work.journal.kind("agent.propose")
        assert (shown.turn, shown.call, shown.kind, shown.path, shown.round, shown.marks) == (
            turn, called.call, "edit", "sub/f.txt", 0, [],
        )  # fmt: skip
        new = "line 3\nLINE \u20ac \U0001f34b 4"
        assert shown.digest == digest_of(shown.proposal, "edit", "sub/f.txt", "line 3\nline 4", new, 0)
        assert shown.diff == (
            "--- a/sub/f.txt\n+++ b/sub/f.txt\n@@ -1,7 +1,7 @@\n line 1\n line 2\n line 3\n"
            "-line 4\n+LINE \u20ac \U0001f34b 4\n line 5\n line 6\n line 7\n"
        )
        whole = await work.show(shown)
        assert (whole.path, whole.kind, whole.old, whole.new) == ("sub/f.txt", "edit", "line 3\nline 4", new)
        assert (whole.at, whole.digest, whole.round, whole.diff) == ((2, 0), shown.digest, 0, shown.diff)
        assert [(h.id, h.old_start, h.old_lines, h.new_start, h.new_lines) for h in whole.hunks] == [(0, 1, 1, 1, 1)]
        (waiting,) = (await work.call("agent.history")).proposals
        assert (waiting.turn, waiting.proposal, waiting.call, waiting.kind) == (
            turn,
            shown.proposal,
            shown.call,
            "edit",
        )
        assert (waiting.path, waiting.digest, waiting.round) == ("sub/f.txt", shown.digest, 0)


async def test_a_creation_is_told_with_every_field(tmp_path):
    async with at_work(tmp_path) as work:
        (shown,) = await work.proposed(create("new/f.txt", "a\r\nb"))
        assert (shown.kind, shown.path, shown.round) == ("create", "new/f.txt", 0)
        assert shown.digest == digest_of(shown.proposal, "create", "new/f.txt", "", "a\nb", 0)
        assert shown.diff == "--- /dev/null\n+++ b/new/f.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        whole = await work.show(shown)
        assert (whole.old, whole.new, whole.at, len(whole.hunks)) == ("", "a\nb", (0, 0), 1)
        assert (await work.decide(shown)).message == "Created new/f.txt."
        assert work.read("new/f.txt") == b"a\nb"


async def test_each_hunk_can_be_kept_alone_and_the_model_is_told_which(tmp_path):
    async with at_work(tmp_path, {"f.txt": TEXT.encode()}) as work:
        (shown,) = await work.proposed(edit("f.txt", TEXT, CHANGED))
        hunks = (await work.show(shown)).hunks
        assert [(h.id, h.old_start, h.old_lines, h.new_start, h.new_lines) for h in hunks] == [
            (0, 1, 1, 1, 1), (1, 8, 1, 8, 0), (2, 15, 0, 14, 1),
        ]  # fmt: skip
        for wrong in ([], [3], [0, 0], [-1], [0, 7]):
            error = await work.refused("agent.approve", **decision_on(shown, "approve", hunks=wrong))
            assert (error.kind, error.code) == ("bad_message", -32602)
        done = await work.decide(shown, hunks=[2, 0])
        assert done.outcome == "applied"
        await work.journal.end_of_turn()
        kept = TEXT.replace("line 2\n", "line two\n").replace("line 15\n", "line 15\nmore\n")
        assert work.read("f.txt") == kept.encode()
        told = work.told()[0].text
        assert told == done.message
        done_part, _, left_part = told.partition("What was refused:")
        assert "+line two" in done_part
        assert "+more" in done_part
        assert "-line 9" in left_part
        assert "-line 9" not in done_part


@pytest.mark.parametrize("kind", ["edit", "create"])
async def test_a_changed_form_is_what_is_written_and_told(tmp_path, kind):
    async with at_work(tmp_path, {"f.txt": b"one\r\ntwo\r\n"}) as work:
        step = edit("f.txt", "one", "1") if kind == "edit" else create("g.txt", "x\n")
        (shown,) = await work.proposed(step)
        done = await work.decide(shown, text="eins\nzwei")
        await work.journal.end_of_turn()
        if kind == "edit":
            assert work.read("f.txt") == b"eins\r\nzwei\r\ntwo\r\n"
        else:
            assert work.read("g.txt") == b"eins\nzwei"
        (result,) = work.told()
        assert result.text == done.message
        assert "changed your proposal" in result.text
        assert "+eins" in result.text
        assert not result.is_error


WRONG = [
    ({"hunks": [0], "text": "x"}, "bad_message"),
    ({"reason": "approving needs none"}, "bad_message"),
    ({"decision": "reject", "hunks": [0]}, "bad_message"),
    ({"decision": "reject", "text": "x"}, "bad_message"),
    ({"decision": "maybe"}, "bad_message"),
    ({"digest": "0" * 64}, "stale"),
    ({"digest": ""}, "stale"),
    ({"digest": None}, "bad_message"),
    ({"turn": "t0"}, "not_found"),
    ({"proposal": "p0"}, "not_found"),
    ({"proposal": None}, "bad_message"),
    ({"unknown": 1}, "bad_message"),
    ({"text": "half \ud800 a character"}, None),
]


@pytest.mark.parametrize(("change", "kind"), WRONG, ids=range(len(WRONG)))
async def test_a_decision_that_is_wrong_decides_nothing(tmp_path, change, kind):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "1"))
        error = await work.refused("agent.approve", **{**decision_on(shown, "approve"), **change})
        assert error.kind == kind or kind is None
        assert work.read("f.txt") == b"one\n"
        assert (await work.decide(shown)).outcome == "applied"
        assert work.read("f.txt") == b"1\n"


@pytest.mark.parametrize("missing", ["turn", "proposal", "digest", "decision"])
async def test_the_bare_form_of_a_decision_is_refused(tmp_path, missing):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "1"))
        given = decision_on(shown, "approve")
        del given[missing]
        assert (await work.refused("agent.approve", **given)).kind == "bad_message"
        assert work.read("f.txt") == b"one\n"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_several_proposals_are_decided_in_any_order_and_then_the_turn_goes_on(tmp_path, order):
    async with at_work(tmp_path, {"f.txt": b"a\nb\nc\n"}) as work:
        shown = await work.proposed(*(edit("f.txt", letter, letter.upper()) for letter in "abc"), count=3)
        for index in order:
            assert len(work.requests) == 1
            await work.decide(shown[index], "reject" if index == 1 else "approve")
        assert (await work.journal.end_of_turn()).text == "echo: done"
        assert work.read("f.txt") == b"A\nb\nC\n"
        assert [result.is_error for result in work.told()] == [False, True, False]


async def test_a_proposal_can_be_decided_while_later_calls_of_its_reply_still_run(tmp_path):
    files = {f"many/{number}.txt": b"needle\n" * 50 for number in range(300)} | {"f.txt": b"a\nb\n"}
    async with at_work(tmp_path, files) as work:
        steps = [
            edit("f.txt", "a", "A"),
            *(tool("fs_search", pattern="needle") for _ in range(4)),
            edit("f.txt", "b", "B"),
        ]
        (first,) = await work.proposed(*steps)
        await work.decide(first)
        (second,) = await work.proposed()
        assert len(work.requests) == 1
        await work.decide(second)
        assert (await work.journal.end_of_turn()).NAME == "agent.message"
        assert work.read("f.txt") == b"A\nB\n"


async def test_the_same_text_proposed_twice_is_changed_once(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        shown = await work.proposed(edit("f.txt", "one", "two"), edit("f.txt", "one", "three"), count=2)
        assert (await work.decide(shown[0])).outcome == "applied"
        assert (await work.show(shown[1])).at is None
        second = await work.decide(shown[1])
        assert second.outcome == "refused"
        assert work.read("f.txt") == b"two\n"


@pytest.mark.parametrize("count", [2, 5])
async def test_a_decision_sent_several_times_at_once_counts_once(tmp_path, count):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "oneone"))
        outcomes = []

        async def approve():
            try:
                outcomes.append((await work.decide(shown)).outcome)
            except RioError as error:
                outcomes.append(error.kind)

        async with anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(approve)
        assert sorted(outcomes) == ["applied", *["not_found"] * (count - 1)]
        assert work.read("f.txt") == b"oneone\n"
        assert len(work.journal.all("agent.resolved")) <= 1


@pytest.mark.parametrize("other", ["agent.stop", "agent.send", "agent.reset", "project.close"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_decision_and_an_interruption_at_once_leave_a_whole_state(tmp_path, other, first):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        outcomes = []

        async def call(op, **params):
            try:
                outcomes.append(await work.call(op, **params))
            except RioError as error:
                outcomes.append(error.kind)

        async with anyio.create_task_group() as tasks:
            if first:
                tasks.start_soon(lambda: call("agent.approve", **decision_on(shown, "approve")))
            tasks.start_soon(lambda: call(other, **({"text": "next"} if other == "agent.send" else {})))
            if not first:
                tasks.start_soon(lambda: call("agent.approve", **decision_on(shown, "approve")))
        applied = any(getattr(outcome, "outcome", None) == "applied" for outcome in outcomes)
        assert work.read("f.txt") == (b"two\n" if applied else b"one\n")
        assert "internal" not in outcomes
        if other == "project.close":
            await work.call("project.open", path=str(work.project))
        waiting = (await work.call("agent.status")).waiting
        assert waiting == (1 if other == "project.close" and not applied else 0)
        await work.play("after all")
        results = [record for record in work.results() if record.call == shown.call]
        assert len(results) == (0 if other == "agent.reset" else 1)
        if results:
            assert results[0].ok == applied


@pytest.mark.parametrize(
    "ops", [["agent.reset", "agent.reset"], ["agent.resume", "agent.resume"], ["agent.reset", "agent.resume"]]
)
async def test_conversations_switched_several_times_at_once_leave_one(tmp_path, ops):
    async with at_work(tmp_path) as work:
        await work.play("one")
        old = (await work.call("agent.status")).conversation
        await work.call("agent.reset")
        await work.send("/pause 30")
        async with anyio.create_task_group() as tasks:
            for op in ops:
                params = {"conversation": old} if op == "agent.resume" else {}
                tasks.start_soon(lambda op=op, params=params: work.call(op, **params))
        listed = (await work.call("agent.conversations")).conversations
        assert [one.busy for one in listed] == [False] * len(listed)
        current = (await work.call("agent.status")).conversation
        assert [one.id for one in listed if one.current] == [current]
        await work.play("two")
        await work.restart()  # the guards find a file that was left open
        assert (await work.call("agent.status")).conversation == current


async def test_messages_sent_at_once_each_begin_a_turn_and_one_is_left(tmp_path):
    async with at_work(tmp_path) as work:
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(lambda number=number: work.send(f"message {number}"))
        ends = [await work.journal.end_of_turn() for _ in range(5)]
        assert [end.NAME for end in ends].count("agent.message") == 1
        assert not any(record.stop == "made" for record in work.records if hasattr(record, "stop"))
        await work.play("last")
        assert work.requests


def test_the_digest_of_this_test_is_that_of_the_protocol_reference():
    members = {
        "kind": "edit",
        "new": '\U0001f34b"\\\n\x7f',
        "old": "\u2028",
        "path": "caf\udce9",
        "proposal": "p",
        "round": 2,
    }
    canonical = json.dumps(members, sort_keys=True, separators=(",", ":"))
    wanted = hashlib.sha256(canonical.encode("ascii")).hexdigest()
    assert digest_of("p", "edit", "caf\udce9", "\u2028", members["new"], 2) == wanted
