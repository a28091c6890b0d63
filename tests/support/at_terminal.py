"""A user at a real terminal."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect

SGR = re.compile(r"\x1b\[[0-9;]*m")


class User:
    """Somebody at a terminal of 100 columns."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        self.child = pexpect.spawn(
            command[0], command[1:], env={**os.environ, "TERM": "xterm", **(environment or {})}, cwd=cwd,
            dimensions=(40, 100), timeout=20, encoding="utf-8", codec_errors="backslashreplace",
        )  # fmt: skip
        self.child.delaybeforesend = 0
        self._seen = ""

    def sees(self, text: str) -> str:
        """Wait until this text is on the screen; gives what came before it and was not asked for yet."""
        self.child.expect_exact(text)
        self._seen += self.child.before + self.child.after
        return self.child.before

    def is_asked(self, question: str) -> None:
        """Wait for a question, and until what is typed counts."""
        self.sees(question)
        self.sees("\x1b[0m: ")

    def types(self, line: str) -> None:
        """Type a line and Enter."""
        self.child.send(line + "\r")

    def presses(self, key: str) -> None:
        """Ctrl and this key."""
        self.child.sendcontrol(key)

    def leaves(self) -> int:
        """Wait for the end; gives the exit code."""
        self.child.expect(pexpect.EOF)
        self._seen += self.child.before
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -(self.child.signalstatus or 0)

    @property
    def screen(self) -> str:
        """All that was seen, without colours."""
        return SGR.sub("", self._seen).replace("\r\n", "\n")

    @property
    def raw(self) -> str:
        """All that was seen, as it came."""
        return self._seen

    def settle(self, seconds: float = 0.3) -> None:
        """Give the command the time to do something that it must not do."""
        time.sleep(seconds)


@contextmanager
def users() -> Iterator[Callable[..., User]]:
    """Gives `begin(command, environment, cwd)`, which starts a command at a terminal of its own."""
    begun: list[User] = []

    def begin(command: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None) -> User:
        begun.append(User(command, environment, cwd))
        return begun[-1]

    try:
        yield begin
    finally:
        for one in begun:
            one.child.close(force=True)
