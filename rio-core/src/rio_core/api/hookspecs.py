"""Every hook that a plugin of the core can implement."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rio_core.api._marker import hookspec

if TYPE_CHECKING:
    from rio_core.api._provider import Provider

__all__ = ["rio_providers"]


@hookspec
def rio_providers() -> "Sequence[Provider]":  # type: ignore[empty-body]
    """Give the providers of this plugin.

    Called once, after the core has answered its first request, on the event loop of the plugins. Return the providers,
    ready to be asked for `info`; open no connection and read no file here. No plugin can stop another from being asked.

        @hookimpl
        def rio_providers():
            return [MyProvider()]
    """
