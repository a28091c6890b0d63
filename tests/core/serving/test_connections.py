"""Several front ends on one core: who decides, who is told what, and what outlives a connection."""

import os
import random
import re
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from msgspec import UNSET

from rio_core._engine.core import Core
from rio_core._engine.serving.channel import Channel
from rio_core._engine.serving.connection import Connection
from rio_core.api import Done, Post, Provider, ProviderInfo, Request, Text, ToolCall, hookimpl
from rio_core.client import Client
from rio_core.protocol import OPS, RioError
from rio_core.protocol.events import BufferChanged
from support.living import Journal, attached, living
from support.raw import RawCore

LINE_END = re.compile("\r\n|\r|\n")


class Proposer:
    """Proposes to make `one` of a.txt `ONE`, then says goodbye."""

    info = ProviderInfo(name="proposer", title="Proposer")

    async def respond(self, request: Request, post: Post) -> None:
        if isinstance(request.messages[-1].blocks[-1], Text):
            await post(ToolCall("c1", "propose_edit", {"path": "a.txt", "old": "one", "new": "ONE"}))
            await post(Done("tool_use"))
        else:
            await post(Done("end_turn"))

    async def models(self, setup: Any) -> list[Any]:
        return []


class Plugin:
    @staticmethod
    @hookimpl
    def rio_providers() -> list[Provider]:
        return [Proposer()]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    return folder


@pytest.fixture
async def core(tmp_path) -> AsyncIterator[Core]:
    async with living(tmp_path / "home", Plugin()) as core:
        yield core


async def refused(client: Client, op: str, /, **params: Any) -> RioError:
    with pytest.raises(RioError) as caught:
        await client.call(op, **params)
    return caught.value


async def text_of(client: Client, buffer: str) -> str:
    return (await client.call("buffer.text", buffer=buffer)).text


async def type_at(client: Client, buffer: Any, line: int, column: int, text: str) -> Any:
    edit = {"start": [line, column], "end": [line, column], "text": text}
    return await client.call("buffer.edit", buffer=buffer.buffer, revision=buffer.revision, edits=[edit])


async def waiting_proposal(client: Client) -> Any:
    journal = Journal(client)
    await client.call("agent.send", text="go")
    event = await journal.kind("agent.propose")
    journal.close()
    return event


DECISIONS: dict[str, dict[str, Any]] = {
    "agent.send": {"text": "hi"},
    "agent.unqueue": {"queued": "q1"},
    "agent.approve": {"turn": "t", "proposal": "p", "digest": "d", "decision": "approve"},
    "agent.reset": {},
    "agent.resume": {"conversation": "c"},
    "agent.delete": {"conversation": "c"},
    "project.trust": {"path": "/"},
    "provider.select": {"name": "p"},
    "settings.set": {"key": "agent.save", "value": False},
    "secret.set": {"provider": "p", "name": "n", "value": "v"},
    "secret.clear": {"provider": "p", "name": "n"},
    "plugin.enable": {"name": "plugin0"},
    "plugin.disable": {"name": "plugin0"},
}


async def test_T10_what_decides_is_for_the_owner_and_forbidden_to_every_other(core, project):
    assert DECISIONS.keys() == {name for name, op in OPS.items() if op.decides}
    async with attached(core, project) as owner, attached(core) as late, attached(core, approve=False) as view:
        assert [client.hello.approve for client in (owner, late, view)] == [True, False, False]
        event = await waiting_proposal(owner)
        DECISIONS["agent.approve"] |= {"turn": event.turn, "proposal": event.proposal, "digest": event.digest}
        DECISIONS["project.trust"] = {"path": str(project)}
        for client in (late, view):
            for op, params in DECISIONS.items():
                error = await refused(client, op, **params)
                assert error.kind == "forbidden", op
                assert error.action
        assert (project / "a.txt").read_bytes() == b"one\ntwo\nthree\n"
        assert not (await owner.call("core.status")).trusted
        shown = await view.call("agent.history")
        assert [one.digest for one in shown.proposals] == [event.digest]
        assert shown.total == 2
        await owner.call("agent.stop")


async def test_the_right_to_decide_passes_on_when_its_owner_closes(core, project):
    async with attached(core, project) as owner:
        event = await waiting_proposal(owner)
    async with attached(core, approve=False) as view, attached(core) as heir:
        assert not view.hello.approve
        assert heir.hello.approve
        decided = {"turn": event.turn, "proposal": event.proposal, "digest": event.digest, "decision": "approve"}
        assert (await refused(view, "agent.approve", **decided)).kind == "forbidden"
        assert (await heir.call("agent.approve", **decided)).outcome == "applied"
        assert (await refused(heir, "agent.approve", **decided)).kind == "not_found"
    assert (project / "a.txt").read_bytes() == b"ONE\ntwo\nthree\n"


async def test_one_who_decides_nothing_can_look_edit_and_stop(core, project):
    async with attached(core, project) as owner, attached(core, approve=False) as view:
        event = await waiting_proposal(owner)
        shown = await view.call("agent.proposal", turn=event.turn, proposal=event.proposal)
        assert (shown.old, shown.new, shown.digest) == ("one", "ONE", event.digest)
        buffer = await view.call("buffer.open", path="a.txt")
        await type_at(view, buffer, 0, 0, "x")
        assert (await view.call("agent.stop")).stopped == 1
        assert (await owner.call("agent.history")).proposals == []


async def test_events_go_to_all_and_the_request_only_to_the_one_that_made_it(core, project):
    async with attached(core, project) as one, attached(core) as two:
        journals = [Journal(one), Journal(two)]
        buffer = (await one.call("buffer.open", path="a.txt")).buffer
        edit = {"start": [0, 0], "end": [0, 0], "text": "x\r\ny"}
        causes: list[tuple[Client, int]] = []
        for client, op, params in [
            (one, "buffer.edit", {"revision": 0, "edits": [edit]}),
            (two, "buffer.replace", {"revision": 1, "start": [1, 0], "end": [1, 1], "text": "z"}),
            (one, "buffer.undo", {}),
            (one, "buffer.redo", {}),
            (two, "buffer.set_line_ending", {"line_ending": "crlf"}),
            (two, "buffer.set_encoding", {"encoding": "utf-16", "bom": True}),
        ]:
            await client.call(op, buffer=buffer, **params)
            causes.append((client, client._last_id))
        seen = [[await journal.kind("buffer.changed") for _ in causes] for journal in journals]
        for client, events in zip((one, two), seen, strict=True):
            assert [event.request for event in events] == [
                number if cause is client else UNSET for cause, number in causes
            ]
        for mine, theirs in zip(*seen, strict=True):
            assert (mine.revision, mine.edits, mine.origin) == (theirs.revision, theirs.edits, theirs.origin)
        await one.call("buffer.save", buffer=buffer)
        await two.call("buffer.close", buffer=buffer)
        for journal in journals:
            assert (await journal.kind("buffer.saved")).revision == 6
            assert (await journal.kind("buffer.closed")).buffer == buffer
            journal.close()


async def test_nothing_is_told_before_the_greeting(core, project):
    async with attached(core, project) as one:
        to_core, from_front = os.pipe()
        to_front, from_core = os.pipe()
        silent = Connection(core, Channel(to_core, from_core))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(silent.serve)
            await anyio.wait_all_tasks_blocked()
            await one.call("buffer.new", text="secret")
            silent.stop()
        os.close(from_core)
        assert os.read(to_front, 1000) == b""
        for descriptor in (to_core, from_front, to_front):
            os.close(descriptor)


async def test_documents_turns_and_settings_outlive_the_connection(core, project):
    async with attached(core, project) as first:
        buffer = await first.call("buffer.open", path="a.txt")
        await type_at(first, buffer, 1, 0, "typed ")
        unnamed = await first.call("buffer.new", text="no name yet")
        await first.call("settings.set", key="agent.save", value=False)
        event = await waiting_proposal(first)
    async with attached(core, project) as second:
        assert second.hello.instance == first.hello.instance
        listed = (await second.call("buffer.list")).buffers
        assert [(one.buffer, one.revision, one.dirty) for one in listed] == [("b1", 1, True), (unnamed.buffer, 1, True)]
        assert await text_of(second, "b1") == "one\ntyped two\nthree\n"
        shown = await second.call("agent.history")
        assert (shown.running.turn, [one.proposal for one in shown.proposals]) == (event.turn, [event.proposal])
        assert (await second.call("settings.get", key="agent.save")).values == {"agent.save": False}
        undone = await second.call("buffer.undo", buffer="b1")
        assert (undone.changed, undone.dirty) == (True, False)
        await second.call("agent.stop")


def test_what_was_asked_before_the_end_is_done_and_answered(project):
    with RawCore() as core:
        core.hello(project)
        buffer = core.call("buffer.open", path="a.txt")["buffer"]
        edit = {"start": [0, 0], "end": [0, 0], "text": "last words "}
        core.send("buffer.edit", buffer=buffer, revision=0, edits=[edit])
        last = core.send("buffer.save", buffer=buffer)
        core.process.stdin.close()
        answers = []
        while (answer := core.answer()) is not None:
            answers.append(answer)
        assert [answer["id"] for answer in answers] == [last - 1, last]
        assert answers[1]["result"] == {"revision": 1, "bytes": 25}
        assert core.process.wait(20) == 0
    assert (project / "a.txt").read_bytes() == b"last words one\ntwo\nthree\n"


async def test_edits_of_two_are_carried_over_each_other_or_refused(core, project):
    async with attached(core, project) as one, attached(core) as two:
        buffer = await one.call("buffer.open", path="a.txt")
        assert (await two.call("buffer.open", path="./a.txt")).buffer == buffer.buffer
        first = await type_at(one, buffer, 0, 3, "!\nnew line")
        second = await type_at(two, buffer, 2, 0, "<")
        assert (first.revision, second.revision) == (1, 2)
        assert [(edit.start, edit.text) for edit in second.edits] == [((3, 0), "<")]
        assert await text_of(one, buffer.buffer) == "one!\nnew line\ntwo\n<three\n"
        over = {"start": [0, 0], "end": [1, 0], "text": ""}
        error = await refused(two, "buffer.edit", buffer=buffer.buffer, revision=0, edits=[over])
        assert error.kind == "stale"
        assert await text_of(two, buffer.buffer) == "one!\nnew line\ntwo\n<three\n"


TYPED = ["", "", "x", "é🍋", "a\nb", "\r\n", "\r", "\n"]


class Mirror:
    """What a front end shows: lines without their ends, as the events make them."""

    def __init__(self, client: Client, text: str) -> None:
        self.client = client
        self.lines = LINE_END.split(text)
        self.revision = 0
        self._events = client.events()

    async def follow(self, last: int) -> None:
        """Look at the events up to a revision."""
        while self.revision < last:
            event = await anext(self._events)
            if isinstance(event, BufferChanged):
                self.take(event)

    def close(self) -> None:
        self._events.close()

    def take(self, event: BufferChanged) -> None:
        assert event.revision == self.revision + 1
        self.revision = event.revision
        for edit in event.edits:
            (line, column), (last, end) = edit.start, edit.end
            middle = LINE_END.split(self.lines[line][:column] + edit.text + self.lines[last][end:])
            self.lines[line : last + 1] = middle


@pytest.mark.parametrize("seed", range(5))
async def test_whoever_follows_the_events_has_the_text_of_the_core(core, project, seed):
    chance = random.Random(seed)  # noqa: S311  an order, no secret
    async with attached(core, project) as one, attached(core) as two:
        buffer = (await one.call("buffer.open", path="a.txt")).buffer
        mirrors = [Mirror(one, "one\ntwo\nthree\n"), Mirror(two, "one\ntwo\nthree\n")]
        outcomes = {"applied": 0, "stale": 0, "carried": 0}
        for _ in range(150):
            mirror = chance.choice(mirrors)
            # Each looks at the events only now and then, so that its edits are for an older text.
            if chance.random() < 0.4:
                await mirror.follow((await mirror.client.call("buffer.text", buffer=buffer)).revision)
            line = chance.randrange(min(4, len(mirror.lines)))  # where the other one is too
            column = chance.randint(0, len(mirror.lines[line]))
            end = chance.randint(column, len(mirror.lines[line]))
            edit = {
                "start": [line, column],
                "end": [line, end],
                "text": chance.choice(["", "", "x", "é🍋", "a\nb", "\r\n", "\r", "\n"]),
            }
            try:
                done = await mirror.client.call("buffer.edit", buffer=buffer, revision=mirror.revision, edits=[edit])
            except RioError as error:
                outcomes[error.kind] += 1
            else:
                outcomes["applied"] += 1
                outcomes["carried"] += done.revision > mirror.revision + 1
        final = await one.call("buffer.text", buffer=buffer)
        for mirror in mirrors:
            await mirror.follow(final.revision)
            mirror.close()
            assert mirror.lines == LINE_END.split(final.text)
        assert outcomes["carried"] > 10, outcomes
        assert outcomes["stale"] > 1, outcomes
