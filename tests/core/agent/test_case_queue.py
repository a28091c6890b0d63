"""Late decisions and waiting messages (cases P of agent.md)."""

import anyio
import pytest

from rio_core.api import ToolUse
from support.work import at_work, decision_on, edit

MADE_UP = "made_up"


def calls_of(request):
    return [block for message in request.messages for block in message.blocks if isinstance(block, ToolUse)]


@pytest.mark.parametrize("how", ["stop", "send", "reset", "decided"])
async def test_P3_a_decision_that_comes_too_late_does_nothing(tmp_path, how):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        if how == "stop":
            await work.call("agent.stop")
        elif how == "send":
            await work.send("another")
        elif how == "reset":
            await work.call("agent.reset")
        else:
            await work.decide(shown, "reject")
        for decision in ("approve", "reject"):
            assert (await work.refused("agent.approve", **decision_on(shown, decision))).kind == "not_found"
        assert (await work.refused("agent.proposal", turn=shown.turn, proposal=shown.proposal)).kind == "not_found"
        assert (await work.call("agent.status")).waiting == 0
        assert work.read("f.txt") == b"one\n"


@pytest.mark.parametrize("how", ["stop", "error"])
async def test_P7_queued_messages_are_handed_back_when_the_turn_does_not_end_well(tmp_path, how):
    async with at_work(tmp_path) as work:
        await work.send("/say one", "/pause 0.3", "/fail network gone")
        await work.journal.kind("agent.delta")
        first = await work.call("agent.send", text="two", queue=True)
        second = await work.call("agent.send", text="three", queue=True)
        shown = await work.call("agent.history")
        assert [(one.queued, one.text) for one in shown.queued] == [(first.queued, "two"), (second.queued, "three")]
        assert (await work.call("agent.status")).queued == 2
        if how == "stop":
            stopped = await work.call("agent.stop")
            assert (stopped.stopped, stopped.queued) == (1, ["two", "three"])
        else:
            assert (await work.journal.kind("agent.error")).queued == ["two", "three"]
        await anyio.sleep(0.05)
        status = await work.call("agent.status")
        assert (status.queued, status.running) == (0, None)
        assert len(work.requests) == 1


async def test_P7_queued_messages_are_sent_in_order_when_the_turn_ends_well(tmp_path):
    async with at_work(tmp_path) as work:
        await work.send("/pause 0.1")
        queued = [await work.call("agent.send", text=text, queue=True) for text in ("two", "gone", "three")]
        assert all(one.queued for one in queued)
        assert (await work.call("agent.unqueue", queued=queued[1].queued)).text == "gone"
        assert (await work.refused("agent.unqueue", queued=queued[1].queued)).kind == "not_found"
        ends = [await work.journal.end_of_turn() for _ in range(3)]
        assert [end.NAME for end in ends] == ["agent.message"] * 3
        assert [event.text for event in work.journal.all("agent.started")[1:]] == ["two", "three"]
        assert [event.text for event in work.journal.all("agent.queued")] == ["two", "gone", "three"]
        said = [block.text for message in work.requests[-1].messages for block in message.blocks]
        assert said.count("two") == said.count("three") == 1
        assert "gone" not in said


async def test_P7_queued_with_nothing_running_is_sent_at_once(tmp_path):
    async with at_work(tmp_path) as work:
        assert (await work.call("agent.send", text="now", queue=True)).turn
        assert (await work.journal.end_of_turn()).text == "echo: now"


async def test_P7_a_message_that_is_sent_at_once_passes_the_queue_and_loses_nothing_of_it(tmp_path):
    async with at_work(tmp_path) as work:
        await work.send("/pause 30")
        await work.call("agent.send", text="queued", queue=True)
        await work.send("at once")
        ends = [await work.journal.end_of_turn() for _ in range(3)]
        assert [end.NAME for end in ends] == ["agent.stopped", "agent.message", "agent.message"]
        assert [event.text for event in work.journal.all("agent.started")[1:]] == ["at once", "queued"]
