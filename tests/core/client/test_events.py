"""Events reach every listener, typed, in order."""

import pytest

from rio_core.client import start_core
from rio_core.protocol import RioError
from rio_core.protocol.events import AgentDelta, FsChanged

pytestmark = pytest.mark.anyio

TALKING = """
greet()
request = read()
event("agent.delta", turn="t", text="one", later=1)
event("agent.telepathy", turn="t")
event("agent.delta", turn="t", text=5)
event("fs.changed", paths=["a"])
event("agent.delta", turn="t", text="two\\u2028\\x85")
answer(request, {"buffers": []})
"""


async def test_known_events_come_typed_and_unknown_or_malformed_ones_are_left_out(core):
    async with start_core(project=None, command=core(TALKING + "serve_out()")) as client:
        with client.events() as events, client.events() as others:
            await client.call("buffer.list")
            got = [await anext(events) for _ in range(3)]
            assert got == [await anext(others) for _ in range(3)]
    assert got == [
        AgentDelta(turn="t", text="one"), FsChanged(paths=["a"]), AgentDelta(turn="t", text="two\u2028\x85"),
    ]  # fmt: skip


async def test_notifications_are_what_the_wire_has(core):
    async with start_core(project=None, command=core(TALKING + "serve_out()")) as client:
        with client.notifications() as notifications:
            await client.call("buffer.list")
            got = [await anext(notifications) for _ in range(5)]
    assert [(item.method, item.params) for item in got][:2] == [
        ("agent.delta", {"turn": "t", "text": "one", "later": 1}), ("agent.telepathy", {"turn": "t"}),
    ]  # fmt: skip


async def test_a_closed_listener_hears_nothing_and_others_go_on(core):
    async with start_core(project=None, command=core(TALKING + "serve_out()")) as client:
        closed, events = client.events(), client.events()
        closed.close()
        await client.call("buffer.list")
        assert [event async for event in closed] == []
        assert (await anext(events)) == AgentDelta(turn="t", text="one")


async def test_events_end_when_the_client_is_closed(core):
    async with start_core(project=None, command=core(TALKING + "serve_out()")) as client:
        events = client.events()
        await client.call("buffer.list")
    assert len([event async for event in events]) == 3
    assert [event async for event in client.events()] == []


async def test_events_that_came_are_read_before_the_death_is_told(core):
    async with start_core(project=None, command=core(TALKING + "os.abort()")) as client:
        events = client.events()
        await client.call("buffer.list")
        assert len([await anext(events) for _ in range(3)]) == 3
        with pytest.raises(RioError, match="signal 6"):
            await anext(events)
