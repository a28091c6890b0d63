"""`rio-core plugins` and `rio-core provider`: what is installed, and which of it is used."""

from argparse import Namespace

from msgspec import UNSET

from rio_core._cli.project import core
from rio_core._cli.text import one_line, table
from rio_core._cli.writer import Screen
from rio_core.client import Client

__all__ = ["plugins", "provider"]


async def plugins(options: Namespace, screen: Screen) -> int:
    """List plugins, or switch one on or off for the next start; gives the exit code."""
    async with core(None, "plugins") as client:
        if options.action in ("enable", "disable"):
            await client.call(f"plugin.{options.action}", name=options.name)
            screen.line(f"{options.name} is {'on' if options.action == 'enable' else 'off'} from now on.")
        else:
            await _list_plugins(client, screen)
    return 0


async def _list_plugins(client: Client, screen: Screen) -> None:
    found = (await client.call("plugin.list")).plugins
    if not found:
        screen.line("No plugins are installed. Install a provider, such as rio-provider-echo, with pip.")
        return
    rows = [["NAME", "STATUS", "PACKAGE", "GIVES"]] + [
        [plugin.name, plugin.status, f"{plugin.distribution} {plugin.version}", ", ".join(plugin.provides) or "-"]
        for plugin in found
    ]
    lines = table([[one_line(cell) for cell in row] for row in rows])
    screen.line((lines[0], "dim"))
    for plugin, line in zip(found, lines[1:], strict=True):
        screen.line(line)
        if plugin.reason is not UNSET and plugin.reason:
            screen.line(("  ! ", "warning"), one_line(plugin.reason))


async def provider(options: Namespace, screen: Screen) -> int:
    """List providers, or select one; gives the exit code."""
    async with core(None, "provider") as client:
        if options.action == "select":
            await client.call("provider.select", name=options.name, model=options.model)
            model = f" with model {options.model}" if options.model else ""
            screen.line(f"{options.name}{model} answers from the next message on.")
        else:
            await _list_providers(client, screen)
    return 0


async def _list_providers(client: Client, screen: Screen) -> None:
    found = (await client.call("provider.list")).providers
    if not found:
        screen.line("No provider is there. `rio-core plugins` says what is installed and why it is not on.")
        return
    rows = [["", "NAME", "TITLE", "READY", "MODEL", "PACKAGE"]] + [
        [
            "*" if item.selected else " ", item.name, item.title, "yes" if item.ready else "no",
            item.model or "default", f"{item.distribution} {item.version}",
        ]
        for item in found
    ]  # fmt: skip
    lines = table([[one_line(cell) for cell in row] for row in rows])
    screen.line((lines[0], "dim"))
    for item, line in zip(found, lines[1:], strict=True):
        screen.line(line)
        for secret in item.secrets:
            if not secret.set and not item.ready:
                advice = f"needs {secret.title}: rio-core secret set {item.name} {secret.name}"
                screen.line(("  ! ", "warning"), one_line(advice))
