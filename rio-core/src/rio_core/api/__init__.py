"""For authors of plugins. Everything else in `rio_core` is private or for front ends.

A plugin is a module that an entry point in the group `rio.core` names; its functions marked with `hookimpl` implement
the hooks in `rio_core.api.hookspecs`. It may set `rio_level`, the contract level it was written for (`LEVEL` then).
"""

from typing import Final

from rio_core.api._conversation import Block, Message, Opaque, Text, Thought, ToolResult, ToolUse
from rio_core.api._events import (
    Delta,
    Done,
    Failure,
    FailureKind,
    Native,
    Post,
    Posted,
    Stop,
    Thinking,
    ToolCall,
    Usage,
    Waiting,
)  # fmt: skip
from rio_core.api._marker import hookimpl
from rio_core.api._provider import Model, Provider, ProviderInfo, Request, SecretSpec, SettingSpec, Setup, ToolSpec
from rio_core.api.errors import PluginError, ProviderError

__all__ = [
    "LEVEL", "OLDEST_LEVEL", "Block", "Delta", "Done", "Failure", "FailureKind", "Message", "Model", "Native",
    "Opaque", "PluginError", "Post", "Posted", "Provider", "ProviderError", "ProviderInfo", "Request",
    "SecretSpec", "SettingSpec", "Setup", "Stop", "Text", "Thinking", "Thought", "ToolCall", "ToolResult",
    "ToolSpec", "ToolUse", "Usage", "Waiting", "hookimpl",
]  # fmt: skip

LEVEL: Final = 1
"""Level of this contract. It rises when something that plugins rely on changes or goes."""

OLDEST_LEVEL: Final = 1
"""Plugins of this level and later are loaded."""
