"""The markers of pluggy for this project."""

from typing import Final

import pluggy

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT: Final = "rio"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the implementation of the hook of the same name."""
