"""`rio-core secret`: a provider's keys. A value is read without echo, and is in no argument, output or error."""

import sys
from argparse import Namespace
from typing import Final

from rio_core._cli.project import core
from rio_core._cli.text import one_line
from rio_core._cli.writer import Screen
from rio_core.protocol import RioError, visible_line

__all__ = ["run"]

_LONGEST: Final = 65536
"""Bytes of a value."""


async def run(options: Namespace, screen: Screen) -> int:
    """Set or clear a secret, or say whether it is set; gives the exit code."""
    given = {"provider": options.provider, "name": options.name}
    if options.action == "set":
        given["value"] = _value(f"{options.provider} {options.name}: ")
    async with core(None, "secret") as client:
        result = await client.call(f"secret.{options.action}", **given)
    screen.line(f"{one_line(options.provider)} {one_line(options.name)}: {result.status}")
    return 0


def _value(prompt: str) -> str:
    action = "Give one line: at the prompt, or on standard input."
    if sys.stdin.isatty():
        import getpass

        value = getpass.getpass(visible_line(prompt))
    else:
        data = sys.stdin.buffer.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise RioError("unsupported", "The value is too long for a secret.", action)
        try:
            value = data.decode("utf-8")
        except UnicodeDecodeError:
            raise RioError("encoding", "The value is not UTF-8.", action) from None
    value = value.removesuffix("\n").removesuffix("\r")
    if not value.strip() or "\n" in value or "\r" in value:
        raise RioError("bad_message", "A secret is one line, and not empty.", action)
    return value
