"""The core: what all connections share."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from rio_core._engine.bus import Bus
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import BufferChanged, BufferSaved, ProjectOpened
from rio_core.protocol.values import Edit

if TYPE_CHECKING:
    from rio_core._engine.documents.buffer import Buffer, Changed
    from rio_core._engine.documents.store import Documents
    from rio_core._engine.place import Place
    from rio_core._engine.plugins.host import PluginHost
    from rio_core._engine.plugins.providers import Providers
    from rio_core._engine.project import Project
    from rio_core._engine.secrets import Secrets
    from rio_core._engine.serving.connection import Connection
    from rio_core._engine.settings import Settings
    from rio_core._engine.trust import Trust

__all__ = ["Core", "running"]


LONGEST_CHANGE: Final = 1024 * 1024
"""Characters of text that a `buffer.changed` tells, each at most 12 bytes on the wire: well below the cap of a line."""


PATIENCE: Final = 0.2
"""Seconds after the greeting in which plugins load only if one is asked for: opening the first file goes before."""


class Core:
    """Documents, project, agent, plugins and settings of one process. Front ends come and go.

    `owner` is the connection that owns decisions. `stopping` is set once, by whoever ends the core.
    """

    def __init__(self, config: Path, state: Path, tasks: TaskGroup, *, safe_mode: bool, discover: bool) -> None:
        self.instance = secrets.token_hex(8)
        self.config = config
        self.state = state
        self.tasks = tasks
        self.bus = Bus()
        self.connections: set[Connection] = set()
        self.owner: Connection | None = None
        self.greeted = anyio.Event()
        self.plugins_wanted = anyio.Event()
        self.stopping = anyio.Event()
        self.project: Project | None = None
        self._safe_mode = safe_mode
        self._discover = discover

    # Each part is imported and made when it is first needed: the greeting is answered before.

    @cached_property
    def settings(self) -> "Settings":
        """What the user has set."""
        from rio_core._engine.settings import Settings

        return Settings(self.config, self.bus)

    @cached_property
    def secrets(self) -> "Secrets":
        """What providers need and nobody sees."""
        from rio_core._engine.secrets import Secrets

        return Secrets(self.config, self.bus)

    @cached_property
    def trust(self) -> "Trust":
        """Which projects the user trusts."""
        from rio_core._engine.trust import Trust

        return Trust(self.state)

    @cached_property
    def plugins(self) -> "PluginHost":
        """The installed plugins."""
        from rio_core._engine.plugins.host import PluginHost

        return PluginHost(self.bus, self.settings, self.state, safe_mode=self._safe_mode, discover=self._discover)

    @cached_property
    def providers(self) -> "Providers":
        """What the plugins provide."""
        from rio_core._engine.plugins.providers import Providers

        return Providers(self.plugins, self.settings, self.secrets, self.bus)

    @cached_property
    def documents(self) -> "Documents":
        """The open documents."""
        from rio_core._engine.documents.store import Documents

        return Documents(self._place, recovery=str(self.state / "recovery"), changed=self._changed, saved=self._saved)

    def need_project(self) -> "Project":
        """The open project; raises RioError (`no_project`) without one."""
        if self.project is None:
            raise RioError("no_project", "No project is open.", "Open a folder with project.open first.")
        return self.project

    async def open_project(self, path: str) -> "Project":
        """Serve a folder. The same one again is given back; another one is refused."""
        if self.project is not None:
            if self.project.is_at(path):
                return self.project
            raise RioError(
                "conflict",
                f"This core serves {self.project.path} already.",
                "Start another core for another project.",
            )
        from rio_core._engine.project import Project

        project = Project.open(path, self)
        self.project = project
        await project.restore()
        self.bus.publish(ProjectOpened(root=project.path, trusted=project.trusted))
        return project

    async def close_project(self) -> None:
        """Serve no folder any more. Buffers stay open."""
        project, self.project = self.need_project(), None
        for buffer in self.documents.all():
            if buffer.path is not None and not buffer.path.startswith("/"):
                buffer.path = f"{project.path}/{buffer.path}"  # another project must not take it for its own
        await project.close()

    async def drain(self) -> None:
        """Wait until every front end has taken enough of what it was told."""
        for connection in tuple(self.connections):
            await connection.drain()

    def leave(self, connection: "Connection") -> None:
        """A connection is gone, and its right to decide with it."""
        self.connections.discard(connection)
        if self.owner is connection:
            self.owner = None

    def stop(self) -> None:
        """End the core: connections finish what they are answering."""
        self.stopping.set()
        for connection in tuple(self.connections):
            connection.stop()

    def document_path(self, path: str) -> str:
        """How a document is called: by its path in the project where it lies there, else by its absolute path."""
        from rio_core._engine.workspace.paths import render

        if self.project is not None:
            try:
                names = self.project.root.names(path)
                return render(self.project.root.real(path) if ".." in names else names)
            except RioError as error:
                if error.kind != "outside" or not path.startswith("/"):
                    raise
        elif not path.startswith("/"):
            self.need_project()
        return path

    def _place(self, path: str) -> "Place":
        """Where a path of a front end leads: confined in the project, else the absolute path that its user chose."""
        from rio_core._engine.workspace.files import outside_place

        if self.project is not None:
            try:
                return self.project.root.place(path)
            except RioError as error:
                if error.kind != "outside" or not path.startswith("/"):
                    raise
        elif not path.startswith("/"):
            self.need_project()
        return outside_place(path)

    def _saved(self, buffer: "Buffer", revision: int) -> None:
        self.bus.publish(BufferSaved(buffer=buffer.id, revision=revision, path=buffer.path or "", dirty=buffer.dirty))

    def _changed(self, changed: "Changed") -> None:
        long = sum(len(edit.text) + 64 for edit in changed.edits) > LONGEST_CHANGE
        shown = () if long else changed.edits
        event = BufferChanged(
            buffer=changed.buffer,
            revision=changed.revision,
            edits=[Edit(start=edit.start, end=edit.end, text=edit.text) for edit in shown],
            origin=changed.origin,
            dirty=changed.dirty,
            reset=long,
        )
        if changed.request is not None:
            event.request = changed.request
        self.bus.publish(event)


@asynccontextmanager
async def running(config: Path, state: Path, *, safe_mode: bool = False, discover: bool = True) -> AsyncIterator[Core]:
    """A core with its tasks. Plugins load once the first front end has been greeted."""
    async with anyio.create_task_group() as tasks:
        core = Core(config, state, tasks, safe_mode=safe_mode, discover=discover)
        tasks.start_soon(_load, core)
        try:
            yield core
        finally:
            with anyio.CancelScope(shield=True):
                if core.project is not None:
                    await core.close_project()
                if "plugins" in core.__dict__:
                    await core.plugins.stop()
            tasks.cancel_scope.cancel()


async def _load(core: Core) -> None:
    await core.greeted.wait()
    with anyio.move_on_after(PATIENCE):
        await core.plugins_wanted.wait()
    _ = core.providers  # it takes what the plugins give
    await core.plugins.start()
