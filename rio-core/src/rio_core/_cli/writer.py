"""The one way to the terminal: everything shown passes here, and is escaped here and nowhere else.

A model, a file, a name or a plugin can hold characters that a terminal obeys. They are drawn as escapes, in reverse
video where there is any, so that an escape can be told from a text that only reads like one.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, Self, TextIO

from rio_core.protocol import encode, visible
from rio_core.protocol.visible import HIDDEN, is_hidden

__all__ = ["Piece", "Screen", "Style"]

Style = Literal["plain", "dim", "bold", "mark", "removed", "added", "hunk", "warning", "error"]
Piece = tuple[str, Style]

# ECMA-48 section 8.3.117, select graphic rendition. https://no-color.org is about the colours alone.
_ATTRIBUTES: Final[dict[Style, str]] = {"dim": "2", "bold": "1", "mark": "7", "warning": "1", "error": "1"}
_COLOURS: Final[dict[Style, str]] = {"removed": "31", "added": "32", "hunk": "36", "warning": "1;33", "error": "1;31"}
_RESET: Final = "\x1b[0m"


class Screen:
    """Writes styled text to a stream. `width` and `height` are in characters."""

    def __init__(
        self, stream: TextIO, *, attributes: bool = False, colours: bool = False, width: int = 80, height: int = 24
    ) -> None:
        self._stream = stream
        self._sgr = (_ATTRIBUTES if attributes else {}) | (_COLOURS if colours else {})
        self._at_start = True
        self.width = width
        self.height = height

    @classmethod
    def on(cls, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Self:
        """A screen on a stream, with as much drawing as it and the environment (NO_COLOR, TERM) allow."""
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        terminal = stream.isatty() and environment.get("TERM", "dumb") != "dumb"
        width, height = shutil.get_terminal_size()
        colours = terminal and not environment.get("NO_COLOR")
        return cls(stream, attributes=terminal, colours=colours, width=width, height=height)

    def write(self, text: str, style: Style = "plain") -> None:
        """A chunk of text, wherever the last one ended. Safe for any split of a text into chunks."""
        if text:
            self._stream.write(self._drawn(text, style))
            self._stream.flush()
            self._at_start = text.endswith("\n")

    def line(self, *pieces: str | Piece) -> None:
        """A line of its own, in pieces of one style each. A line end inside a piece stays one."""
        self.fresh()
        drawn = "".join(self._drawn(*(piece if isinstance(piece, tuple) else (piece, "plain"))) for piece in pieces)
        self._stream.write(drawn + "\n")
        self._stream.flush()

    def lines(self, lines: Iterable[Iterable[Piece]]) -> None:
        """Many lines."""
        for pieces in lines:
            self.line(*pieces)

    def fresh(self) -> None:
        """Begin a new line unless one has just begun."""
        if not self._at_start:
            self._stream.write("\n")
            self._stream.flush()
            self._at_start = True

    def typed(self, *, whole: bool = True) -> None:
        """Somebody typed here, a whole line or not: the terminal has echoed it."""
        self._at_start = whole

    def error(self, message: str, action: str = "") -> None:
        """What went wrong, on one line, and the next thing to do on another."""
        self.line(("error: ", "error"), " ".join(message.split("\n")))
        if action:
            self.line("  ", " ".join(action.split("\n")))

    def warn(self, message: str) -> None:
        """Something to look at before going on."""
        self.line(("! ", "warning"), message)

    def json(self, message: Mapping[str, Any]) -> None:
        """A JSON object on a line, in ASCII, in which no character can be one that a terminal obeys."""
        self._stream.write(encode(message).decode("ascii").replace("\x7f", "\\u007f"))
        self._stream.flush()

    def _drawn(self, text: str, style: Style) -> str:
        if not self._sgr:
            return visible(text)
        on = f"\x1b[{self._sgr[style]}m" if style in self._sgr else ""
        parts: list[str] = []
        # Line by line: a style that is on while the screen scrolls would colour the new line to its end.
        for number, line in enumerate(text.split("\n")):
            parts.append("\n" if number else "")
            if line:
                parts += (on, self._marked(line, on), _RESET if on else "")
        return "".join(parts)

    def _marked(self, line: str, on: str) -> str:
        mark = f"{_RESET}\x1b[{self._sgr['mark']}m" if "mark" in self._sgr else ""
        return HIDDEN.sub(
            lambda match: f"{mark}{visible(match[0])}{_RESET}{on}" if is_hidden(match[0]) else match[0], line
        )
