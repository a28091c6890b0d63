"""A terminal with somebody at it: a screen, and questions that are answered in whole lines."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from rio_core._cli.writer import Screen

__all__ = ["Terminal", "forget_typed"]


class Terminal:
    """Asks on a screen and reads the answers from a terminal's descriptor.

    Reading goes through the event loop, so that the core is heard while somebody thinks. `lent` is true while another
    program has the terminal.
    """

    def __init__(self, screen: Screen, descriptor: int) -> None:
        self.screen = screen
        self.lent = False
        self._descriptor = descriptor

    async def ask(self, question: str) -> str | None:
        """The line typed after the question was drawn, without its end; None at the end of input (Ctrl-D).

        What was typed before is thrown away: it was meant for something else. The colon comes after that, so that a
        program at the other end can know from when on it may type.
        """
        self.screen.fresh()
        self.screen.write(question, "bold")
        forget_typed(self._descriptor)
        self.screen.write(": ")
        # A terminal hands out whole lines (canonical mode), none longer than 4,096 bytes.
        await anyio.wait_readable(self._descriptor)
        data = os.read(self._descriptor, 65536)
        self.screen.typed(whole=data.endswith(b"\n"))
        return data.decode("utf-8", "replace").rstrip("\r\n") if data else None

    @contextmanager
    def lend(self) -> Iterator[None]:
        """While another program draws and reads here."""
        self.screen.fresh()
        self.lent = True
        try:
            yield
        finally:
            self.lent = False


def forget_typed(descriptor: int) -> None:
    """Throw away what was typed and not read."""
    try:
        import termios
    except ImportError:  # not a POSIX system
        return
    termios.tcflush(descriptor, termios.TCIFLUSH)
