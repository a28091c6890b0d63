"""Which plugins are installed. Nothing of them is imported to find out."""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib_metadata import Distribution

__all__ = ["GROUP", "Found", "discover", "search_path"]

logger = logging.getLogger(__name__)

GROUP: Final = "rio.core"
"""The entry-point group of plugins of the core."""


@dataclass(frozen=True)
class Found:
    """One entry point. `problem` says why it cannot be loaded, where that is known before trying."""

    name: str
    value: str
    distribution: str
    version: str
    homepage: str = ""
    problem: str = ""
    loaded: Any = None
    """The plugin itself, where it was handed over in this process instead of being installed."""


def search_path() -> list[str]:
    """`sys.path` without the working folder, which may be a project: nothing of a project is ever imported."""
    here = os.path.realpath(os.curdir)
    return [entry for entry in sys.path if os.path.isabs(entry) and os.path.realpath(entry) != here]


def discover(path: Sequence[str]) -> list[Found]:
    """The entry points of the group, in the order of the path, then of the distributions' names.

    A distribution that is on the path twice counts where it is first, as for imports. One whose metadata cannot be
    read is reported, as a plugin with a problem where it may be one.
    """
    from importlib_metadata import distributions

    found: list[Found] = []
    seen: set[str] = set()
    for entry in path:
        folder = sorted(
            ((_name(distribution), distribution) for distribution in distributions(path=[entry])),
            key=lambda pair: pair[0].casefold(),
        )
        for name, distribution in folder:
            key = name.casefold().replace("_", "-").replace(".", "-")
            if key not in seen:
                seen.add(key)
                found += _plugins(name, distribution)
    return found


def _name(distribution: "Distribution") -> str:
    try:
        name = distribution.metadata["Name"]
    except Exception:  # noqa: BLE001  any damage to the file
        name = None
    # The folder's name has it too: NAME-VERSION.dist-info
    return name or os.path.basename(str(getattr(distribution, "_path", "unknown"))).partition("-")[0]


def _plugins(name: str, distribution: "Distribution") -> Iterator[Found]:
    try:
        text = distribution.read_text("entry_points.txt") or ""
        if GROUP not in text:
            return
        points = distribution.entry_points.select(group=GROUP)
        version = distribution.version or "unknown"
        homepage = _homepage(distribution)
        for point in points:
            yield Found(point.name, point.value, name, version, homepage)
    except Exception as error:  # noqa: BLE001  any damage to the files
        problem = f"its metadata cannot be read: {error!r}"
        logger.warning("distribution %s: %s", name, problem)
        yield Found(name, "", name, "unknown", problem=problem)


def _homepage(distribution: "Distribution") -> str:
    metadata = distribution.metadata
    urls = {}
    for line in metadata.get_all("Project-URL") or ():
        label, _, url = line.partition(",")
        urls[label.strip().casefold()] = url.strip()
    for url in (urls.get("homepage"), metadata.get("Home-page"), urls.get("repository"), urls.get("source")):
        if url and url.startswith(("https://", "http://")) and url.isprintable():
            return url
    return ""
