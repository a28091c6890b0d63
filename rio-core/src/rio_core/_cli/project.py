"""Which folder a command is about, and the core that serves it."""

from argparse import Namespace
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

from rio_core.client import Client, start_core

__all__ = ["core", "find_project", "set_up"]

_POLL: Final = 0.02
"""Seconds between two looks at whether the plugins are loaded."""


def find_project(given: str | None) -> str:
    """The absolute path of the project: as given, else the nearest folder upwards that holds `.git`, else this one."""
    if given is not None:
        return str(Path(given).absolute())
    here = Path.cwd()
    return str(next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here))


@asynccontextmanager
async def core(project: str | None, name: str, environment: Mapping[str, str] | None = None) -> AsyncIterator[Client]:
    """A core for this command, whose plugins have been loaded or have failed to."""
    async with start_core(project=project, client=f"rio-core {name}", environment=environment) as client:
        await _loaded(client)
        yield client


async def _loaded(client: Client) -> None:
    """Wait until every plugin has been tried."""
    while (await client.call("core.status")).plugins == "loading":  # noqa: ASYNC110  the core is another process
        await anyio.sleep(_POLL)


async def set_up(client: Client, options: Namespace) -> None:
    """Select the provider and begin a new conversation, where that was asked for."""
    if options.provider is not None:
        await client.call("provider.select", name=options.provider)
    if options.new:
        await client.call("agent.reset")
