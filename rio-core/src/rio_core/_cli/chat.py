"""The chat: a prompt between turns."""

import signal
import sys
from contextlib import suppress

from rio_core._cli.text import one_line
from rio_core._cli.turns import INTERRUPTED, Report, Turns
from rio_core._cli.writer import Screen
from rio_core.client import Client
from rio_core.protocol import RioError

__all__ = ["chat"]

_HELP = """\
Type a message and Enter. End a line with \\ to go on in the next one.
  :prompt   the system prompt, layer by layer
  :status   project, provider and conversation
  :trust    trust this project: its AGENTS.md becomes part of the system prompt
  :stop     stop what runs or waits
  :quit     leave (so does Ctrl-D)
Ctrl-C stops the agent; at the prompt it leaves."""


async def chat(client: Client, turns: Turns, screen: Screen, errors: Screen) -> int:
    """Read messages and follow their turns until the user leaves; gives the exit code."""
    with suppress(ImportError):  # editing and history in the prompt, kept in memory only
        import readline  # noqa: F401  importing it is what gives the prompt its editing
    status = await client.call("agent.status")
    root = client.project.root if client.project else ""
    screen.line(
        ("rio ", "bold"), f"{status.provider or 'no provider'} in {one_line(root)}", ("  :help for help", "dim")
    )
    while True:
        screen.fresh()
        try:
            text = _message()
        except KeyboardInterrupt:
            screen.typed(whole=False)
            screen.fresh()
            return INTERRUPTED
        if text is None or text.strip() == ":quit":
            return 0
        if not text.strip():
            continue
        try:
            if text.startswith(":"):
                await _command(text.strip(), client, screen, errors)
                continue
            turns.report = Report()
            await turns.say(text)
        except RioError as error:
            if error.kind == "internal":
                raise
            errors.error(error.message, error.action)
        if turns.report.changed:
            screen.line(("changed: ", "bold"), ", ".join(map(one_line, turns.report.changed)))
        if turns.report.quit:
            return turns.report.code


def _message() -> str | None:
    """What is typed at the prompt; None at the end of input.

    Reads the terminal without the event loop, as line editing cannot go through it: between turns nothing needs it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    lines: list[str] = []
    try:
        while not lines or lines[-1].endswith("\\"):
            lines.append(input(". " if lines else "> "))
    except EOFError:
        if not lines:
            sys.stdout.write("\n")
            return None
    finally:
        signal.signal(signal.SIGINT, before)
    return "\n".join([*(line[:-1] for line in lines[:-1]), lines[-1].removesuffix("\\")])


async def _command(text: str, client: Client, screen: Screen, errors: Screen) -> None:
    match text:
        case ":help":
            screen.line(_HELP)
        case ":stop":
            stopped = (await client.call("agent.stop")).stopped
            screen.line("Stopped." if stopped else "Nothing runs.")
        case ":trust" if client.project is not None:
            await client.call("project.trust", path=client.project.root)
            screen.line(f"{one_line(client.project.root)} is trusted from the next message on.")
        case ":prompt":
            for layer in (await client.call("agent.prompt")).layers:
                off = "" if layer.on else f"  off: {one_line(layer.reason)}"
                screen.line((f"{one_line(layer.name)} ", "bold"), (f"({one_line(layer.source)}){off}", "dim"))
                if layer.on:
                    screen.line(layer.text)
        case ":status":
            core, agent = await client.call("core.status"), await client.call("agent.status")
            screen.line(f"project       {one_line(core.project or '-')} ({'' if core.trusted else 'not '}trusted)")
            screen.line(
                f"provider      {one_line(agent.provider or '-')}  model {one_line(agent.model or 'its default')}"
            )
            screen.line(f"conversation  {one_line(agent.conversation)}")
            screen.line(f"kept in       {one_line(core.state_folder)}")
        case _:
            errors.error(f"{text} is no command.", "Type :help, or begin with a space to send it as a message.")
