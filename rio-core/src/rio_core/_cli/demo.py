"""`rio-core demo`: a whole round with the agent, over the channel that every front end uses."""

import json
import os
import shutil
import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from rio_core._cli.decisions import Decision
from rio_core._cli.project import core
from rio_core._cli.review import Review, unattended
from rio_core._cli.sample import Sample, make_sample
from rio_core._cli.terminal import Terminal
from rio_core._cli.text import one_line
from rio_core._cli.turns import Report, Turns
from rio_core._cli.view import View
from rio_core._cli.writer import Screen
from rio_core.client import Client
from rio_core.protocol import RioError

__all__ = ["run"]


async def run(options: Namespace, screen: Screen, errors: Screen) -> int:
    """Play the demo; gives the exit code. Whatever is decided is a good end of it."""
    base = Path(tempfile.mkdtemp(prefix="rio-demo-"))  # made with mode 0700
    root = base / "project"
    try:
        root.mkdir()
        sample = make_sample(root)
        environment = os.environ | {"RIO_HOME": str(base / "rio")}  # not the user's conversations and settings
        async with core(str(root), "demo", environment) as client:
            await _select_echo(client)
            report = await _play(client, sample, root, screen, errors)
    finally:
        if not options.keep:
            shutil.rmtree(base)
    if report.interrupted or report.failed:
        return report.code
    if options.keep:
        screen.line(("Kept:    ", "bold"), one_line(str(root)))
    _tell_next(screen)
    return 0


async def _select_echo(client: Client) -> None:
    if "echo" not in (provider.name for provider in (await client.call("provider.list")).providers):
        action = "Install it from where you have rio-core, both in one pip command."
        raise RioError("not_found", "The demo needs the provider echo, which is not there.", action)
    await client.call("provider.select", name="echo")


async def _play(client: Client, sample: Sample, root: Path, screen: Screen, errors: Screen) -> Report:
    screen.line(
        ("rio demo", "bold"), f": {sample.package} {sample.version} in a temporary folder, {sample.files} files"
    )
    screen.line(("The provider echo plays the model: no network, no key. All else is what you will use.", "dim"))
    screen.line()
    screen.line(("you: ", "bold"), f"Give {sample.path} a docstring that says what it defines.")
    attended = sys.stdin.isatty() and sys.stdout.isatty()
    terminal = Terminal(screen, sys.stdin.fileno()) if attended else None
    decide = (
        Review(terminal, client)
        if terminal
        else unattended(
            screen, Decision("approve"), "Nobody is at a terminal to be asked: the demo approves it, by the same call."
        )
    )
    before = (root / sample.path).read_bytes()
    with client.events() as events:
        turns = Turns(client, events, View(screen, errors), decide, terminal)
        await turns.say(_script(sample))
    screen.line()
    await _compare(client, sample, root, before, screen)
    return turns.report


def _script(sample: Sample) -> str:
    def tool(name: str, **given: str) -> str:
        return f"/tool {name} {json.dumps(given)}"

    found = len(sample.names)
    return "\n".join(
        (
            "/say I look at the project first.",
            tool("fs_list", path=sample.package),
            tool("fs_search", pattern=sample.names[0]),
            tool("fs_read", path=sample.path),
            "/then",
            f"/say It defines {found} public {'name' if found == 1 else 'names'} and has no docstring. I propose one:",
            tool("propose_edit", path=sample.path, old=sample.old, new=sample.new),
            "/then",
            "/say What you decided is done; nothing else was touched.",
        )
    )


async def _compare(client: Client, sample: Sample, root: Path, before: bytes, screen: Screen) -> None:
    """Show what is on disk now, and that undo gives the old bytes back."""
    file, path = root / sample.path, one_line(sample.path)
    after = file.read_bytes()
    if after == before:
        screen.line(("On disk: ", "bold"), f"{path} is byte for byte what it was.")
        return
    screen.line(("On disk: ", "bold"), f"{path} had {len(before):,} bytes and has {len(after):,}.")
    buffer = (await client.call("buffer.open", path=sample.path)).buffer
    await client.call("buffer.undo", buffer=buffer)
    await client.call("buffer.save", buffer=buffer)
    same = file.read_bytes() == before
    screen.line(("Undone:  ", "bold"), f"it is {'byte for byte' if same else 'NOT'} what it was.")


def _tell_next(screen: Screen) -> None:
    screen.line()
    screen.line(("Next, in a project of yours:", "bold"))
    screen.line("  rio-core agent --project .")
    screen.line(("  rio-core --help has the rest; rio-core provider lists who can answer.", "dim"))
