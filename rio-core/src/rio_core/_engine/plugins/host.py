"""The plugin host: finds the plugins, loads each alone, and knows what became of it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
from msgspec import UNSET

from rio_core._engine.bus import Bus
from rio_core._engine.plugins.discovery import Found, discover, keep_projects_out, same_name
from rio_core._engine.plugins.loading import Offer, PluginRefusedError, load
from rio_core._engine.plugins.loop import LoopLostError, PluginBlockedError, PluginFaultError, PluginLoop, PluginLoopError
from rio_core._engine.plugins.marker import Marker
from rio_core._engine.settings import Settings
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import PluginChanged
from rio_core.protocol.ops.plugins import Plugin, Status

__all__ = ["PluginHost", "Receiver"]

logger = logging.getLogger(__name__)

FIRST_PARTY: Final = frozenset({"rio-core", "rio-gui", "rio-provider-echo", "rio-provider-claude"})
"""Distributions of rio itself: what safe mode loads."""

DISABLED: Final = "plugins.disabled"


class Receiver(Protocol):
    """Takes what plugins give."""

    def add(self, found: Found, offers: list[Offer]) -> None:
        """Take the providers of a plugin. Raises PluginRefusedError where one cannot be told from another's."""
        ...

    def remove(self, plugin: str) -> None:
        """Drop everything of a plugin."""
        ...

    def mask(self, text: str) -> str:
        """The text without secrets."""
        ...


@dataclass
class _Plugin:
    found: Found
    status: Status = "loading"
    reason: str = ""
    report: str = ""
    provides: list[str] = field(default_factory=list)


class PluginHost:
    """Loads plugins and keeps their state. `loaded` is set when every one has been tried.

    Nothing that a plugin does at load reaches another: it raises, exits, hangs, declares nonsense; it is reported with
    its distribution, version and traceback. One that takes the process with it is off at the next start.
    """

    def __init__(
        self,
        bus: Bus,
        settings: Settings,
        state_folder: Path,
        *,
        safe_mode: bool = False,
        discover: bool = True,
        limit: float = 2.0,
    ) -> None:
        self.loop = PluginLoop(limit=limit, on_blocked=self._blocked)
        self.loaded = anyio.Event()
        self._bus = bus
        self._settings = settings
        self._marker = Marker(state_folder)
        self._safe_mode = safe_mode
        self._discover = discover
        self._registered: list[Found] = []
        self._plugins: list[_Plugin] = []
        self._receiver: Receiver | None = None

    def connect(self, receiver: Receiver) -> None:
        """Give to this one what plugins provide."""
        self._receiver = receiver

    def register(self, name: str, plugin: Any, distribution: str = "test") -> None:
        """Add a plugin of this process, a module or object with hooks, before `start`. It goes before installed ones."""
        self._registered.append(Found(name, "", distribution, "0", loaded=plugin))

    async def start(self) -> None:
        """Find and load every plugin, one after the other."""
        try:
            found = list(self._registered)
            if self._discover:
                found += await anyio.to_thread.run_sync(discover, keep_projects_out())
            self._plugins = [_Plugin(each) for each in found]
            ended = self._marker.ended()
            holders: dict[str, str] = {}
            for plugin in self._plugins:
                holder = holders.setdefault(plugin.found.name, plugin.found.distribution)
                taken = "" if plugin is self._named(plugin.found.name) else holder
                if self._may_load(plugin, ended, taken):
                    self._marker.mark(plugin.found.name)
                    await self._load(plugin)
                self._changed()
        finally:
            self._marker.close()
            self.loaded.set()
        self._changed()

    async def stop(self) -> None:
        """End what plugins run."""
        await self.loop.aclose()

    # -- for front ends ----------------------------------------------------------------------------------------

    def list(self) -> list[Plugin]:
        """Every plugin and what became of it."""
        disabled = self._disabled()
        return [self._shown(plugin, disabled=plugin.found.name in disabled) for plugin in self._plugins]

    def enable(self, name: str) -> None:
        """Load the plugin from the next start on. Raises RioError: `not_found`, `io`."""
        self._need(name)
        self._marker.forget(name)
        disabled = self._disabled()
        if name in disabled:
            self._settings.store(DISABLED, [each for each in disabled if each != name])
        self._changed()

    def disable(self, name: str) -> None:
        """Do not import the plugin from the next start on. Raises RioError: `not_found`, `io`."""
        self._need(name)
        disabled = self._disabled()
        if name not in disabled:
            self._settings.store(DISABLED, [*disabled, name])
        self._changed()

    def report(self, name: str, report: str) -> None:
        """Keep the newest fault of a plugin that is on, for `list`."""
        plugin = self._named(name)
        if plugin is not None:
            plugin.report = report
            self._changed()

    def _disabled(self) -> list[str]:
        names = self._settings.stored(DISABLED)
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
