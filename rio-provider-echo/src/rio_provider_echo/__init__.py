"""The offline provider of rio, and the sample for authors of providers.

`provider.py` is the whole contract in use: what a provider says of itself, and how it answers. `script.py` is the
little language of echo alone.
"""

from rio_core.api import Provider, hookimpl
from rio_provider_echo.provider import Echo

__all__ = ["rio_level", "rio_providers"]

rio_level = 1


@hookimpl
def rio_providers() -> list[Provider]:
    """Give the one provider of this plugin."""
    return [Echo()]
