"""What becomes of plugin code that gives no result.

PluginLoopError          plugin code gave no result
  PluginFaultError       it raised
  PluginBlockedError     it kept its event loop from running, and was left behind
  LoopLostError          another plugin did, on the same loop
"""

import traceback
from typing import Final

from rio_core.protocol.visible import visible_line

__all__ = ["LoopLostError", "PluginBlockedError", "PluginFaultError", "PluginLoopError", "fault"]

LINE: Final = 300
"""Characters of an exception that are shown in one line."""

REPORT: Final = 20_000
"""Characters of a traceback that are kept, from its end."""


class PluginLoopError(Exception):
    """Plugin code gave no result."""


class PluginFaultError(PluginLoopError):
    """Plugin code raised `error`. `line` says it in one line, `report` is its traceback.

    Both were made on the plugin loop: even to print a foreign exception is to run foreign code.
    """

    def __init__(self, line: str, report: str, error: BaseException) -> None:
        super().__init__(line)
        self.line = line
        self.report = report
        self.error = error


class PluginBlockedError(PluginLoopError):
    """The plugin kept its event loop from running. `report` says where it stood."""

    def __init__(self, owner: str, report: str) -> None:
        super().__init__(f"plugin {owner} blocked its event loop")
        self.owner = owner
        self.report = report


class LoopLostError(PluginLoopError):
    """The call was cut off, as another plugin blocked the loop of both; or, with an empty `owner`, the core ends."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"plugin {owner} blocked the event loop of the plugins" if owner else "the core ends")
        self.owner = owner


def fault(error: BaseException) -> PluginFaultError:
    """The exception as text. Runs in the plugin's thread, and whatever the exception does, it stays there."""
    try:
        report = "".join(traceback.format_exception(error))
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        line = "".join(traceback.format_exception_only(error)).strip()
    except BaseException:  # noqa: BLE001  an exception that cannot be shown
        line = report = type(error).__name__
    short = visible_line(line[:LINE]) + ("…" if len(line) > LINE else "")
    return PluginFaultError(short, report[-REPORT:], error)
