"""`rio-core agent`: one message, or a chat."""

import sys
from argparse import Namespace
from typing import Final

from rio_core._cli.chat import chat
from rio_core._cli.decisions import NOBODY
from rio_core._cli.project import core, find_project, set_up
from rio_core._cli.review import Review, unattended
from rio_core._cli.terminal import Terminal
from rio_core._cli.text import one_line
from rio_core._cli.turns import Report, Turns
from rio_core._cli.view import View
from rio_core._cli.waiting import waiting_proposals
from rio_core._cli.writer import Screen
from rio_core.client import Client

__all__ = ["run"]

_NOBODY: Final = "Nobody is at a terminal to be asked, so it is rejected."


async def run(options: Namespace, screen: Screen, errors: Screen) -> int:
    """Talk to the agent as the options say; gives the exit code."""
    if options.json:
        from rio_core._cli.jsonl import run as run_json

        return await run_json(options, screen)
    text = options.text
    # Somebody who cannot see the proposal cannot approve it, and neither can who cannot type.
    attended = sys.stdin.isatty() and sys.stdout.isatty()
    if text is None and not attended:
        if sys.stdin.isatty():
            errors.error("A chat needs a terminal to write to.", "Give TEXT, or use --json.")
            return 2
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    async with core(find_project(options.project), "agent") as client:
        await set_up(client, options)
        terminal = Terminal(screen, sys.stdin.fileno()) if attended else None
        with client.events() as events:
            decide = Review(terminal, client) if terminal else unattended(screen, NOBODY, _NOBODY)
            turns = Turns(client, events, View(screen, errors), decide, terminal)
            await _tell_notices(client, errors)
            if terminal:
                await _finish_waiting(client, turns, screen)
            report = turns.report
            if report.quit or (report.interrupted and text is not None):
                return report.code
            if text is None:
                return await chat(client, turns, screen, errors)
            turns.report = Report()
            await turns.say(text)
            tell_changes(screen, turns.report)
            return turns.report.code


async def _tell_notices(client: Client, errors: Screen) -> None:
    """Say what the core could not read or does not use."""
    status = await client.call("core.status")
    history = await client.call("agent.history", limit=1)
    for notice in (*status.notices, *history.notices):
        errors.warn(one_line(notice))


async def _finish_waiting(client: Client, turns: Turns, screen: Screen) -> None:
    """Have what still waits from an earlier run decided: a new message would withdraw it."""
    waiting = await waiting_proposals(client)
    for turn in dict.fromkeys(event.turn for event in waiting):
        screen.line("Of your last conversation, this still waits:")
        await turns.follow(turn, [event for event in waiting if event.turn == turn])


def tell_changes(screen: Screen, report: Report) -> None:
    """Name the files that were changed, if any."""
    if report.changed:
        screen.line(("changed: ", "bold"), ", ".join(map(one_line, report.changed)))
