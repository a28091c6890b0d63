"""Tokens and what they cost.

Source: Messages API, "Streaming" and "Prompt caching": `input_tokens` counts what follows the last cache breakpoint
only, and the numbers of `message_delta` are running totals.
"""

from collections.abc import Mapping
from typing import Any, Final

from rio_core.api import Usage
from rio_provider_claude.inference.table import Price, table

__all__ = ["Tally"]

_COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_KEPT: Final = ("cache_creation", "output_tokens_details", "server_tool_use", "service_tier")


class Tally:
    """The usage of one answer as last told."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._kept: dict[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def update(self, usage: object) -> None:
        """Take newer numbers; what is absent or null keeps its value."""
        if not isinstance(usage, Mapping):
            return
        for name in _COUNTS:
            value = usage.get(name)
            if isinstance(value, int) and value >= 0:
                self._counts[name] = int(value)
        for name in _KEPT:
            if usage.get(name):
                self._kept[name] = usage[name]

    def usage(self, model: str, message: str) -> Usage:
        """As rio counts, with the cost where the model's price is known."""
        entered, output, read, written = (self._counts.get(name, 0) for name in _COUNTS)
        known = table().price(model)
        detail = {"message": message, "model": model, **self._kept}
        return Usage(
            input=entered,
            output=output,
            cache_read=read,
            cache_write=written,
            cost=None if known is None else self._cost(known),
            estimate="" if known is None else f"list prices of {table().dated}",
            detail=detail,
        )

    def _cost(self, price: Price) -> float:
        entered, output, read, written = (self._counts.get(name, 0) for name in _COUNTS)
        per_input, per_output = price.at(entered + read + written)
        split = self._kept.get("cache_creation")
        hour = split.get("ephemeral_1h_input_tokens") if isinstance(split, Mapping) else 0
        hour = min(hour, written) if isinstance(hour, int) else 0
        factors = table().factors
        weighted: float = (
            entered
            + read * factors["cache_read"]
            + (written - hour) * factors["cache_write_5m"]
            + hour * factors["cache_write_1h"]
        )
        return (weighted * per_input + output * per_output) / 1_000_000
