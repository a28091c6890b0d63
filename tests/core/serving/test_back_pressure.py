"""Front ends that are slow, and requests that come faster than answers: bounded memory, nothing lost, order kept."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from rio_core._engine.serving.channel import Channel
from rio_core._engine.serving.connection import Connection
from rio_core.api import Delta, Done, Post, Provider, ProviderInfo, Request, hookimpl
from rio_core.protocol import encode
from rio_core.protocol.messages import Request as Message
from support.living import Journal, attached, living
from support.raw import HELLO, RawCore

FLOOD = 500_000


class Flood:
    """Says so many words at once."""

    info = ProviderInfo(name="flood", title="Flood")

    def __init__(self, words: int) -> None:
        self._words = words
        self.said = 0

    async def respond(self, request: Request, post: Post) -> None:
        for number in range(1, self._words + 1):
            await post(Delta(f"{number} "))
            self.said = number
        await post(Done("end_turn"))

    async def models(self, setup: Any) -> list[Any]:
        return []

    @hookimpl
    def rio_providers(self) -> list[Provider]:
        return [self]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    return folder


def memory(process: int) -> int:
    """Bytes of a process that are in memory, at most so far."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def work(process: int) -> int:
    """What a process has done so far, in ticks of its processor time."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wait_until(quiet: Callable[[], Any]) -> None:
    """Wait until a number stays the same for a while."""
    last = (quiet(), time.monotonic())
    end = time.monotonic() + 60
    while time.monotonic() - last[1] < 1.5:
        assert time.monotonic() < end, "it never comes to rest"
        time.sleep(0.05)
        if (now := quiet()) != last[0]:
            last = (now, time.monotonic())


@pytest.mark.needs_echo
def test_a_front_end_that_does_not_read_costs_little_memory_and_gets_all_of_it_in_order(project):
    with RawCore() as core:
        core.hello(project)
        core.call("provider.select", name="echo")
        before = memory(core.process.pid)
        core.call("agent.send", text=f"/flood {FLOOD}")
        wait_until(lambda: work(core.process.pid))
        assert memory(core.process.pid) - before < 64 * 1024 * 1024
        # The pipe and what waits in the core come first, in order; then the rest is stopped.
        text = "".join(core.event("agent.delta")["text"] for _ in range(1000))
        stopping = core.send("agent.stop")
        answered = False
        while not answered:
            message = core.line()
            if message.get("method") == "agent.delta":
                text += message["params"]["text"]
            answered = message.get("id") == stopping
        words = text.split()
        assert words == [str(number) for number in range(1, len(words) + 1)]
        assert 1000 <= len(words) < FLOOD


@pytest.mark.needs_echo
def test_requests_and_a_flood_that_wait_for_the_same_reader_both_go_on(project):
    with RawCore() as core:
        core.hello(project)
        core.call("provider.select", name="echo")
        core.call("agent.send", text="/flood 50000")
        wait_until(lambda: work(core.process.pid))
        asked = [core.send("fs.stat", path="a.txt") for _ in range(3)]
        wait_until(lambda: work(core.process.pid))
        assert {core.answer()["id"] for _ in asked} == set(asked)
        while (message := core.line()).get("method") != "agent.message":
            pass
        assert message["params"]["text"] == "".join(f"{number} " for number in range(1, 50_001))


async def test_one_that_does_not_read_holds_back_the_flood_but_no_document(tmp_path, project):
    flood = Flood(FLOOD)
    to_core, from_front = os.pipe()
    to_front, from_core = os.pipe()
    async with living(tmp_path / "home", flood) as core, attached(core, project) as owner:
        deaf = Connection(core, Channel(to_core, from_core))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(deaf.serve)
            os.write(from_front, encode(Message(id=1, method="core.hello", params=HELLO)))
            await anyio.wait_readable(to_front)  # the answer is there, and nobody will ever read it
            await owner.call("agent.send", text="go")
            said = -1
            while said != flood.said or not said:
                said = flood.said
                await anyio.sleep(0.3)
            assert flood.said < FLOOD / 2
            assert deaf._channel._size < 4 * 1024 * 1024

            buffer = await owner.call("buffer.open", path="a.txt")
            for number in range(20):
                edit = {"start": [0, 0], "end": [0, 0], "text": f"{number} "}
                await owner.call("buffer.edit", buffer=buffer.buffer, revision=number, edits=[edit])
            assert (await owner.call("buffer.save", buffer=buffer.buffer)).revision == 20
            assert (await owner.call("agent.history")).running is not None

            # When it is gone the others need not wait for it.
            journal = Journal(owner)
            os.close(to_front)
            os.close(from_front)
            await journal.kind("agent.delta")
            assert (await owner.call("agent.stop")).stopped == 1
            await journal.kind("agent.stopped")
            journal.close()
        assert deaf not in core.connections
    for descriptor in (to_core, from_core):
        os.close(descriptor)
    assert (project / "a.txt").read_bytes().startswith(b"19 18 17 ")


def test_a_thousand_edits_at_once_are_done_and_answered_in_their_order(project):
    with RawCore() as core:
        core.hello(project)
        buffer = core.call("buffer.open", path="a.txt")["buffer"]
        requests = []
        for number in range(1000):
            edit = {"start": [0, 0], "end": [0, 0], "text": f"{number},"}
            params = {"buffer": buffer, "revision": number, "edits": [edit]}
            requests.append({"jsonrpc": "2.0", "id": f"e{number}", "method": "buffer.edit", "params": params})
        core.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        answers = [core.answer() for _ in requests]
        assert [answer["id"] for answer in answers] == [request["id"] for request in requests]
        assert [answer["result"]["revision"] for answer in answers] == list(range(1, 1001))
        revisions = [event["params"]["revision"] for event in core.events if event["method"] == "buffer.changed"]
        assert revisions == list(range(1, 1001))
        assert core.call("buffer.save", buffer=buffer)["revision"] == 1000
    wanted = "".join(f"{number}," for number in reversed(range(1000))) + "one\ntwo\nthree\n"
    assert (project / "a.txt").read_bytes() == wanted.encode()


def test_answers_that_nobody_reads_hold_back_the_requests(project):
    (project / "wide.txt").write_text("x" * 120_000)
    with RawCore() as core:
        core.hello(project)
        buffer = core.call("buffer.open", path="wide.txt")["buffer"]
        before = memory(core.process.pid)
        request = {"jsonrpc": "2.0", "id": 7, "method": "buffer.text", "params": {"buffer": buffer}}
        requests = (json.dumps(request).encode() + b"\n") * 10_000
        pipe = core.process.stdin.fileno()
        os.set_blocking(pipe, False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                sent += os.write(pipe, requests[sent:])
                wait_until(lambda: work(core.process.pid))
        assert memory(core.process.pid) - before < 32 * 1024 * 1024
        # All of it is answered when somebody reads.
        assert {core.answer()["id"] for _ in range(requests.count(b"\n", 0, sent))} == {7}


def test_requests_in_flight_are_bounded(project):
    with RawCore() as core:
        core.hello(project)
        before = memory(core.process.pid)
        one = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "fs.stat", "params": {"path": "a.txt"}}).encode()
        writer = threading.Thread(target=core.write, args=((one + b"\n") * 20_000,))
        writer.start()
        for _ in range(20_000):
            core.answer()
        writer.join()
        assert memory(core.process.pid) - before < 64 * 1024 * 1024
