"""Every op with the function that does it."""

from typing import Final

from rio_core._engine.serving import on_agent, on_buffer, on_core, on_plugins, on_project
from rio_core._engine.serving.handlers import Handler

__all__ = ["HANDLERS", "IN_ORDER"]

HANDLERS: Final[dict[str, Handler]] = {
    name: handler
    for module in (on_core, on_project, on_buffer, on_agent, on_plugins)
    for name, handler in module.handlers.by_name.items()
}

IN_ORDER: Final = frozenset(
    {
        "project.open",
        "project.close",
        "project.trust",
        "provider.select",
        "settings.set",
        "fs.create",
        "fs.rename",
        "fs.delete",
    }
)
"""Ops that are finished before the next request of their connection is looked at: later ones build on them."""
