"""Which folder a command is about, and the core that serves it."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

from rio_core.client import Client, start_core

__all__ = ["core", "find_project", "loaded"]

_POLL: Final = 0.02
"""Seconds between two looks at whether the plugins are loaded."""


def find_project(given: str | None) -> str:
    """The absolute path of the project: as given, else the nearest folder upwards that holds `.git`, else this one."""
    if given is not None:
        return str(Path(given).absolute())
    here = Path.cwd()
    return str(next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here))


@asynccontextmanager
async def core(project: str | None, name: str, command: Sequence[str] | None = None) -> AsyncIterator[Client]:
    """A core whose plugins have been loaded, or have failed to."""
    async with start_core(project=project, command=command, client=f"rio-core {name}") as client:
        await loaded(client)
        yield client


async def loaded(client: Client) -> None:
    """Wait until every plugin has been tried."""
    while (await client.call("core.status")).plugins == "loading":
        await anyio.sleep(_POLL)
