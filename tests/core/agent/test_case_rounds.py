"""What makes a decision stale and what does not, what can be proposed at all, and who decides."""

import os

import pytest

from rio_core._engine.agent.desk import Desk
from rio_core.protocol import RioError
from support.living import Journal, attached, living
from support.tree import TreeSnapshot
from support.work import Plugin, Recorder, at_work, create, decision_on, digest_of, edit


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


async def test_what_another_program_writes_at_the_last_moment_is_never_overwritten(tmp_path, monkeypatch):
    apply = Desk.apply

    async def late(desk, record, new):
        (work.project / "f.txt").write_bytes(b"one\nlate\n")
        return await apply(desk, record, new)

    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        (work.project / "f.txt").write_bytes(b"one\nmore\n")
        assert (await work.refused("agent.approve", **decision_on(shown, "approve"))).kind == "stale"
        again = await work.journal.kind("agent.propose")
        monkeypatch.setattr(Desk, "apply", late)
        done = await work.decide(again)
        assert "could not be saved" in done.message
        assert work.read("f.txt") == b"one\nlate\n"
        assert (await work.opened("f.txt")).dirty


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
        outcome = await work.outcome_of(work.decide(shown))
        assert outcome == ("outside" if kind == "dangling link out" else "refused")
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
