"""The folder that a core serves, with its agent."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import anyio
import anyio.to_thread
from msgspec import structs

from rio_core._engine.agent import history
from rio_core._engine.agent.approvals import Approvals
from rio_core._engine.agent.desk import Desk
from rio_core._engine.agent.loop import Agent, answered, interrupted
from rio_core._engine.agent.prompt import layers
from rio_core._engine.agent.records import Decided, Ended, Record, Said, Titled
from rio_core._engine.agent.store import Conversations, Log, project_folder
from rio_core._engine.agent.turn import Turn
from rio_core._engine.tools.builtin import toolbox
from rio_core._engine.tools.reads import Reads
from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.reading import read_capped
from rio_core.protocol.errors import RioError
from rio_core.protocol.ops.agent import Attachment, Layer

if TYPE_CHECKING:
    from rio_core._engine.core import Core

__all__ = ["Project"]


class Project:
    """One root, the conversations about it, and the agent that works in it."""

    def __init__(self, root: Root, core: "Core") -> None:
        self.root = root
        self.path = os.path.realpath(root.path)
        self.trusted = core.trust.is_trusted(Path(self.path))
        self.conversations = Conversations(project_folder(core.state, self.path))
        self._core = core
        self._reads = Reads(core.documents, root)
        self._switching = anyio.Lock()
        self.agent, self.approvals = self._attach(self.conversations.latest())

    @classmethod
    def open(cls, path: str, core: "Core") -> Self:
        """Open the folder at an absolute path. Nothing in it is run, and no network is asked."""
        root = Root.open(path)
        try:
            return cls(root, core)
        except BaseException:
            root.close()
            raise

    def is_at(self, path: str) -> bool:
        """Whether this is the project at a path, whatever name leads there."""
        try:
            found = os.stat(path)
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self.root.handle))

    async def close(self) -> None:
        """Give up the folder. A turn that waits for its user goes on waiting at the next start."""
        async with self._switching:
            await self.agent.close(keep_waiting=True)
        self.root.close()

    def trust(self, *, trusted: bool) -> None:
        """Let the project's instructions reach the model, or stop that."""
        self._core.trust.set(Path(self.path), trusted=trusted)
        self.trusted = trusted

    async def prompt(self) -> list[Layer]:
        """The layers of the system prompt."""
        user_file = self._core.config / "instructions.md"
        found = await anyio.to_thread.run_sync(lambda: layers(user_file, self._instructions, trusted=self.trusted))
        mask = self._core.secrets.mask
        return [structs.replace(layer, text=mask(layer.text)) for layer in found]

    async def attach(self, attachment: Attachment) -> str:
        """A file, or lines of it, as text that goes along with a message."""
        return await self._reads.attachment(attachment.path, attachment.first, attachment.count)

    # -- conversations -----------------------------------------------------------------------------------------

    async def restore(self) -> None:
        """Heal what a death left behind, and go on with a turn that waits for decisions."""
        log = self.agent.log
        closed = history.ended(log.records)
        open_turns = [record for record in log.records if isinstance(record, Said) and record.turn not in closed]
        decided = {record.proposal: record for record in log.records if isinstance(record, Decided)}
        unanswered = history.unanswered(log.records)
        waiting = {
            name: record
            for name, record in history.proposals(log.records).items()
            if name not in decided and (record.turn, record.call) in unanswered
        }
        last = open_turns[-1] if open_turns else None
        waiting = {name: record for name, record in waiting.items() if last and record.turn == last.turn}
        calls = {record.call for record in waiting.values()}
        told = {
            record.call: decided[name]
            for name, record in history.proposals(log.records).items()
            if name in decided and decided[name].decision != "interrupted"
        }
        repairs: list[Record] = [
            answered(turn, call, told[call]) if call in told else interrupted(turn, call)
            for turn, call in unanswered
            if call not in calls
        ]
        repairs += [Ended(turn=said.turn, how="interrupted") for said in open_turns if not (waiting and said is last)]
        if repairs:
            log.keep(*repairs)
        if not waiting or last is None:
            return
        turn = Turn(last.turn, last.texts[0] if last.texts else "")
        for name, record in waiting.items():
            turn.proposals[name] = await self._desk.present(record)
            turn.open_calls.append(record.call)
        self.agent.restore(turn)

    async def reset(self) -> list[str]:
        """Begin a new conversation; the old one is kept. Gives the texts back that were queued."""
        async with self._switching:
            return await self._switch(self.conversations.create())

    async def resume(self, name: str) -> list[str]:
        """Go on with another conversation. Gives the texts back that were queued."""
        async with self._switching:
            if name == self.agent.log.id:
                return []
            log = self.conversations.open(name)
            os.utime(log.path)  # it is the one that was used last
            return await self._switch(log)

    def rename(self, name: str, title: str) -> None:
        """Title a conversation."""
        title = " ".join(title.split())[:200]
        if not title:
            raise RioError("bad_message", "The title is empty.", "Type a title.")
        if name == self.agent.log.id:
            self.agent.log.append(Titled(title=title))
        else:
            self.conversations.rename(name, title)

    def records(self, name: str) -> Sequence[Record]:
        """The records of a conversation."""
        return self.agent.log.records if name == self.agent.log.id else self.conversations.read(name)

    async def _switch(self, log: Log) -> list[str]:
        queued = self.agent.take_queue()
        await self.agent.close(keep_waiting=False)
        self.agent, self.approvals = self._attach(log)
        await self.restore()
        return queued

    def _attach(self, log: Log) -> tuple[Agent, Approvals]:
        core = self._core
        self._desk = Desk(core.documents, self.root, saves=lambda: bool(core.settings.get("agent.save")))
        agent = Agent(
            log,
            bus=core.bus,
            providers=core.providers,
            toolbox=toolbox(self._reads),
            desk=self._desk,
            prompt=self.prompt,
            mask=core.secrets.mask,
            tasks=core.tasks,
            drain=core.drain,
        )
        return agent, Approvals(agent, self._desk, core.bus)

    def _instructions(self, path: str, cap: int) -> tuple[bytes, bool] | None:
        try:
            content = read_capped(self.root, path, cap)
        except RioError:
            return None
        return content.data, content.cut
