"""A core's plugins in this process, and plugins that are really installed for a child process."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from rio_core._engine.bus import Bus
from rio_core._engine.plugins.host import PluginHost
from rio_core._engine.plugins.providers import Providers
from rio_core._engine.secrets import Secrets
from rio_core._engine.settings import Settings
from rio_core.api import Message, Posted, ProviderInfo, Request, Text, hookimpl
from rio_core.protocol.ops.plugins import Plugin

CHILD = """
import json, os, sys
import anyio
from msgspec import to_builtins
from rio_core._engine.bus import Bus
from rio_core._engine.folders import config_folder, state_folder
from rio_core._engine.plugins.host import PluginHost
from rio_core._engine.plugins.providers import Providers
from rio_core._engine.secrets import Secrets
from rio_core._engine.settings import Settings

async def main():
    out, options = sys.argv[1], json.loads(sys.argv[2])
    bus, settings = Bus(), Settings(config_folder(), Bus())
    host = PluginHost(bus, settings, state_folder(), safe_mode=options.get("safe_mode", False), limit=0.5)
    Providers(host, settings, Secrets(config_folder(), bus), bus)
    await host.start()
    for name in options.get("enable", ()):
        host.enable(name)
    for name in options.get("disable", ()):
        host.disable(name)
    with open(out, "w") as file:
        json.dump({"plugins": to_builtins(host.list()), "modules": sorted(sys.modules)}, file)
    await host.stop()
    os._exit(0)

anyio.run(main)
"""


class Site:
    """A folder of installed distributions, and children that find it on their path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []

    def add(
        self,
        module: str,
        source: str,
        *,
        distribution: str = "",
        names: tuple[str, ...] = (),
        metadata: str = "",
        folder: Path | None = None,
    ) -> Path:
        """Install a module as a plugin; returns its dist-info."""
        folder = folder or self.folder
        distribution = distribution or f"rio-{module}"
        folder.mkdir(exist_ok=True)
        (folder / f"{module}.py").write_text(source)
        info = folder / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n{metadata}")
        points = "".join(f"{name} = {module}\n" for name in names or (module,))
        (info / "entry_points.txt").write_text(f"[rio.core]\n{points}")
        return info

    def run(
        self, *, path: str = "", cwd: Path | None = None, **options: Any
    ) -> tuple[int, dict[str, Plugin], list[str]]:
        """Start a core's plugins in a child. Returns its exit code, the plugins by name, and its modules."""
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        env = os.environ | {"PYTHONPATH": path or str(self.folder)}
        child = subprocess.run(
            [sys.executable, "-P", "-c", CHILD, str(out), json.dumps(options)],
            env=env,
            cwd=cwd,
            capture_output=True,
            timeout=60,
            check=False,
        )
        if not out.exists():
            return child.returncode, {}, []
        said = json.loads(out.read_text())
        plugins = [Plugin(**plugin) for plugin in said["plugins"]]
        self.order = [(plugin.name, plugin.distribution, plugin.status) for plugin in plugins]
        return child.returncode, {plugin.name: plugin for plugin in reversed(plugins)}, said["modules"]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


class Plugins:
    """The plugins of a core in this process."""

    def __init__(self, folder: Path) -> None:
        self.bus = Bus()
        self.events: list[Any] = []
        self.bus.listen(self.events.append)
        self.settings = Settings(folder / "config", self.bus)
        self.secrets = Secrets(folder / "config", self.bus)
        self.host = PluginHost(self.bus, self.settings, folder / "state", discover=False, limit=0.4)
        self.providers = Providers(self.host, self.settings, self.secrets, self.bus)

    def give(self, *providers: Any, plugin: str = "one", distribution: str = "dist-one") -> None:
        """Register a plugin that gives these providers."""

        class Giver:
            @hookimpl
            def rio_providers(self) -> list[Any]:
                return list(providers)

        self.host.register(plugin, Giver(), distribution)

    def plugin(self, name: str = "one") -> Plugin:
        return next(plugin for plugin in self.host.list() if plugin.name == name)

    async def respond(self, name: str = "p", text: str = "hi", **options: Any) -> list[Posted]:
        """All that a provider posts to one message."""
        self.settings.store("provider.selected", name)
        handle = await self.providers.selected()
        assert handle is not None
        got: list[Posted] = []
        await handle.respond(self.request(handle, text), got.extend, **options)
        return got

    @staticmethod
    def request(handle: Any, text: str = "hi") -> Request:
        return Request([Message("user", (Text(text),))], [], [], handle.setup(), "c", "x")


@pytest.fixture
async def plugins(tmp_path: Path) -> AsyncIterator[Plugins]:
    plugins = Plugins(tmp_path / "rio")
    yield plugins
    await plugins.host.stop()


@pytest.fixture
def provider() -> Callable[..., Any]:
    """`provider(respond, name="p", ...)`: an object with this `respond`."""

    def make(respond: Any = None, name: str = "p", models: Any = None, **info: Any) -> Any:
        class Made:
            async def respond(self, request: Request, post: Any) -> None:
                await respond(request, post)

            async def models(self, setup: Any) -> Any:
                return await models(setup)

        made = Made()
        made.info = ProviderInfo(name=name, title=name.upper(), **info)  # type: ignore[attr-defined]
        return made

    return make
