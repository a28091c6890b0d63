"""The plugin host: finds the plugins, loads each alone, and knows what became of it."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
from msgspec import UNSET

from rio_core._engine.bus import Bus
from rio_core._engine.plugins.discovery import Found, discover, keep_projects_out, same_name
from rio_core._engine.plugins.faults import LoopLostError, PluginBlockedError, PluginFaultError, PluginLoopError
from rio_core._engine.plugins.loading import Offer, PluginRefusedError, load
from rio_core._engine.plugins.loop import PluginLoop
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
        self.loop = PluginLoop(limit=limit, on_blocked=self._blocked, on_stray=self._stray)
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
        """Add a module or object of this process with hooks, before `start`. It goes before what is installed."""
        self._registered.append(Found(name, "", distribution, "0", loaded=plugin))

    async def start(self) -> None:
        """Find and load every plugin, one after the other."""
        try:
            found = self._registered
            if self._discover:
                found = found + await anyio.to_thread.run_sync(discover, keep_projects_out())
            self._plugins = [_Plugin(each) for each in found]
            ended = self._marker.ended()
            for plugin in self._plugins:
                if self._may_load(plugin, ended):
                    self._marker.mark(plugin.found.name)
                    await self._load(plugin)
                self._changed()
        finally:
            self._marker.close()
            self.loaded.set()

    async def stop(self) -> None:
        """End what plugins run."""
        await self.loop.aclose()

    # -- loading -----------------------------------------------------------------------------------------------

    def _may_load(self, plugin: _Plugin, ended: set[str]) -> bool:
        found = plugin.found
        first = self._named(found.name)
        if first is not None and first is not plugin:
            self._fail(plugin, f"its name is taken by {first.found.distribution}, which is installed before it")
        elif found.problem:
            self._fail(plugin, found.problem)
        elif self._safe_mode and same_name(found.distribution) not in FIRST_PARTY:
            _turn_off(plugin, "safe mode loads only what comes with rio")
        elif found.name in self._disabled():
            _turn_off(plugin, "disabled")
        elif found.name in ended:
            _turn_off(plugin, "it ended the process while loading; enable it to try again")
        return plugin.status == "loading"

    async def _load(self, plugin: _Plugin) -> None:
        try:
            call = self.loop.start(plugin.found.name, load, plugin.found)
        except PluginLoopError:
            return  # the core ends
        call.late = lambda offers, error: self._load_late(plugin, offers, error)
        await call.wait()
        if not isinstance(call.error, LoopLostError):
            self._take(plugin, call.result() if call.error is None else [], call.error)

    def _load_late(self, plugin: _Plugin, offers: list[Offer] | None, error: PluginLoopError | None) -> None:
        """It did not hang for ever: a slow disk, say."""
        self.loop.forgive(plugin.found.name)
        self._take(plugin, offers or [], error)
        self._changed()

    def _take(self, plugin: _Plugin, offers: list[Offer], error: PluginLoopError | None) -> None:
        match error:
            case None:
                self._turn_on(plugin, offers)
            case PluginFaultError(error=PluginRefusedError() as refusal):
                self._fail(plugin, str(refusal))
            case PluginFaultError():
                self._fail(plugin, f"it failed while loading: {error.line}", error.report)
            case PluginBlockedError():
                self._fail(
                    plugin, f"it blocked its loop while loading, for more than {self.loop.limit:g} s", error.report
                )
            case _:
                self._fail(plugin, str(error))

    def _turn_on(self, plugin: _Plugin, offers: list[Offer]) -> None:
        try:
            if self._receiver is not None:
                self._receiver.add(plugin.found, offers)
        except PluginRefusedError as refusal:
            self._fail(plugin, str(refusal))
        else:
            plugin.status, plugin.reason, plugin.report = "on", "", ""
            plugin.provides = [f"provider {offer.info.name}" for offer in offers]

    def _blocked(self, name: str, report: str) -> None:
        plugin = self._named(name)
        if plugin is None or plugin.status == "loading":
            return  # `_take` tells it
        self._fail(
            plugin, f"it blocked its loop for more than {self.loop.limit:g} s; it is off until the next start", report
        )
        if self._receiver is not None:
            self._receiver.remove(name)
        self._changed()

    def _stray(self, name: str, report: str) -> None:
        report = self._mask(report)
        logger.warning("plugin %s failed in the background:\n%s", name or "(unknown)", report)
        self.report(name, report)

    def _fail(self, plugin: _Plugin, reason: str, report: str = "") -> None:
        found = plugin.found
        reason, report = self._mask(reason), self._mask(report)
        logger.warning("plugin %s of %s %s: %s\n%s", found.name, found.distribution, found.version, reason, report)
        plugin.status, plugin.reason, plugin.report, plugin.provides = "failed", reason, report, []

    # -- inside ------------------------------------------------------------------------------------------------

    def _mask(self, text: str) -> str:
        return self._receiver.mask(text) if self._receiver is not None else text

    def _changed(self) -> None:
        self._bus.publish(PluginChanged(plugins=len(self._plugins)))

    def _named(self, name: str) -> _Plugin | None:
        return next((plugin for plugin in self._plugins if plugin.found.name == name), None)

    def _need(self, name: str) -> None:
        if self._named(name) is None:
            raise RioError(
                "not_found", f"No plugin {name!a} is installed.", "See `rio-core plugins` for what there is."
            )

    def _disabled(self) -> list[str]:
        names = self._settings.stored(DISABLED)
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def _shown(self, plugin: _Plugin, *, disabled: bool) -> Plugin:
        found = plugin.found
        reason = plugin.reason
        if plugin.status == "on" and disabled:
            reason = "off from the next start"
        elif plugin.status == "off" and not disabled and reason == "disabled":
            reason = "on from the next start"
        return Plugin(
            name=found.name,
            distribution=found.distribution,
            version=found.version,
            status=plugin.status,
            provides=plugin.provides,
            reason=reason or UNSET,
            report=plugin.report or UNSET,
            homepage=found.homepage,
        )

    # -- for front ends ----------------------------------------------------------------------------------------

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
        """Keep the newest fault of a plugin, for `list`."""
        plugin = self._named(name)
        if plugin is not None:
            plugin.report = report
            self._changed()

    # The last of the class, as `list` names the type above it.
    def list(self) -> list[Plugin]:
        """Every plugin and what became of it."""
        disabled = self._disabled()
        return [self._shown(plugin, disabled=plugin.found.name in disabled) for plugin in self._plugins]


def _turn_off(plugin: _Plugin, reason: str) -> None:
    plugin.status, plugin.reason = "off", reason
