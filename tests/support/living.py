"""A core inside the test's own process, with front ends attached over real pipes."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio

from rio_core._engine.core import Core, running
from rio_core._engine.serving.channel import Channel
from rio_core._engine.serving.connection import Connection
from rio_core.client import Client
from rio_core.protocol import PROTOCOL, Event, Lines, RioError
from rio_core.protocol.events import AgentError, AgentMessage, AgentStopped


@asynccontextmanager
async def living(home: Path, *plugins: ModuleType | object) -> AsyncIterator[Core]:
    """A core whose plugins are those given, and nothing that happens to be installed."""
    async with running(home / "config", home / "state", discover=False) as core:
        for number, plugin in enumerate(plugins):
            core.plugins.register(f"plugin{number}", plugin)
        yield core


@asynccontextmanager
async def attached(
    core: Core, project: Path | None = None, *, approve: bool = True, client: str = "test"
) -> AsyncIterator[Client]:
    """A front end of the core."""
    to_core, from_front = os.pipe()
    to_front, from_core = os.pipe()
    channel, front = Channel(to_core, from_core), Channel(to_front, from_front)
    connection = Connection(core, channel)

    async def serve() -> None:
        await connection.serve()
        os.close(from_core)

    async def receive(peer: Client) -> None:
        lines = Lines()
        while data := await front.receive():
            for line in lines.feed(data):
                peer.take(line)
        peer.end(RioError("conflict", "The connection is closed.", "Connect again."))

    async def send(data: bytes) -> None:
        front.send(data)

    peer = Client(send)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        tasks.start_soon(front.write_forever)
        tasks.start_soon(receive, peer)
        try:
            peer.hello = await peer.call("core.hello", protocol=PROTOCOL, client=client, approve=approve)
            if project is not None:
                peer.project = await peer.call("project.open", path=str(project))
            yield peer
        finally:
            with anyio.CancelScope(shield=True):
                connection.stop()
                with anyio.move_on_after(5):
                    await peer.ended()
            tasks.cancel_scope.cancel()
            for descriptor in (to_core, from_front, to_front):
                os.close(descriptor)


class Journal:
    """Everything that a front end was told, and a way to wait for more."""

    def __init__(self, client: Client) -> None:
        self._events = client.events()
        self.seen: list[Event] = []

    async def until(self, wanted: Callable[[Event], bool], seconds: float = 20) -> Event:
        """The next event that fits; those before it are kept in `seen`."""
        with anyio.fail_after(seconds):
            async for event in self._events:
                self.seen.append(event)
                if wanted(event):
                    return event
        raise AssertionError("the events ended")

    async def kind(self, *names: str, seconds: float = 20) -> Any:
        """The next event of one of these names."""
        return await self.until(lambda event: event.NAME in names, seconds)

    async def end_of_turn(self) -> AgentMessage | AgentError | AgentStopped:
        """How the running turn ends."""
        return await self.kind("agent.message", "agent.error", "agent.stopped")

    def all(self, name: str) -> list[Any]:
        """What has been seen of one name."""
        return [event for event in self.seen if name == event.NAME]

    def close(self) -> None:
        """Listen no more."""
        self._events.close()


@asynccontextmanager
async def working(home: Path, project: Path, *plugins: Any) -> AsyncIterator[tuple[Core, Client, Journal]]:
    """A core with one front end that owns decisions, and a project."""
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(living(home, *plugins))
        client = await stack.enter_async_context(attached(core, project))
        journal = Journal(client)
        stack.callback(journal.close)
        yield core, client, journal
