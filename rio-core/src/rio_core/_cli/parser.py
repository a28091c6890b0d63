"""The command line: what can be typed, and what is said about it."""

import argparse
from typing import NoReturn

from rio_core.protocol import visible

__all__ = ["parser"]

_EXIT = """\
exit codes:
  0    the turn ended well
  1    it failed (the error is on standard error)
  2    the command line was not understood
  3    something was proposed and not approved
  130  interrupted with Ctrl-C
"""

_AGENT = """\
Talk to the agent about a project. It reads by itself and changes nothing: each change is shown as a diff and asks
for your decision. With TEXT it answers once, without it is a chat. Ctrl-C stops the agent, a second one leaves.

Without a terminal nothing is asked and nothing is approved: what is proposed is rejected. TEXT is then read from
standard input where it is not given.
"""

_JSON = "print every event as a JSON line; read decisions as JSON lines from standard input (docs/terminal.md)"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def _add(commands: "argparse._SubParsersAction[_Parser]", name: str, text: str, epilog: str = "") -> _Parser:
    return commands.add_parser(
        name, help=text.partition(".")[0], description=text, epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """The parser of `rio-core`."""
    top = _Parser(
        prog="rio-core",
        description="An editor's core with an assisted agent, used from a terminal.",
        epilog="New here? Type: rio-core demo",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and leave")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    agent = _add(commands, "agent", _AGENT, _EXIT)
    agent.add_argument("text", metavar="TEXT", nargs="?", help="what to say; without it, a chat")
    agent.add_argument("--project", metavar="DIR", help="the project (default: the nearest folder upwards with .git)")
    agent.add_argument("--provider", metavar="NAME", help="select this provider, also for later runs")
    agent.add_argument("--new", action="store_true", help="begin a new conversation; the last one is kept")
    agent.add_argument("--json", action="store_true", help=_JSON)

    demo = _add(
        commands, "demo", "See a whole round in a minute. Works on a temporary copy of a real package, with echo."
    )
    demo.add_argument("--keep", action="store_true", help="keep the copy and say where it is")

    plugins = _add(commands, "plugins", "List installed plugins, or switch one on or off.")
    actions = plugins.add_subparsers(dest="action", metavar="ACTION")
    _add(actions, "list", "List what is installed, with its status and the reason for it (the default).")
    for name, text in (("enable", "Use a plugin again."), ("disable", "Do not load a plugin any more.")):
        _add(actions, name, text).add_argument("name", metavar="NAME", help="its name in the list")

    provider = _add(commands, "provider", "List providers, or select the one that answers.")
    actions = provider.add_subparsers(dest="action", metavar="ACTION")
    _add(actions, "list", "List providers; * marks the selected one (the default).")
    select = _add(actions, "select", "Select the provider that answers.")
    select.add_argument("name", metavar="NAME")
    select.add_argument("--model", metavar="M", help="a model of it (default: its own choice)")

    secret = _add(commands, "secret", "Store, clear or look for a provider's key. Its value is never shown.")
    actions = secret.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (
        ("set", "Store a value. It is typed without echo, or read from standard input."),
        ("clear", "Forget a value."),
        ("status", "Say whether there is a value."),
    ):
        action = _add(actions, name, text)
        action.add_argument("provider", metavar="PROVIDER")
        action.add_argument("name", metavar="NAME", help="such as api_key; `rio-core provider` names it")

    serve = _add(commands, "serve", "Serve a front end. Speaks JSON-RPC on standard input and output.")
    serve.add_argument("--safe-mode", action="store_true", help="load first-party plugins only")
    return top
