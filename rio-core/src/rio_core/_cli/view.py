"""Showing a turn as it goes on."""

from typing import Final, Literal

from rio_core._cli.text import arguments, cut, one_line
from rio_core._cli.writer import Screen
from rio_core.protocol import Event, RioError
from rio_core.protocol.events import (
    AgentDelta,
    AgentError,
    AgentMessage,
    AgentOutput,
    AgentResolved,
    AgentStopped,
    AgentThinking,
    AgentTool,
    AgentToolResult,
    AgentWaiting,
)

__all__ = ["View"]

_SUMMARY: Final = 200
"""Characters of a tool's summary that are shown."""


class View:
    """Draws events on a screen; errors go to a screen of their own. Proposals are drawn by who decides them."""

    def __init__(self, screen: Screen, errors: Screen) -> None:
        self._screen = screen
        self._errors = errors
        self._stream: Literal["", "reply", "thinking", "output"] = ""
        self._replied = False
        self._paths: dict[str, str] = {}
        self._calls: set[str] = set()

    def proposed(self, proposal: str, call: str, path: str) -> None:
        """Remember what a proposal is about, and which call made it: its result is told by the decision."""
        self._stream = ""
        self._paths[proposal] = path
        self._calls.add(call)

    def refused(self, error: RioError) -> None:
        """Why a decision was not taken."""
        self._screen.fresh()
        self._errors.error(error.message, error.action)

    def show(self, event: Event) -> None:
        """Draw one event."""
        match event:
            case AgentDelta():
                self._replied = True
                self._flow("reply", event.text)
            case AgentThinking():
                self._flow("thinking", event.text)
            case AgentOutput():
                self._flow("output", event.text)
            case _:
                self._stream = ""
                self._line(event)

    def _flow(self, stream: Literal["reply", "thinking", "output"], text: str) -> None:
        if stream != self._stream:
            self._screen.fresh()
            self._stream = stream
            if stream == "thinking":
                self._screen.write("(thinking) ", "dim")
        self._screen.write(text, "plain" if stream == "reply" else "dim")

    def _line(self, event: Event) -> None:
        screen = self._screen
        match event:
            case AgentWaiting():
                screen.line((f"Waiting {event.seconds:.0f} s: {one_line(event.reason)} (Ctrl-C stops)", "dim"))
            case AgentTool():
                given = arguments({"path": event.input["path"]} if _proposes(event) else event.input)
                screen.line(("> ", "dim"), (one_line(event.name), "bold"), (f"  {given}" if given else "", "dim"))
            case AgentToolResult() if event.call in self._calls:
                self._calls.remove(event.call)
            case AgentToolResult(ok=True):
                screen.line((f"  {cut(one_line(event.summary), _SUMMARY)}", "dim"))
            case AgentToolResult():
                screen.line(("  failed: ", "warning"), one_line(event.summary))
            case AgentResolved():
                self._resolved(event)
            case AgentMessage():
                if event.text and not self._replied:
                    screen.line(event.text)
                self._replied = False
                if event.detail:
                    screen.warn(one_line(event.detail))
                screen.fresh()
            case AgentError():
                screen.fresh()
                self._errors.error(event.message, event.action)
            case AgentStopped():
                screen.line(("Stopped.", "dim"))

    def _resolved(self, event: AgentResolved) -> None:
        path = one_line(self._paths.get(event.proposal, event.proposal))
        match event.outcome:
            case "applied":
                self._screen.line(("applied ", "added"), path)
            case "rejected":
                self._screen.line(("rejected ", "removed"), path)
            case "refused":
                self._screen.line(("not applied ", "warning"), f"{path}: {one_line(event.message)}")
            case "interrupted":
                self._screen.line((f"withdrawn {path}", "dim"))


def _proposes(event: AgentTool) -> bool:
    # The proposal itself is drawn in full: what it holds need not be shown twice.
    return event.name.startswith("propose_") and isinstance(event.input, dict) and "path" in event.input
