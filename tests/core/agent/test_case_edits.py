"""Faults of agents' edits in other editors (cases E of agent.md): what is proposed is what lands, and nothing else."""

import os
import stat
import threading

import anyio
import anyio.to_thread
import pytest

from rio_core._engine.workspace.confine import Root
from support.tree import TreeSnapshot
from support.work import at_work, create, edit

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a\r\nb\r\n", "a\nb", "a\nB", b"a\r\nB\r\n", id="E1-quoted with LF"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "a\r\nB\r\nc", b"a\r\nB\r\nc\r\n", id="E1-quoted with CRLF"),
        pytest.param(b"a\rb\rc\r", "b\n", "B\nB2\n", b"a\rB\rB2\rc\r", id="E1-CR"),
        pytest.param(b"a\r\nb\nc\r\n", "b\nc", "b\nC", b"a\r\nb\nC\r\n", id="E1-mixed"),
        pytest.param(b"one\r\ntwo\r\nthree\r\n", "two", "2", b"one\r\n2\r\nthree\r\n", id="E2"),
        pytest.param(b"one\r\ntwo\r\nthree", "three", "3\n", b"one\r\ntwo\r\n3\r\n", id="E2-last line"),
        pytest.param(MARK + b"hello\nworld\n", "hello", "HELLO", MARK + b"HELLO\nworld\n", id="E4"),
        pytest.param(MARK + b"hi\r\n", "hi\n", "x\ny\n", MARK + b"x\r\ny\r\n", id="E4-CRLF"),
        pytest.param(MARK, "", "text\n", MARK + b"text\n", id="E4-empty but for the mark"),
        pytest.param(b"\xff\xfea\0\n\0", "a", "\u20ac", b"\xff\xfe\xac\x20\n\0", id="E4-UTF-16"),
        pytest.param(b"x = 1\n", "1", r"$& $$ \1 \g<0> \n {0} %s", rb"x = $& $$ \1 \g<0> \n {0} %s" + b"\n", id="E5"),
        pytest.param(b"x/legacy\ny\n", "/legacy", "", b"x\ny\n", id="E9"),
        pytest.param(b"x\n/legacy\ny\n", "/legacy", "", b"x\n\ny\n", id="E9-whole line, its end stays"),
        pytest.param(b"x\n/legacy\ny\n", "/legacy\n", "", b"x\ny\n", id="E9-with its end"),
        pytest.param(b"a\nb", "\nb", "", b"a", id="E9-last line"),
        pytest.param(b"\xa9 1999\nchange me\r\n", "change me", "changed", b"\xa9 1999\nchanged\r\n", id="E12"),
        pytest.param(b"\xa9 \xe9\r\n", "\xe9", "\xff\n\xfe", b"\xa9 \xff\r\n\xfe\r\n", id="E12-in Latin-1"),
        pytest.param(b"\x80abc\xc3\n", "abc", "abcd", b"\x80abcd\xc3\n", id="E12-broken UTF-8"),
        pytest.param("\u2028a\x0cb\x85c\n".encode(), "b", "B", "\u2028a\x0cB\x85c\n".encode(), id="E2-odd line ends"),
        pytest.param(b"", "", "first\n", b"first\n", id="empty file"),
        pytest.param("I \u2665 \U0001f34b\n".encode(), "\U0001f34b", "!", "I \u2665 !\n".encode(), id="astral"),
    ],
)  # fmt: skip
async def test_E_an_approved_edit_changes_its_place_and_no_other_byte(tmp_path, before, old, new, after):
    async with at_work(tmp_path, {"f.txt": before, "other.txt": before}) as work:
        tree = TreeSnapshot.take(work.project)
        (shown,) = await work.proposed(edit("f.txt", old, new))
        assert not tree.changes(TreeSnapshot.take(work.project))  # T03
        assert "\ufeff" not in shown.diff
        assert (await work.decide(shown)).outcome == "applied"
        await work.journal.end_of_turn()
        assert work.read("f.txt") == after
        assert not tree.unexplained(TreeSnapshot.take(work.project), {"f.txt": after})
        buffer = await work.opened("f.txt")
        assert not buffer.dirty
        undone = await work.call("buffer.undo", buffer=buffer.buffer)
        assert undone.changed
        await work.call("buffer.save", buffer=buffer.buffer)
        assert work.read("f.txt") == before


@pytest.mark.parametrize(
    ("before", "old", "told"),
    [
        ("don\u2019t\n", "don't", "Line 1 differs"),
        ("a  b \nc\n", "a b\nc", "Line 1 differs"),
        ("x\n\u201cquoted\u201d \ny", '"quoted"', "Line 2 differs"),
        ("x\n", "y", "is not in f.txt"),
    ],
)
async def test_E7_a_text_that_is_nearly_there_is_refused_with_a_hint(tmp_path, before, old, told):
    async with at_work(tmp_path, {"f.txt": before.encode()}) as work:
        await work.play(edit("f.txt", old, "new"))
        (result,) = work.told()
        assert result.is_error
        assert told in result.text
        assert "Read the file again" in result.text
        assert not work.journal.all("agent.propose")
        assert work.read("f.txt") == before.encode()


async def test_E7_quotes_beside_the_match_keep_their_form(tmp_path):
    async with at_work(tmp_path, {"f.txt": "\u201ca\u201d = 1 \n".encode()}) as work:
        (shown,) = await work.proposed(edit("f.txt", "= 1", "= 2"))
        await work.decide(shown)
        assert work.read("f.txt") == "\u201ca\u201d = 2 \n".encode()


@pytest.mark.parametrize(
    ("before", "old", "lines"),
    [
        (b"x\ny\nx\nz\nx\n", "x", "1, 3, 5"),
        (b"aaa\n", "aa", "1, 1"),  # overlapping ones count
        (b"a\r\nb\ra\nb", "a\nb", "1, 3"),
        (b"y\n" * 50, "y", "and more"),
    ],
)
async def test_E10_a_text_that_occurs_more_than_once_is_refused_with_its_lines(tmp_path, before, old, lines):
    async with at_work(tmp_path, {"f.txt": before}) as work:
        await work.play(edit("f.txt", old, "new"))
        (result,) = work.told()
        assert result.is_error
        assert lines in result.text
        assert work.read("f.txt") == before


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640, 0o4711 & 0o777])
async def test_E13_the_mode_of_a_file_stays(tmp_path, mode):
    async with at_work(tmp_path, {"run.sh": b"#!/bin/sh\necho 1\n"}) as work:
        (work.project / "run.sh").chmod(mode | stat.S_IWUSR)
        (shown,) = await work.proposed(edit("run.sh", "1", "2"))
        await work.decide(shown)
        assert stat.S_IMODE((work.project / "run.sh").stat().st_mode) == mode | stat.S_IWUSR
        assert work.read("run.sh") == b"#!/bin/sh\necho 2\n"


async def test_E14_a_symlink_stays_a_link_and_a_hard_link_stays_one_file(tmp_path):
    async with at_work(tmp_path, {"real.txt": b"1\n", "hard.txt": b"1\n"}) as work:
        (work.project / "link.txt").symlink_to("real.txt")
        os.link(work.project / "hard.txt", work.project / "second.txt")
        tree = TreeSnapshot.take(work.project)
        for path in ("link.txt", "second.txt"):
            (shown,) = await work.proposed(edit(path, "1", "2"))
            assert ("The path leads to real.txt." in shown.marks) == (path == "link.txt")
            assert (await work.decide(shown)).outcome == "applied"
            await work.journal.end_of_turn()
        assert os.readlink(work.project / "link.txt") == "real.txt"
        assert work.read("real.txt") == work.read("hard.txt") == b"2\n"
        assert (work.project / "hard.txt").samefile(work.project / "second.txt")
        written = {"real.txt": b"2\n", "hard.txt": b"2\n", "second.txt": b"2\n"}
        assert not tree.unexplained(TreeSnapshot.take(work.project), written)


async def test_E15_unsaved_text_is_what_a_proposal_is_built_on_and_is_never_saved_for_its_user(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\ntwo\n"}) as work:
        buffer = await work.type("f.txt", "typed\n")
        (shown,) = await work.proposed(edit("f.txt", "typed\none", "TYPED\none"))
        done = await work.decide(shown)
        assert done.outcome == "applied"
        assert "unsaved" in done.message
        await work.journal.end_of_turn()
        assert work.told()[0].text == done.message
        assert work.read("f.txt") == b"one\ntwo\n"
        assert await work.text(buffer) == "TYPED\none\ntwo\n"
        changed = work.journal.all("buffer.changed")[-1]
        assert (changed.origin, changed.dirty) == ("agent", True)
        await work.call("buffer.undo", buffer=buffer.buffer)
        assert await work.text(buffer) == "typed\none\ntwo\n"


async def test_E15_a_clean_file_in_the_editor_shows_the_result_and_is_told_that_it_is_saved(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        buffer = await work.opened("f.txt")
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        await work.decide(shown)
        saved = await work.journal.kind("buffer.saved")
        assert (saved.buffer, saved.path, saved.dirty) == (buffer.buffer, "f.txt", False)
        assert await work.text(buffer) == "two\n"
        assert work.read("f.txt") == b"two\n"


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("atomically", [False, True])
async def test_E16_T01_a_file_that_another_program_changed_is_shown_again_before_it_is_written(
    tmp_path, is_open, atomically
):
    async with at_work(tmp_path, {"f.txt": b"one\ntwo\n"}) as work:
        if is_open:
            await work.opened("f.txt")
        (shown,) = await work.proposed(edit("f.txt", "one", "ONE"))
        path = work.project / "f.txt"
        if atomically:
            (work.project / "new").write_bytes(b"one\nother\n")
            os.replace(work.project / "new", path)
        else:
            path.write_bytes(b"one\nother\n")
        error = await work.refused("agent.approve", **_approval(shown))
        assert error.kind == "stale"
        assert "another program" in error.message
        assert work.read("f.txt") == b"one\nother\n"
        again = await work.journal.kind("agent.propose")
        assert (again.proposal, again.call, again.round) == (shown.proposal, shown.call, 1)
        assert again.digest != shown.digest
        assert " other" in again.diff
        assert any("Another program" in mark for mark in again.marks)
        assert (await work.refused("agent.approve", **_approval(shown))).kind == "stale"
        assert (await work.decide(again)).outcome == "applied"
        assert work.read("f.txt") == b"ONE\nother\n"


async def test_E16_a_change_of_another_program_that_takes_the_text_away_is_refused_and_told(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "ONE"))
        (work.project / "f.txt").write_bytes(b"else\n")
        current = await work.show(shown)
        assert (current.at, current.round) == (None, 1)
        again = await work.journal.kind("agent.propose")
        done = await work.decide(again)
        assert done.outcome == "refused"
        await work.journal.end_of_turn()
        assert work.told()[0].is_error
        assert "no longer there" in work.told()[0].text
        assert work.read("f.txt") == b"else\n"


async def test_E16_text_typed_over_a_file_that_another_program_changed_is_not_saved_over_it(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        buffer = await work.type("f.txt", "mine\n")
        (shown,) = await work.proposed(edit("f.txt", "one", "ONE"))
        (work.project / "f.txt").write_bytes(b"theirs\n")
        assert (await work.refused("agent.approve", **_approval(shown))).kind == "stale"
        again = await work.journal.kind("agent.propose")
        assert (await work.decide(again)).outcome == "applied"
        assert work.read("f.txt") == b"theirs\n"
        assert await work.text(buffer) == "mine\nONE\n"


@pytest.mark.parametrize("kind", ["edit", "create"])
async def test_E18_E24_T03_a_rejection_changes_nothing_and_is_told_with_its_reason(tmp_path, kind):
    step = edit("f.txt", "one", "ONE") if kind == "edit" else create("new/g.txt", "text")
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        tree = TreeSnapshot.take(work.project)
        (shown,) = await work.proposed(step)
        done = await work.decide(shown, "reject", reason="Keep the \u201cold\u201d one.")
        assert done.outcome == "rejected"
        await work.journal.end_of_turn()
        assert not tree.changes(TreeSnapshot.take(work.project))
        (result,) = work.told()
        assert result.is_error
        assert result.text == done.message
        assert "Rejected by the user" in result.text
        assert "Keep the \u201cold\u201d one." in result.text
        (resolved,) = work.journal.all("agent.resolved")
        assert (resolved.decision, resolved.by, resolved.outcome) == ("reject", "test", "rejected")


async def test_E20_a_stop_while_a_proposal_is_made_leaves_nothing_behind(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n" * 20_000 + b"two\n"}) as work:
        tree = TreeSnapshot.take(work.project)
        await work.send(edit("f.txt", "two", "2"), create("g.txt", "x"))
        await work.journal.kind("agent.tool")
        await work.call("agent.stop")
        assert (await work.journal.end_of_turn()).NAME == "agent.stopped"
        history = await work.call("agent.history")
        assert history.running is None
        assert not history.proposals
        await work.play("go on")
        assert not tree.changes(TreeSnapshot.take(work.project))
        calls = {result.call for result in work.results()}
        assert len(calls) == len(work.results()) == 2


@pytest.mark.parametrize(("path", "old"), [("f.txt", "one"), ("f.txt", "not there"), (".git/config", "one")])
async def test_E20_what_is_still_being_looked_at_when_its_turn_stops_comes_to_nothing(tmp_path, monkeypatch, path, old):
    began, go_on = threading.Event(), threading.Event()
    real = Root.real

    def slow(root, path):
        began.set()
        assert go_on.wait(30)
        return real(root, path)

    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        monkeypatch.setattr(Root, "real", slow)
        await work.send(edit(path, old, "two"))
        await anyio.to_thread.run_sync(began.wait)
        await work.call("agent.stop")
        assert (await work.journal.end_of_turn()).NAME == "agent.stopped"
        closed = []

        async def close():
            closed.append(await work.call("project.close"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(close)
            await anyio.sleep(0.1)
            # The folder stays open for as long as somebody looks into it.
            assert not closed
            go_on.set()
        await work.call("project.open", path=str(work.project))
        assert [(result.ok, result.summary) for result in work.results()] == [(False, "Interrupted.")]
        assert not work.journal.all("agent.propose")
        await work.play("go on")
        assert work.requests


@pytest.mark.parametrize("how", ["deleted", "renamed", "folder deleted", "folder in its place", "pipe in its place"])
@pytest.mark.parametrize("restarted", [False, True])
async def test_E21_a_file_that_is_gone_is_told_and_others_are_not_affected(tmp_path, how, restarted):
    async with at_work(tmp_path, {"sub/f.txt": b"one\n", "g.txt": b"one\n"}) as work:
        first, second = await work.proposed(edit("sub/f.txt", "one", "ONE"), edit("g.txt", "one", "ONE"), count=2)
        path = work.project / "sub" / "f.txt"
        if how == "renamed":
            path.rename(work.project / "sub" / "h.txt")
        else:
            path.unlink()
        if how == "folder deleted":
            path.parent.rmdir()
        elif how == "folder in its place":
            path.mkdir()
        elif how == "pipe in its place":
            os.mkfifo(path)
        if restarted:
            await work.restart()
            first, second = (await work.call("agent.history")).proposals
        error = await work.refused("agent.approve", **_approval(first))
        if how in ("folder in its place", "pipe in its place"):
            assert error.kind == "unsupported"
            assert (await work.decide(first, "reject")).outcome == "rejected"
        else:
            assert error.kind == "stale"
            again = await work.journal.kind("agent.propose")
            assert any("deleted or renamed" in mark for mark in again.marks)
            current = await work.show(first)
            assert current.digest == again.digest
            done = await work.decide(again)
            there = how != "folder deleted" and not restarted
            assert done.outcome == ("applied" if there else "refused")
            assert (path.read_bytes() == b"ONE\n") if there else not path.exists()
        assert (await work.decide(second)).outcome == "applied"
        assert work.read("g.txt") == b"ONE\n"
        assert (await work.journal.end_of_turn()).NAME == "agent.message"


async def test_E22_rejecting_all_keeps_what_its_user_had_not_saved(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\ntwo\nthree\n"}) as work:
        buffer = await work.type("f.txt", "mine\n")
        shown = await work.proposed(
            edit("f.txt", "mine\none", "x"), edit("f.txt", "two", "y"), edit("f.txt", "three", "z"), count=3
        )
        for one in reversed(shown):
            await work.decide(one, "reject")
        await work.journal.end_of_turn()
        assert work.read("f.txt") == b"one\ntwo\nthree\n"
        assert await work.text(buffer) == "mine\none\ntwo\nthree\n"


async def test_T10_what_could_not_be_saved_is_said_exactly(tmp_path):
    async with at_work(tmp_path, {"a.txt": b"1\n", "b.txt": b"1\n", "c.txt": b"1\n"}) as work:
        shown = await work.proposed(*(edit(f"{name}.txt", "1", "2") for name in "abc"), count=3)
        (work.project / "b.txt").chmod(0o444)
        messages = [(await work.decide(one)).message for one in shown]
        await work.journal.end_of_turn()
        assert [result.text for result in work.told()] == messages
        assert messages[0] == "Applied to a.txt and saved."
        assert messages[2] == "Applied to c.txt and saved."
        assert [work.read(f"{name}.txt") for name in "abc"] == [b"2\n", b"1\n", b"2\n"]
        assert "could not be saved" in messages[1]
        buffer = await work.opened("b.txt")
        assert buffer.dirty
        await work.call("buffer.undo", buffer=buffer.buffer)
        assert not (await work.opened("b.txt")).dirty


def _approval(shown):
    return {"turn": shown.turn, "proposal": shown.proposal, "digest": shown.digest, "decision": "approve"}
