"""Failures of providers, of the disk and of patience: each is told with a kind and an action, and nothing is lost."""

import os
import resource
import subprocess
import sys
import threading
from typing import get_args

import anyio
import anyio.to_thread
import pytest

from rio_core.api import Delta, Done, Thinking, ToolCall, Usage, Waiting
from rio_core.protocol import RioError
from rio_core.protocol.events import FailureKind
from support.tree import TreeSnapshot
from support.work import Scripted, at_work, create, decision_on, edit, texts, tool


@pytest.mark.parametrize("kind", get_args(FailureKind))
@pytest.mark.parametrize("began", [True, False])
async def test_each_kind_of_failure_is_told_and_the_next_text_joins_the_message(tmp_path, kind, began):
    async with at_work(tmp_path) as work:
        end = await work.play(*(["/say so far"] if began else []), f"/fail {kind} it broke")
        assert (end.NAME, end.kind, end.message, bool(end.action)) == ("agent.error", kind, "it broke", True)
        assert (await work.call("agent.status")).running is None
        await work.play("again")
        messages = work.requests[-1].messages
        if began:
            assert [message.role for message in messages] == ["user", "assistant", "user"]
            assert texts(messages)[1:] == ["so far", "again"]
        else:
            assert [message.role for message in messages] == ["user"]
            assert texts(messages)[1:] == ["again"]


async def raises(request, post):
    raise ZeroDivisionError("boom\x1b[2J")


async def silent(request, post):
    pass


async def nonsense(request, post):
    await post("what")


async def late(request, post):
    await post(Done("end_turn"))
    await post(Delta("too late"))


@pytest.mark.parametrize("answer", [raises, silent, nonsense])
async def test_a_provider_that_breaks_its_contract_is_contained(tmp_path, answer, expect_log):
    if answer is raises:
        expect_log("rio_core._engine.plugins.handle: Provider scripted")
    provider = Scripted(answer, [Delta("fine"), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        end = await work.play("x")
        assert (end.NAME, end.kind) == ("agent.error", "unexpected_response" if answer is silent else "internal")
        assert "Scripted" in end.message or "scripted" in end.message
        assert "\x1b" not in end.message
        assert (await work.play("again")).text == "fine"
        assert texts(work.requests[-1].messages) == ["x", "again"]


async def test_nothing_is_taken_after_the_end(tmp_path):
    async with at_work(tmp_path, {}, Scripted(late)) as work:
        assert (await work.play("x")).text == ""


async def test_without_a_provider_the_text_is_kept_and_the_next_step_is_named(tmp_path):
    async with at_work(tmp_path) as work:
        await work.stop()
        work.providers = []
        await work.start()
        end = await work.play("hello?")
        assert (end.kind, "rio-provider-echo" in end.action) == ("not_configured", True)
        status = await work.call("agent.status")
        assert (status.provider, status.model) == (None, None)
        await work.stop()
        work.providers = [Scripted([Delta("here"), Done("end_turn")])]
        await work.start()
        await work.play("now?")
        assert texts(work.requests[-1].messages) == ["hello?", "now?"]


async def test_a_provider_that_is_selected_and_gone_is_not_replaced_in_silence(tmp_path):
    one, two = Scripted(name="one"), Scripted([Delta("."), Done("end_turn")], name="two")
    async with at_work(tmp_path, {}, one, two) as work:
        await work.call("provider.select", name="one")
        await work.stop()
        work.providers = [two]
        await work.start()
        end = await work.play("x")
        assert (end.kind, "one" in end.message) == ("not_configured", True)
        assert not two.requests


async def test_a_provider_selected_in_a_turn_counts_from_the_next_one(tmp_path):
    one = Scripted(
        [ToolCall("c", "propose_create", {"path": "f", "text": ""}), Done("tool_use")],
        [Delta("1"), Done("end_turn")],
        name="one",
    )
    two = Scripted([Delta("2"), Done("end_turn")], name="two")
    async with at_work(tmp_path, {}, one, two) as work:
        await work.call("provider.select", name="one")
        (shown,) = await work.proposed("x")
        await work.call("provider.select", name="two")
        await work.decide(shown)
        assert (await work.journal.end_of_turn()).text == "1"
        assert one.requests[0].context == one.requests[1].context
        assert (await work.play("y")).text == "2"


async def test_the_tools_and_the_prompt_of_a_turn_stay_as_they_were_when_it_began(tmp_path):
    async with at_work(tmp_path, {"AGENTS.md": b"first\n"}) as work:
        await work.call("project.trust", path=str(work.project))
        (shown,) = await work.proposed(create("f", ""))
        (work.project / "AGENTS.md").write_bytes(b"second\n")
        await work.decide(shown)
        await work.journal.end_of_turn()
        first, second = work.requests
        assert (first.system, first.tools, first.context) == (second.system, second.tools, second.context)
        await work.play("next")
        assert "second" in work.requests[-1].system[-1]
        assert work.requests[-1].context != first.context


# -- usage, waiting -------------------------------------------------------------------------------------------------


async def test_what_the_provider_tells_of_its_work_is_passed_on(tmp_path):
    provider = Scripted(
        [Waiting(7, "busy"), Thinking("hm"), Usage(input=5), Usage(input=5, output=2, cost=0.5),
         ToolCall("c", "fs_list", {}), Done("tool_use")],
        [Delta("a"), Done("end_turn", Usage(input=10, output=1, cost=0.25, estimate="prices of May"))],
    )  # fmt: skip
    async with at_work(tmp_path, {}, provider) as work:
        end = await work.play("x")
        (waited,) = work.journal.all("agent.waiting")
        assert (waited.seconds, waited.reason) == (7, "busy")
        assert [event.text for event in work.journal.all("agent.thinking")] == ["hm"]
        assert (end.usage.input, end.usage.output, end.usage.cost, end.usage.estimate) == (15, 3, 0.75, "prices of May")
        assert [event.usage.output for event in work.journal.all("agent.usage")] == [0, 2, 3]


# -- stop -----------------------------------------------------------------------------------------------------------

STAGES = {
    "thinking": (["/think hm", "/pause 60"], "agent.thinking"),
    "streaming": (["/say half", "/pause 60"], "agent.delta"),
    "flood": (["/flood 100000"], "agent.delta"),
    "tool": ([tool("fs_search", pattern="x") for _ in range(50)], "agent.tool_result"),
    "waiting": ([edit("0.txt", "x", "y")], "agent.propose"),
    "second answer": ([tool("fs_list"), "/then", "/say half", "/pause 60"], "agent.delta"),
}


@pytest.mark.parametrize("stage", STAGES)
async def test_a_stop_works_at_once_in_every_stage(tmp_path, stage):
    lines, sign = STAGES[stage]
    async with at_work(tmp_path, {f"{number}.txt": b"x\n" for number in range(20)}) as work:
        before = TreeSnapshot.take(work.project)
        turn = await work.send(*lines)
        await work.journal.kind(sign)
        stopped = await work.call("agent.stop", turn=turn)
        assert (stopped.stopped, stopped.queued) == (1, [])
        assert (await work.journal.end_of_turn()).NAME == "agent.stopped"
        again = await work.call("agent.stop")
        assert (again.stopped, again.queued) == (0, [])
        history = await work.call("agent.history")
        assert (history.running, history.proposals) == (None, [])
        await work.play("go on")
        said = texts(work.requests[-1].messages)
        assert said[-1] == "go on"
        assert ("half" in said) == ("half" in str(lines))
        after = [event for event in work.journal.seen if getattr(event, "turn", "") == turn]
        assert after[-1].NAME == "agent.stopped"
        assert not before.changes(TreeSnapshot.take(work.project))


async def test_many_impatient_stops_count_once(tmp_path):
    async with at_work(tmp_path) as work:
        await work.send("/pause 60")
        counts = []

        async def stop():
            counts.append((await work.call("agent.stop")).stopped)

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(stop)
        assert sorted(counts) == [0] * 9 + [1]


async def test_a_provider_that_will_not_be_cancelled_holds_nobody_up(tmp_path):
    async def stubborn(request, post):
        began.set()
        while not released.is_set():
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.02)
        await post(Delta("late"))

    began, released = threading.Event(), threading.Event()
    provider = Scripted(stubborn, [Delta("next"), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        await work.send("x")
        await anyio.to_thread.run_sync(began.wait)
        with anyio.fail_after(5):
            await work.call("agent.stop")
            await work.journal.end_of_turn()
        released.set()
        assert (await work.play("y")).text == "next"
        assert texts(work.requests[-1].messages) == ["x", "y"]


# -- the disk ---------------------------------------------------------------------------------------------------------

FULL = """
import resource, signal, sys
import anyio
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.work import at_work, edit, decision_on
from rio_core.protocol import RioError

async def main():
    base = Path(sys.argv[2])
    async with at_work(base, {"f.txt": b"one\\n"}) as work:
        await work.play("before")
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        size = work.log.stat().st_size
        whole = work.log.read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
        done = await work.decide(shown)
        assert done.outcome == "applied", done
        assert work.read("f.txt") == b"two\\n"
        end = await work.journal.end_of_turn()
        assert (end.NAME, end.kind) == ("agent.error", "internal"), end
        assert "cannot be written" in end.message and end.action
        assert work.log.read_bytes() == whole
        error = await work.refused("agent.send", text="while it is full")
        assert error.kind == "io", error.kind
        assert (await work.refused("agent.rename", conversation=work.log.stem, title="x")).kind == "io"
        assert (await work.call("agent.history")).notices
        assert (await work.call("agent.status")).running is None
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if sys.argv[3] == "goes on":
            await work.play("after")
        history = await work.call("agent.history")
        await work.restart()
        again = await work.call("agent.history")
        assert again.messages == history.messages
        assert not again.notices, again.notices
        assert not again.proposals
        await work.play("at last")
        assert work.requests

anyio.run(main)
print("whole")
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on the size of files")
@pytest.mark.parametrize("then", ["goes on", "ends"])
def test_a_full_disk_under_the_conversation_is_told_and_loses_nothing(tmp_path, then):
    tests = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    command = [sys.executable, "-c", FULL, tests, str(tmp_path), then]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "whole\n", ran.stderr


async def test_a_state_folder_that_cannot_be_written_is_named(tmp_path):
    async with at_work(tmp_path) as work:
        await work.play("one")
        folder = work.log.parent
        await work.stop()
        folder.rename(folder.with_name("kept"))
        folder.write_bytes(b"in the way")
        with pytest.raises(BaseExceptionGroup) as failure:
            await work.start()
        assert failure.group_contains(RioError, match="cannot be kept in")
        await work.stop()
        folder.unlink()
        folder.with_name("kept").rename(folder)
        await work.start()
        assert (await work.call("agent.history")).total == 2


async def test_a_decision_is_not_lost_on_a_turn_that_fails_beside_it(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"), "/then", "/fail server broke")
        await work.decide(shown)
        end = await work.journal.end_of_turn()
        assert (end.NAME, end.kind) == ("agent.error", "server")
        assert (await work.refused("agent.approve", **decision_on(shown, "approve"))).kind == "not_found"
        assert work.read("f.txt") == b"two\n"
        await work.play("again")
        assert "Applied to f.txt and saved." in texts(work.requests[-1].messages)
