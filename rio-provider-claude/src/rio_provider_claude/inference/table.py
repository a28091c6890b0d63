"""The shipped table of models: for prices, and for what a model takes when the service cannot be asked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from rio_provider_claude.inference.capability import Capability

__all__ = ["Price", "Table", "table"]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; other prices from a size of prompt on."""

    input: float
    output: float
    above: int | None = None
    input_above: float = 0.0
    output_above: float = 0.0

    def at(self, prompt: int) -> tuple[float, float]:
        """Input and output price for a prompt of this many tokens, the cached ones included."""
        if self.above is not None and prompt > self.above:
            return self.input_above, self.output_above
        return self.input, self.output


@dataclass(frozen=True, slots=True)
class Table:
    """`models.toml`. `factors` are what a cached token costs, as a part of the input price."""

    dated: str
    default: str
    factors: Mapping[str, float]
    models: Mapping[str, Capability]
    prices: Mapping[str, Price]
    aliases: Mapping[str, str]

    def model(self, name: str) -> Capability | None:
        """What the model of this id or alias takes, under the name that was asked for."""
        found = self.models.get(self.aliases.get(name, name))
        return None if found is None else replace(found, id=name)

    def price(self, name: str) -> Price | None:
        """The price of the model of this id or alias."""
        return self.prices.get(self.aliases.get(name, name))


@cache
def table() -> Table:
    """The table, read once."""
    text = resources.files("rio_provider_claude.inference").joinpath("models.toml").read_text("utf-8")
    data: dict[str, Any] = tomllib.loads(text)
    models = data["models"]
    return Table(
        dated=data["dated"],
        default=data["default"],
        factors=data["factors"],
        models={
            name: Capability(
                name,
                model["title"],
                model["window"],
                model["max_output"],
                tuple(model.get("efforts", ())),
                tuple(model.get("thinking", ())),
            )
            for name, model in models.items()
        },
        prices={name: Price(**model["price"]) for name, model in models.items()},
        aliases={alias: name for name, model in models.items() for alias in model.get("aliases", ())},
    )
