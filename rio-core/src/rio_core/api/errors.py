"""Errors that a plugin raises on purpose.

    PluginError              a plugin's own failure, said to the user without a traceback
      ProviderError          a provider cannot do what it was asked

Any other exception counts as a fault of the plugin and is reported with its traceback.
"""

from rio_core.protocol.events import FailureKind

__all__ = ["PluginError", "ProviderError"]


class PluginError(Exception):
    """What happened (`message`), and the next thing that the user can do (`action`)."""

    def __init__(self, message: str, action: str) -> None:
        super().__init__(message)
        self.message = message
        self.action = action


class ProviderError(PluginError):
    """A provider's failure outside of `respond`, where a `Failure` is posted instead."""

    def __init__(self, kind: FailureKind, message: str, action: str) -> None:
        super().__init__(message, action)
        self.kind: FailureKind = kind
