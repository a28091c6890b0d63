"""The ops of the core by name. A module for each namespace holds the types of their parameters and results."""

from typing import Final

from rio_core.protocol.ops import agent, buffer, core, plugins, project, search
from rio_core.protocol.ops._op import Done, Nothing, Op

__all__ = ["OPS", "Done", "Nothing", "Op", "agent", "buffer", "core", "plugins", "project", "search"]

OPS: Final[dict[str, Op]] = {
    op.name: op for module in (core, project, buffer, search, agent, plugins) for op in module.OPS
}
