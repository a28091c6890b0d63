"""Which function does an op. Each namespace is imported when the first of its ops is called."""

from importlib import import_module
from typing import Final

from rio_core._engine.serving.handlers import Handler, Handlers

__all__ = ["IN_ORDER", "handler_of"]

_MODULES: Final = {
    "core": "on_core",
    "project": "on_project",
    "fs": "on_project",
    "buffer": "on_buffer",
    "search": "on_search",
    "agent": "on_agent",
    "plugin": "on_plugins",
    "provider": "on_plugins",
    "settings": "on_plugins",
    "secret": "on_plugins",
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


def handler_of(op: str) -> Handler:
    """The function that does a known op."""
    module = import_module(f"rio_core._engine.serving.{_MODULES[op.partition('.')[0]]}")
    handlers: Handlers = module.handlers
    return handlers.by_name[op]
