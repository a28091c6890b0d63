"""An agent at work: scripts for it to play, proposals to decide, restarts, and what its provider was asked."""

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rio_core._engine.agent.records import Record
from rio_core._engine.core import Core
from rio_core.api import Message, Post, Posted, ProviderInfo, Request, SecretSpec, Text, ToolResult, hookimpl
from rio_core.client import Client
from rio_core.protocol import RioError
from rio_core.protocol.events import AgentPropose
from rio_provider_echo.provider import Echo
from support.living import Journal, attached, living
from support.strict import faults


def tool(name: str, **given: Any) -> str:
    """A line of echo's script that calls a tool."""
    return f"/tool {name} {json.dumps(given)}"


def edit(path: str, old: str, new: str) -> str:
    return tool("propose_edit", path=path, old=old, new=new)


def create(path: str, text: str) -> str:
    return tool("propose_create", path=path, text=text)


class Recorder(Echo):
    """Echo, keeping every request, each of which must be valid for the strictest service."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def respond(self, request: Request, post: Post) -> None:
        self.requests.append(request)
        await super().respond(request, post)


Answer = Sequence[Posted] | Callable[[Request, Post], Awaitable[None]]


class Scripted:
    """A provider that gives one answer after the other: events to post, or a function that answers."""

    def __init__(self, *answers: Answer, name: str = "scripted", secrets: tuple[SecretSpec, ...] = ()) -> None:
        self.info = ProviderInfo(name=name, title=name.title(), secrets=secrets)
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def respond(self, request: Request, post: Post) -> None:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if callable(answer):
            await answer(request, post)
        else:
            for event in answer:
                await post(event)

    async def models(self, setup: Any) -> list[Any]:
        return []


class Plugin:
    """Gives providers."""

    rio_level = 1

    def __init__(self, *providers: Any) -> None:
        self._providers = providers

    @hookimpl
    def rio_providers(self) -> list[Any]:
        return list(self._providers)


class Work:
    """A core, a front end that owns decisions, and a project with files."""

    core: Core
    client: Client
    journal: Journal

    def __init__(self, base: Path, files: Mapping[str, bytes], providers: Sequence[Any]) -> None:
        self.home = base / "home"
        self.project = base / "project"
        self.providers = providers or [Recorder()]
        self._stack = AsyncExitStack()
        self.project.mkdir(exist_ok=True)
        for name, data in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    async def start(self) -> None:
        self.core = await self._stack.enter_async_context(living(self.home, Plugin(*self.providers)))
        self.client = await self._stack.enter_async_context(attached(self.core, self.project))
        await self.core.plugins.loaded.wait()
        self.journal = Journal(self.client)
        self._stack.callback(self.journal.close)

    async def stop(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()

    async def restart(self) -> None:
        """End the core and begin another one on the same folders."""
        await self.stop()
        await self.start()

    # -- asking ------------------------------------------------------------------------------------------------

    async def call(self, op: str, /, **params: Any) -> Any:
        return await self.client.call(op, **params)

    async def refused(self, op: str, /, **params: Any) -> RioError:
        """The error of a call that must fail."""
        with pytest.raises(RioError) as caught:
            await self.client.call(op, **params)
        error = caught.value
        assert error.message
        assert error.action
        assert "\n" not in error.message
        assert error.kind != "internal", error.message
        return error

    async def send(self, *lines: str, **more: Any) -> str:
        """Begin a turn."""
        return (await self.call("agent.send", text="\n".join(lines), **more)).turn

    async def play(self, *lines: str, **more: Any) -> Any:
        """Play a turn to its end; the event that ends it."""
        await self.send(*lines, **more)
        return await self.journal.end_of_turn()

    async def proposed(self, *lines: str, count: int = 1) -> list[AgentPropose]:
        """Begin a turn and wait for what it proposes."""
        if lines:
            await self.send(*lines)
        return [await self.journal.kind("agent.propose") for _ in range(count)]

    async def decide(self, shown: Any, decision: str = "approve", **more: Any) -> Any:
        return await self.call("agent.approve", **decision_on(shown, decision, **more))

    async def outcome_of(self, decision: Awaitable[Any]) -> str:
        """What became of a decision, or the kind of the error."""
        try:
            outcome: str = (await decision).outcome
        except RioError as error:
            return error.kind
        return outcome

    async def show(self, shown: Any) -> Any:
        return await self.call("agent.proposal", turn=shown.turn, proposal=shown.proposal)

    async def opened(self, path: str) -> Any:
        return await self.call("buffer.open", path=path)

    async def text(self, buffer: Any) -> str:
        return (await self.call("buffer.text", buffer=buffer.buffer)).text

    async def type(self, path: str, text: str, at: tuple[int, int] = (0, 0)) -> Any:
        """Type into a file in the editor."""
        buffer = await self.opened(path)
        change = {"start": at, "end": at, "text": text}
        await self.call("buffer.edit", buffer=buffer.buffer, revision=buffer.revision, edits=[change])
        return buffer

    # -- looking -----------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes:
        return (self.project / path).read_bytes()

    @property
    def records(self) -> Sequence[Record]:
        assert self.core.project is not None
        return self.core.project.agent.log.records

    def results(self) -> list[Any]:
        """The answers to calls, as recorded."""
        return [record for record in self.records if type(record).__name__ == "Result"]

    @property
    def requests(self) -> list[Request]:
        """What the first provider was asked; each request is valid."""
        requests: list[Request] = self.providers[0].requests
        for request in requests:
            assert not faults(request.messages)
        return requests

    def told(self) -> list[ToolResult]:
        """The results that end the last request."""
        last = self.requests[-1].messages[-1]
        return [block for block in last.blocks if isinstance(block, ToolResult)]

    @property
    def log(self) -> Path:
        assert self.core.project is not None
        return self.core.project.agent.log.path


def decision_on(shown: Any, decision: str, **more: Any) -> dict[str, Any]:
    """The parameters of a decision on a proposal as it was shown."""
    return {
        "turn": shown.turn,
        "proposal": shown.proposal,
        "digest": shown.digest,
        "decision": decision,
        **more,
    }


def texts(messages: Sequence[Message]) -> list[str]:
    """All plain text of a request, results included."""
    return [block.text for message in messages for block in message.blocks if isinstance(block, Text | ToolResult)]


def digest_of(proposal: str, kind: str, path: str, old: str, new: str, number: int) -> str:
    """The digest as DESIGN section 6 defines it, from nothing but that definition."""
    canonical = (
        f'{{"kind":{json.dumps(kind)},"new":{json.dumps(new)},"old":{json.dumps(old)},"path":{json.dumps(path)},'
        f'"proposal":{json.dumps(proposal)},"round":{number}}}'
    )
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


@asynccontextmanager
async def at_work(base: Path, files: Mapping[str, bytes] | None = None, *providers: Any) -> AsyncIterator[Work]:
    """A running `Work` over `base`; with a recording echo unless other providers are given."""
    work = Work(base, files or {}, providers)
    await work.start()
    try:
        yield work
    finally:
        await work.stop()
