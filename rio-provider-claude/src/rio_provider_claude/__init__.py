"""Claude in rio. This module is all that is imported before the provider is used; it imports nothing heavy."""

from collections.abc import Sequence
from typing import Final

from rio_core.api import Provider, hookimpl
from rio_provider_claude.provider import Claude

__all__ = ["rio_level", "rio_providers"]

rio_level: Final = 1


@hookimpl
def rio_providers() -> Sequence[Provider]:
    """Give the one provider of this plugin."""
    return [Claude()]
