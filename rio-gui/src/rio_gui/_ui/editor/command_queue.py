"""Commands in the order in which they were given, though one of them may have to wait for lines."""

from collections import deque
from collections.abc import Callable
from typing import Final

from rio_core.protocol import RioError
from rio_gui._ui.document.document import Document, MissingLinesError

Command = Callable[[], None]

_TRIES: Final = 100  # a command that goes up or down through many unknown lines asks for them a few at a time
_TOO_MUCH: Final = RioError("unsupported", "This needs more of the text at once than can be had.", "Select less.")


class CommandQueue:
    """Runs commands at once as long as the lines that they need are known; else those that come later wait too."""

    def __init__(self, document: Document, failed: Callable[[RioError], None]) -> None:
        self._document = document
        self._failed = failed
        self._waiting: deque[Command] = deque()
        self._tries = 0
        self._running = False

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()

    def run(self, command: Command) -> None:
        """Run a command after those before it. It must not change anything before it has what it needs."""
        self._waiting.append(command)
        self.go_on()

    def go_on(self) -> None:
        """Try again: lines have come."""
        if self._running:
            return
        self._running = True
        try:
            while self._waiting:
                try:
                    self._waiting[0]()
                except MissingLinesError as missing:
                    self._tries += 1
                    if self._tries <= _TRIES:
                        self._document.fetch(missing.first, missing.count, missing.columns)
                        return
                    self._waiting.popleft()
                    self._failed(_TOO_MUCH)
                except RioError as error:
                    self._waiting.popleft()
                    self._failed(error)
                except BaseException:
                    self._waiting.popleft()
                    raise
                else:
                    self._waiting.popleft()
                self._tries = 0
        finally:
            self._running = False
