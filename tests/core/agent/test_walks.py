"""Sends, stops, decisions, typing, other programs, failures of the provider and restarts, in any order."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from hypothesis import given

import rio_provider_echo
from rio_core._engine.agent.records import Record
from support.living import working
from support.profiles import examples
from support.walks import WALKS, Step, Walk, write_project


class InProcess:
    """A core of this process, with restarts that end every task and begin again from the disk."""

    def __init__(self, home: Path, project: Path) -> None:
        self._home = home
        self._project = project
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        self.core, self.client, journal = await self._stack.enter_async_context(
            working(self._home, self._project, rio_provider_echo)
        )
        journal.close()

    async def call(self, op: str, /, **params: Any) -> Any:
        return await self.client.call(op, **params)

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def stop(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()

    def records(self) -> Sequence[Record]:
        assert self.core.project is not None
        return self.core.project.agent.log.records


async def walk(base: Path, steps: Sequence[Step]) -> Walk:
    project = base / "project"
    project.mkdir()
    write_project(project)
    subject = InProcess(base / "home", project)
    await subject.start()
    taken = Walk(subject, project)
    try:
        await taken.take(steps)
    finally:
        await subject.stop()
    return taken


def test_after_every_step_the_conversation_is_valid_and_only_approved_bytes_have_changed(tmp_path_factory, expect_log):
    expect_log("rio_core._engine.plugins.handle: Provider echo .* failed")

    counts: Counter[str] = Counter()

    @examples(ci=200, deep=2000)
    @given(steps=WALKS)
    def walks(steps: list[Step]) -> None:
        taken = anyio.run(walk, tmp_path_factory.mktemp("walk"), steps)
        counts.update(applied=taken.applied, refused=taken.refused, stale=taken.stale)

    walks()
    # A walk that decides nothing proves nothing.
    assert min(counts["applied"], counts["refused"], counts["stale"]) >= 10, counts
