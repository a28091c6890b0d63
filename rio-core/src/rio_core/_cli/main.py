"""The `rio-core` command."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rio_core._cli.writer import Screen

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; gives the exit code. A user's error is one line, never a traceback."""
    from rio_core._cli.parser import parser

    top = parser()
    options = top.parse_args(argv)
    if options.command == "serve":
        from rio_core._cli.serve import serve

        return serve(safe_mode=options.safe_mode)
    from rio_core._cli.writer import Screen
    from rio_core.protocol import RioError

    screen, errors = Screen.on(sys.stdout), Screen.on(sys.stderr)
    if options.version:
        from importlib.metadata import version

        screen.line(f"rio-core {version('rio-core')}")
        return 0
    if options.command is None:
        top.print_help()
        return 2
    try:
        return _run(options, screen, errors)
    except RioError as error:
        screen.fresh()
        errors.error(error.message, error.action)
        return 1
    except KeyboardInterrupt:
        screen.fresh()
        return 130
    except BrokenPipeError:
        # Nobody reads any more. Else the interpreter would complain when it flushes at its end
        # (https://docs.python.org/3/library/signal.html#note-on-sigpipe).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(options: Namespace, screen: "Screen", errors: "Screen") -> int:
    import anyio

    match options.command:
        case "agent":
            from rio_core._cli.agent import run as agent

            run = partial(agent, options, screen, errors)
        case "demo":
            from rio_core._cli.demo import run as demo

            run = partial(demo, options, screen, errors)
        case "plugins":
            from rio_core._cli.listings import plugins

            run = partial(plugins, options, screen)
        case "provider":
            from rio_core._cli.listings import provider

            run = partial(provider, options, screen)
        case _:
            from rio_core._cli.secret import run as secret

            run = partial(secret, options, screen)
    return anyio.run(run)
