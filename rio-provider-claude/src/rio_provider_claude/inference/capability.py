"""What a model takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["EFFORTS", "Capability", "told"]

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
THINKING: Final = ("adaptive", "between_tools", "disabled", "enabled")


@dataclass(frozen=True, slots=True)
class Capability:
    """A model and what it takes. Limits are in tokens, None where unknown; what is not listed is not sent."""

    id: str
    title: str
    window: int | None = None
    max_output: int | None = None
    efforts: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()


def told(entry: Mapping[str, Any]) -> Capability | None:
    """From an entry of the service's list of models; None where it tells no capabilities.

    Source: Messages API, `GET /v1/models`: every leaf of `capabilities` has `supported`.
    """
    capabilities = entry.get("capabilities")
    if not isinstance(capabilities, Mapping):
        return None
    return Capability(
        id=entry["id"],
        title=str(entry.get("display_name") or entry["id"]),
        window=_count(entry.get("max_input_tokens")),
        max_output=_count(entry.get("max_tokens")),
        efforts=_supported(capabilities.get("effort"), EFFORTS),
        thinking=_supported(_get(capabilities.get("thinking"), "types"), THINKING),
    )


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _supported(group: object, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if _get(_get(group, name), "supported") is True)
