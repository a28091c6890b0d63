"""Proposals and decisions, field by field as the contract has them (DESIGN sections 4 and 6; security T and J07)."""

import hashlib
import json
import os

import anyio
import pytest

from rio_core.protocol import RioError
from support.living import Journal, attached, living
from support.tree import TreeSnapshot
from support.work import Plugin, Recorder, at_work, create, decision_on, digest_of, edit, tool

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
        assert (waiting.turn, waiting.proposal, waiting.call, waiting.kind, waiting.path, waiting.digest, waiting.round) == (
            turn, shown.proposal, shown.call, "edit", "sub/f.txt", shown.digest, 0,
        )  # fmt: skip


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
        steps = [edit("f.txt", "a", "A"), *(tool("fs_search", pattern="needle") for _ in range(4)), edit("f.txt", "b", "B")]
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


@pytest.mark.parametrize("ops", [["agent.reset", "agent.reset"], ["agent.resume", "agent.resume"], ["agent.reset", "agent.resume"]])
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


# -- what makes a decision stale, and what does not -------------------------------------------------------------


async def test_typing_and_own_saves_never_make_a_proposal_stale(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\ntwo\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "two", "2"))
        buffer = await work.type("f.txt", "typed\n")
        assert (await work.show(shown)).at == (2, 0)
        await work.call("buffer.save", buffer=buffer.buffer)
        await work.type("f.txt", "more\n")
        await work.call("buffer.save", buffer=buffer.buffer)
        whole = await work.show(shown)
        assert (whole.at, whole.digest) == ((3, 0), shown.digest)
        assert (await work.decide(shown)).outcome == "applied"
        assert work.read("f.txt") == b"more\ntyped\none\n2\n"


@pytest.mark.parametrize(("typed", "at"), [("two\n", None), ("t", (0, 4))])
async def test_at_is_null_where_the_text_is_gone_or_ambiguous(tmp_path, typed, at):
    async with at_work(tmp_path, {"f.txt": b"one two\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "two", "2"))
        await work.type("f.txt", typed, (0, 0) if at is None else at)
        assert (await work.show(shown)).at == ((0, 5) if at else None)
        done = await work.decide(shown)
        assert done.outcome == ("applied" if at else "refused")
        if not at:
            assert "several times" in done.message
            assert "Read the file again" in done.message


async def test_an_old_digest_is_refused_after_each_round(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        rounds = [shown]
        for number in range(1, 4):
            (work.project / "f.txt").write_bytes(f"one\n{number}\n".encode())
            assert (await work.refused("agent.approve", **decision_on(rounds[-1], "approve"))).kind == "stale"
            rounds.append(await work.journal.kind("agent.propose"))
            assert rounds[-1].round == number
            assert rounds[-1].digest == digest_of(shown.proposal, "edit", "f.txt", "one", "two", number)
        for old in rounds[:-1]:
            for decision in ("approve", "reject"):
                assert (await work.refused("agent.approve", **decision_on(old, decision))).kind == "stale"
        await work.decide(rounds[-1])
        assert work.read("f.txt") == b"two\n3\n"


async def test_a_file_touched_without_another_content_is_not_another_round(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        os.utime(work.project / "f.txt", (1, 1))
        assert (await work.decide(shown)).outcome == "applied"
        assert work.read("f.txt") == b"two\n"


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling link out", "pipe"])
async def test_a_creation_whose_target_has_appeared_is_refused(tmp_path, kind):
    async with at_work(tmp_path) as work:
        (shown,) = await work.proposed(create("f.txt", "mine"))
        path, outside = work.project / "f.txt", tmp_path / "outside"
        if kind == "file":
            path.write_bytes(b"theirs")
        elif kind == "folder":
            path.mkdir()
        elif kind == "link":
            (work.project / "g.txt").write_bytes(b"theirs")
            path.symlink_to("g.txt")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(outside)
        tree = TreeSnapshot.take(tmp_path / "project")
        try:
            assert (await work.decide(shown)).outcome == "refused"
        except RioError as error:
            assert error.kind == "outside"
        assert not tree.changes(TreeSnapshot.take(tmp_path / "project"))
        assert not outside.exists()


async def test_a_path_that_leads_to_git_by_the_time_of_approval_is_refused(tmp_path):
    async with at_work(tmp_path, {".git/config": b"[core]\n", "docs/config": b"[core]\n"}) as work:
        first, second = await work.proposed(create("docs/hooks", "x"), edit("docs/config", "core", "x"), count=2)
        (work.project / "docs").rename(work.project / "gone")
        (work.project / "docs").symlink_to(".git")
        tree = TreeSnapshot.take(work.project)
        for shown in (first, second):
            assert (await work.refused("agent.approve", **decision_on(shown, "approve"))).kind == "protected"
        assert not tree.changes(TreeSnapshot.take(work.project))


# -- limits and kinds of change -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "fits"), [(1024 * 1024 - 3, True), (1024 * 1024 - 2, False)])
async def test_old_and_new_are_at_most_a_mebibyte_together(tmp_path, size, fits):
    provider_text = "\u00e9" * (size // 2) + "x" * (size % 2)
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        await work.send(edit("f.txt", "one", provider_text))
        event = await work.journal.kind("agent.propose", "agent.message")
        assert (event.NAME == "agent.propose") == fits
        if not fits:
            assert "1048576 is the most" in work.told()[0].text


@pytest.mark.parametrize(
    ("before", "old", "new", "said"),
    [
        (b"text\n", "", "x", "not empty"),
        (b"text\n", "text", "text", "changes nothing"),
        (b"a\r\n", "a\r\n", "a\n", "changes nothing"),
        (b"", "x", "y", "is not in"),
        (b"\xe9\n", "\xe9", "\u20ac", "cannot hold"),
        (None, "x", "y", "f.txt"),
        (None, "", "y", "f.txt"),
    ],
)
async def test_what_cannot_be_changed_is_told_to_the_model_and_not_shown(tmp_path, before, old, new, said):
    async with at_work(tmp_path, {} if before is None else {"f.txt": before}) as work:
        await work.play(edit("f.txt", old, new))
        assert not work.journal.all("agent.propose")
        (result,) = work.told()
        assert result.is_error
        assert said in result.text
        (event,) = work.journal.all("agent.tool_result")
        assert (event.ok, event.call) == (False, result.id)
        assert event.summary


async def test_a_changed_text_that_the_encoding_cannot_hold_leaves_the_proposal_waiting(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"\xe9 one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "1"))
        error = await work.refused("agent.approve", **decision_on(shown, "approve", text="\u20ac"))
        assert error.kind == "encoding"
        assert "U+20AC" in error.message
        assert (await work.decide(shown)).outcome == "applied"
        assert work.read("f.txt") == b"\xe9 1\n"


async def test_with_saving_turned_off_the_change_stays_in_the_editor(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        await work.call("settings.set", key="agent.save", value=False)
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        done = await work.decide(shown)
        assert (done.outcome, "not saved yet" in done.message) == ("applied", True)
        assert work.read("f.txt") == b"one\n"
        buffer = await work.opened("f.txt")
        assert buffer.dirty
        assert await work.text(buffer) == "two\n"


async def test_a_file_that_was_not_open_has_its_undo_when_it_is_opened(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\r\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two\nthree"))
        await work.decide(shown)
        buffer = await work.opened("f.txt")
        undone = await work.call("buffer.undo", buffer=buffer.buffer)
        assert (undone.changed, await work.text(buffer)) == (True, "one\r\n")
        assert not (await work.call("buffer.undo", buffer=buffer.buffer)).changed
        await work.call("buffer.redo", buffer=buffer.buffer)
        assert await work.text(buffer) == "two\r\nthree\r\n"


async def test_a_very_long_changed_form_is_written_whole_and_told_in_part(tmp_path):
    text = "".join(f"line {number}\n" for number in range(40_000))
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one\n", "two\n"))
        done = await work.decide(shown, text=text)
        await work.journal.end_of_turn()
        assert work.read("f.txt") == text.encode()
        assert len(done.message) < 70_000
        assert "cut here" in done.message


# -- who decides --------------------------------------------------------------------------------------------------


async def test_J07_another_front_end_sees_everything_and_decides_nothing(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed("/think hm", "/say I change it", edit("f.txt", "one", "two"))
        async with attached(work.core, work.project, approve=True, client="second") as second:
            history = await second.call("agent.history")
            assert history.running.turn == shown.turn
            assert [one.proposal for one in history.proposals] == [shown.proposal]
            assert [block["type"] for block in history.messages[1].blocks] == ["thinking", "text", "tool_call"]
            assert history.messages[1].blocks[1]["text"] == "I change it"
            whole = await second.call("agent.proposal", turn=shown.turn, proposal=shown.proposal)
            assert whole.digest == shown.digest
            for op, params in {
                "agent.approve": decision_on(shown, "approve"),
                "agent.send": {"text": "x"},
                "agent.reset": {},
                "agent.resume": {"conversation": history.conversation},
                "agent.delete": {"conversation": history.conversation},
                "agent.unqueue": {"queued": "q"},
            }.items():
                with pytest.raises(RioError) as refused:
                    await second.call(op, **params)
                assert refused.value.kind == "forbidden", op
            assert work.read("f.txt") == b"one\n"
        done = await work.decide(shown)
        assert done.outcome == "applied"
        assert (await work.journal.kind("agent.resolved")).by == "test"


async def test_J07_the_right_to_decide_passes_on_only_when_its_owner_leaves(tmp_path):
    (tmp_path / "f.txt").write_bytes(b"one\n")
    async with living(tmp_path / "home", Plugin(Recorder())) as core:
        async with attached(core, tmp_path) as owner, attached(core, tmp_path) as second:
            journal = Journal(owner)
            await owner.call("agent.send", text=edit("f.txt", "one", "two"))
            shown = await journal.kind("agent.propose")
            journal.close()
            with pytest.raises(RioError, match="owns decisions"):
                await second.call("agent.approve", **decision_on(shown, "approve"))
        async with attached(core, tmp_path, approve=False) as quiet:
            with pytest.raises(RioError, match="owns decisions"):
                await quiet.call("agent.approve", **decision_on(shown, "approve"))
            async with attached(core, tmp_path) as heir:
                assert (await heir.call("agent.approve", **decision_on(shown, "approve"))).outcome == "applied"


async def test_a_front_end_that_attaches_late_sees_the_reply_that_is_coming_in(tmp_path):
    async with at_work(tmp_path) as work:
        turn = await work.send("/think deep", "/say so far", "/pause 30")
        await work.journal.kind("agent.delta")
        await work.journal.kind("agent.delta")
        async with attached(work.core, work.project, approve=False) as late:
            running = (await late.call("agent.history")).running
            assert (running.turn, running.text, running.thinking) == (turn, "so far", "deep")
            assert (await late.call("agent.status")).running == turn
            assert (await late.call("agent.stop", turn="another")).stopped == 0
            assert (await late.call("agent.stop", turn=turn)).stopped == 1
        shown = await work.call("agent.history")
        assert shown.messages[-1].blocks == [{"type": "text", "text": "so far"}]
        assert shown.messages[-1].stop == "stopped"


def test_the_digest_of_this_test_is_that_of_the_protocol_reference():
    members = {"kind": "edit", "new": "\U0001f34b\"\\\n\x7f", "old": "\u2028", "path": "caf\udce9", "proposal": "p", "round": 2}
    canonical = json.dumps(members, sort_keys=True, separators=(",", ":"))
    wanted = hashlib.sha256(canonical.encode("ascii")).hexdigest()
    assert digest_of("p", "edit", "caf\udce9", "\u2028", members["new"], 2) == wanted
