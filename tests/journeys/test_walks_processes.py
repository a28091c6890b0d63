"""The walks of the agent over real processes, in which a restart is a kill or a clean end."""

import itertools
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from hypothesis import given

from rio_core._engine.agent.records import Record
from rio_core._engine.agent.store import Conversations, project_folder
from rio_core.client import start_core
from support.profiles import examples
from support.walks import WALKS, Step, Walk, write_project

# The shell says who it is, then is the core.
NAMED = ("sh", "-c", 'echo $$ >"$0" && exec "$@"')


class Process:
    """A core as a front end has it. Every other restart is a `kill -9`, beginning with the first."""

    def __init__(self, base: Path, project: Path) -> None:
        self._project = project
        self._home = base / "home"
        self._pid = base / "pid"
        self._ways = itertools.cycle(["killed", "closed"])
        self._stack = AsyncExitStack()
        self._conversation = ""
        self.ends: Counter[str] = Counter()

    async def start(self) -> None:
        command = (*NAMED, str(self._pid), sys.executable, "-P", "-m", "rio_core", "serve")
        environment = {**os.environ, "RIO_HOME": str(self._home)}
        self._client = await self._stack.enter_async_context(
            start_core(project=str(self._project), command=command, environment=environment)
        )

    async def call(self, op: str, /, **params: Any) -> Any:
        answer = await self._client.call(op, **params)
        if op == "agent.history":
            self._conversation = answer.conversation
        return answer

    async def restart(self) -> None:
        way = next(self._ways)
        self.ends[way] += 1
        if way == "killed":
            os.kill(int(self._pid.read_text()), signal.SIGKILL)
            failure = await self._client.ended()
            assert failure is not None
            assert "signal 9" in failure.message
        await self.stop()
        await self.start()

    async def stop(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()

    def records(self) -> Sequence[Record]:
        """What is on disk of the conversation that the core named last."""
        folder = project_folder(self._home / "state", os.path.realpath(self._project))
        return Conversations(folder).read(self._conversation)


async def walk(base: Path, steps: Sequence[Step]) -> tuple[Walk, Counter[str]]:
    project = base / "project"
    project.mkdir()
    write_project(project)
    subject = Process(base, project)
    await subject.start()
    taken = Walk(subject, project)
    try:
        await taken.take(steps)
    finally:
        await subject.stop()
    return taken, subject.ends


def test_whatever_is_killed_in_between_the_conversation_is_valid_and_only_approved_bytes_have_changed(
    tmp_path_factory,
):
    counts: Counter[str] = Counter()

    @examples(ci=10, deep=100)
    @given(steps=WALKS)
    def walks(steps: list[Step]) -> None:
        taken, ends = anyio.run(walk, tmp_path_factory.mktemp("walk"), steps)
        counts.update(applied=taken.applied, refused=taken.refused, stale=taken.stale, **ends)

    walks()
    # Walks that decide nothing, or are never killed, prove nothing.
    assert min(counts["applied"], counts["killed"], counts["closed"]) > 2, counts
