"""Conversations: kept, listed, resumed, renamed, exported, deleted, locked, and continued after a restart."""

import json
import stat
import time

import pytest

from rio_core._engine.agent.store import Conversations, project_folder
from rio_core.protocol import RioError
from support.living import Journal, attached, living
from support.raw import RawCore
from support.work import Plugin, Recorder, at_work, create, decision_on, edit, texts, tool


async def test_a_conversation_goes_on_after_a_restart_with_an_unchanged_beginning(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        await work.play("/say hello", tool("fs_list"), tool("fs_read", path="f.txt"), "/then", "/say done")
        first = work.requests[-1]
        conversation = (await work.call("agent.status")).conversation
        await work.restart()
        assert (await work.call("agent.status")).conversation == conversation
        await work.play("next")
        last = work.requests[-1]
        assert last.messages[: len(first.messages)] == first.messages
        assert (last.conversation, last.context) == (first.conversation, first.context)


@pytest.mark.parametrize("decisions", [("approve", "approve"), ("reject", "approve"), ("approve", "reject")])
async def test_a_turn_that_waits_goes_on_waiting_after_a_restart_and_the_last_decision_continues_it(
    tmp_path, decisions
):
    async with at_work(tmp_path, {"f.txt": b"a\nb\n"}) as work:
        before = await work.proposed(
            tool("fs_list"), edit("f.txt", "a", "A"), create("g.txt", "g"), "/then", "/say all decided", count=2
        )
        waiting = (await work.call("agent.history")).proposals
        await work.restart()
        shown = await work.call("agent.history")
        assert shown.proposals == waiting
        assert shown.running.turn == before[0].turn
        assert (await work.call("agent.status")).waiting == 2
        whole = await work.show(before[0])
        assert (whole.digest, whole.diff, whole.at) == (before[0].digest, before[0].diff, (0, 0))
        await work.decide(before[0], decisions[0])
        await work.restart()
        assert [one.proposal for one in (await work.call("agent.history")).proposals] == [before[1].proposal]
        requests = len(work.requests)
        await work.decide(before[1], decisions[1])
        assert (await work.journal.end_of_turn()).text == "all decided"
        assert len(work.requests) == requests + 1
        assert [result.is_error for result in work.told()] == [False, *(decision == "reject" for decision in decisions)]
        assert (work.read("f.txt") == b"A\nb\n") == (decisions[0] == "approve")
        assert (work.project / "g.txt").exists() == (decisions[1] == "approve")


async def test_a_file_that_changed_while_no_core_ran_is_shown_again(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"a\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "a", "A"))
        await work.stop()
        (work.project / "f.txt").write_bytes(b"a\nmore\n")
        await work.start()
        assert (await work.refused("agent.approve", **decision_on(shown, "approve"))).kind == "stale"
        again = await work.journal.kind("agent.propose")
        assert again.round == 1
        await work.restart()
        (waiting,) = (await work.call("agent.history")).proposals
        assert (waiting.digest, waiting.round) == (again.digest, 1)
        await work.decide(waiting)
        assert work.read("f.txt") == b"A\nmore\n"


@pytest.mark.parametrize("gone", ["file", "folder", "link out"])
async def test_a_project_opens_whatever_became_of_what_waits(tmp_path, gone):
    async with at_work(tmp_path, {"sub/f.txt": b"a\n"}) as work:
        (shown,) = await work.proposed(edit("sub/f.txt", "a", "A"))
        await work.stop()
        (work.project / "sub" / "f.txt").unlink()
        if gone != "file":
            (work.project / "sub").rmdir()
        if gone == "link out":
            (work.project / "sub").symlink_to(tmp_path)
        await work.start()
        (waiting,) = (await work.call("agent.history")).proposals
        assert waiting.digest == shown.digest
        await work.decide(waiting, "reject")
        assert (await work.journal.end_of_turn()).NAME == "agent.message"


async def test_a_kill_leaves_the_turn_waiting_and_the_text_in_place(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "f.txt").write_bytes(b"a\n")
    with RawCore() as core:
        core.hello(project)
        core.call("agent.send", text="/say I begin\n" + edit("f.txt", "a", "A"))
        shown = core.event("agent.propose")
        core.kill()
    assert (project / "f.txt").read_bytes() == b"a\n"
    with RawCore() as core:
        core.hello(project)
        (waiting,) = core.call("agent.history")["proposals"]
        assert waiting["digest"] == shown["digest"]
        given = {name: shown[name] for name in ("turn", "proposal", "digest")}
        assert core.call("agent.approve", **given, decision="approve")["outcome"] == "applied"
        assert core.event("agent.message")["text"].endswith("echo: done")
        core.kill()
    assert (project / "f.txt").read_bytes() == b"A\n"


@pytest.mark.parametrize("moment", ["thinking", "streaming", "tool", "between"])
async def test_a_turn_that_was_at_work_is_ended_by_a_restart_and_leaves_a_valid_history(tmp_path, moment):
    scripts = {
        "thinking": ["/think hm", "/pause 30"],
        "streaming": ["/say half", "/pause 30"],
        "tool": ["/say half", *(tool("fs_search", pattern="x") for _ in range(40))],
        "between": [tool("fs_list"), "/then", "/say half", "/pause 30"],
    }
    async with at_work(tmp_path, {f"{n}.txt": b"x\n" for n in range(50)}) as work:
        await work.send(*scripts[moment])
        await work.journal.kind({"thinking": "agent.thinking", "tool": "agent.tool"}.get(moment, "agent.delta"))
        await work.restart()
        shown = await work.call("agent.history")
        assert shown.running is None
        assert ("half" in str(shown.messages[-1].blocks) + str(shown.messages[-2:])) == (moment != "thinking")
        await work.play("go on")
        assert texts(work.requests[-1].messages)[-1] == "go on"


async def test_conversations_are_listed_renamed_resumed_and_deleted(tmp_path):
    async with at_work(tmp_path) as work:
        first = (await work.call("agent.status")).conversation
        await work.play("the first one\nwith more lines")
        second = (await work.call("agent.reset")).conversation
        assert second != first
        assert (await work.call("agent.history")).messages == []
        await work.play("the second one " + "x" * 100)
        await work.call("agent.rename", conversation=first, title="  My\n title ")
        listed = (await work.call("agent.conversations")).conversations
        assert [(one.id, one.title, one.messages, one.current, one.busy) for one in listed] == [
            (second, ("the second one " + "x" * 100)[:59] + "\u2026", 1, True, False),
            (first, "My title", 1, False, False),
        ]
        assert abs(listed[0].created - time.time()) < 60
        assert (await work.call("agent.resume", conversation=first)).conversation == first
        shown = await work.call("agent.history")
        assert [message.blocks[0]["text"][:13] for message in shown.messages] == ["the first one", "echo: the fir"]
        await work.play("again")
        assert len(work.requests[-1].messages) == 3
        await work.call("agent.rename", conversation=first, title="Current")
        await work.restart()
        assert (await work.call("agent.status")).conversation == first
        assert (await work.refused("agent.delete", conversation=first)).kind == "conflict"
        await work.call("agent.delete", conversation=second)
        listed = (await work.call("agent.conversations")).conversations
        assert [(one.id, one.title) for one in listed] == [(first, "Current")]
        assert (await work.refused("agent.resume", conversation=second)).kind == "not_found"


@pytest.mark.parametrize(
    "name", ["", "..", "../../x", "20250101T000000000000-00000000", "a/b", "\0", "x" * 5000, "\ud800"]
)
async def test_a_conversation_that_is_none_is_not_found(tmp_path, name):
    async with at_work(tmp_path) as work:
        for op, more in {
            "agent.resume": {}, "agent.rename": {"title": "x"}, "agent.export": {}, "agent.delete": {},
        }.items():  # fmt: skip
            assert (await work.refused(op, conversation=name, **more)).kind == "not_found"


@pytest.mark.parametrize("title", ["", " \n\t"])
async def test_a_blank_title_is_refused(tmp_path, title):
    async with at_work(tmp_path) as work:
        current = (await work.call("agent.status")).conversation
        assert (await work.refused("agent.rename", conversation=current, title=title)).kind == "bad_message"


@pytest.mark.parametrize("op", ["agent.reset", "agent.resume"])
async def test_leaving_a_conversation_stops_its_turn_and_withdraws_what_waits(tmp_path, op):
    async with at_work(tmp_path, {"f.txt": b"a\n"}) as work:
        await work.play("old")
        old = (await work.call("agent.status")).conversation
        middle = (await work.call("agent.reset")).conversation
        (shown,) = await work.proposed(edit("f.txt", "a", "A"))
        await work.call(op, **({"conversation": old} if op == "agent.resume" else {}))
        assert (await work.journal.end_of_turn()).NAME == "agent.stopped"
        assert [one.outcome for one in work.journal.all("agent.resolved")] == ["interrupted"]
        assert (await work.refused("agent.approve", **decision_on(shown, "approve"))).kind == "not_found"
        await work.call("agent.resume", conversation=middle)
        history = await work.call("agent.history")
        assert (history.running, history.proposals) == (None, [])
        await work.play("go on")
        assert work.read("f.txt") == b"a\n"


async def test_a_second_core_on_the_project_begins_a_conversation_of_its_own(tmp_path):
    async with at_work(tmp_path) as work:
        await work.play("mine")
        held = (await work.call("agent.status")).conversation
        async with living(work.home, Plugin(Recorder())) as core, attached(core, work.project) as other:
            theirs = (await other.call("agent.status")).conversation
            assert theirs != held
            listed = (await other.call("agent.conversations")).conversations
            assert {one.id: (one.busy, one.current) for one in listed} == {theirs: (False, True), held: (True, False)}
            for op in ("agent.resume", "agent.delete", "agent.rename"):
                with pytest.raises(RioError, match="open in another rio") as refused:
                    await other.call(op, conversation=held, **({"title": "x"} if op == "agent.rename" else {}))
                assert refused.value.kind == "conflict"
            # Reading harms nobody.
            assert "mine" in (await other.call("agent.export", conversation=held)).text
            journal = Journal(other)
            await other.call("agent.send", text="theirs")
            await journal.end_of_turn()
            journal.close()
        await work.play("still mine")
        assert [message.blocks[0]["text"] for message in (await work.call("agent.history")).messages][::2] == [
            "mine", "still mine",
        ]  # fmt: skip
        await work.call("agent.resume", conversation=theirs)


async def test_an_export_holds_everything_and_comes_in_pages(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"a\n"}) as work:
        (shown,) = await work.proposed(
            "/say I change it", tool("fs_list"), edit("f.txt", "a", "A"), "/then", "/fail server broke"
        )
        await work.decide(shown, "reject")
        await work.journal.end_of_turn()
        await work.play("\U0001f34b" * 200_000)
        await work.play("/stop refusal")
        current = (await work.call("agent.status")).conversation
        pieces, first = [], 0
        while True:
            page = await work.call("agent.export", conversation=current, first=first)
            assert len(json.dumps(page.text)) <= 250_000
            pieces.append(page.text)
            if not isinstance(page.next, int):
                break
            assert page.next == first + len(page.text)
            first = page.next
        whole = "".join(pieces)
        assert len(pieces) > 2
        assert whole.count("\U0001f34b") == 400_000
        assert whole.startswith("# /say I change it\n")
        for part in (
            "## You",
            "## Agent",
            "Called `propose_edit`",
            "not done: Rejected: f.txt",
            "broke",
            "declined by the provider",
        ):
            assert part in whole, part
        await work.call("agent.reset")
        assert (await work.call("agent.export", conversation=current)).text == pieces[0]
        assert (await work.call("agent.export", conversation=current, first=10**9)).text == ""


async def test_history_comes_in_pages_and_each_fits_an_answer(tmp_path):
    async with at_work(tmp_path) as work:
        for number in range(30):
            await work.play(f"{number} " + "\u20ac" * 3000)
        await work.play("\U0001f34b" * 100_000)
        seen, before = [], None
        while True:
            page = await work.call("agent.history", limit=7, **({} if before is None else {"before": before}))
            assert len(page.messages) <= 7
            assert page.total == 62
            seen = page.messages + seen
            if not isinstance(page.before, int):
                break
            before = page.before
        assert [message.index for message in seen] == list(range(62))
        assert [message.role for message in seen] == ["user", "assistant"] * 31
        assert seen[-2].blocks[0]["cut"] is True
        assert seen[0].blocks[0]["text"].startswith("0 \u20ac")


async def test_what_is_kept_is_its_users_alone(tmp_path):
    async with at_work(tmp_path) as work:
        await work.play("private")
        folder = work.log.parent
        assert stat.S_IMODE(work.log.stat().st_mode) == 0o600
        while folder != tmp_path / "home":
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
            folder = folder.parent
        assert not list(work.project.iterdir())


async def test_what_cannot_be_read_in_the_folder_hides_nothing_else(tmp_path):
    async with at_work(tmp_path) as work:
        await work.play("one")
        held = (await work.call("agent.status")).conversation
        folder = work.log.parent
        (folder / "20250101T000000000000-00000001.jsonl").mkdir()
        (folder / "20990101T000000000000-00000002.jsonl").symlink_to("/etc/passwd")
        (folder / "notes.txt").write_text("mine")
        assert [one.id for one in (await work.call("agent.conversations")).conversations] == [held]
        await work.restart()
        assert (await work.call("agent.status")).conversation == held


async def test_two_projects_of_one_name_have_their_own_conversations(tmp_path):
    folders = {project_folder(tmp_path, root) for root in ("/a/x", "/b/x", "/a/x y", "/", "/a/x/", "/\udce9")}
    assert len(folders) == 6
    assert all(folder.parent == tmp_path / "projects" for folder in folders)
    first, second = Conversations(tmp_path / "1"), Conversations(tmp_path / "2")
    log = first.create()
    try:
        assert [one.id for one in first.list(log.id)] == [log.id]
        assert second.list("") == []
    finally:
        log.close()
