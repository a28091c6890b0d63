"""Which plugins are installed. Nothing of them is imported to find out."""

import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib_metadata import IDistribution

__all__ = ["GROUP", "Found", "discover", "keep_projects_out", "same_name"]

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


def keep_projects_out() -> list[str]:
    """Take the working folder off `sys.path`, as it may be a project, of which nothing is ever imported.

    What PYTHONPATH names relative to it goes too. Returns what is left.
    """
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not os.path.isabs(entry)]
    unsafe = {os.path.realpath(entry) for entry in (os.curdir, *named)}
    sys.path[:] = [entry for entry in sys.path if os.path.isabs(entry) and os.path.realpath(entry) not in unsafe]
    return list(sys.path)


def same_name(name: str) -> str:
    """The form in which two spellings of a distribution's name are one (packaging specifications, Names)."""
    return re.sub(r"[-_.]+", "-", name).casefold()


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
            if same_name(name) not in seen:
                seen.add(same_name(name))
                found += _plugins(name, distribution)
    return found


def _name(distribution: "IDistribution") -> str:
    try:
        name = distribution.metadata["Name"]
    except Exception:  # noqa: BLE001  any damage to the file
        name = None
    # The folder's name has it too: NAME-VERSION.dist-info
    return name or os.path.basename(str(getattr(distribution, "_path", "unknown"))).partition("-")[0]


def _plugins(name: str, distribution: "IDistribution") -> Iterator[Found]:
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


def _homepage(distribution: "IDistribution") -> str:
    metadata = distribution.metadata
    urls = {}
    for line in metadata.get_all("Project-URL") or ():
        label, _, url = line.partition(",")
        urls[label.strip().casefold()] = url.strip()
    for url in (urls.get("homepage"), str(metadata.get("Home-page") or ""), urls.get("repository"), urls.get("source")):
        if url and url.startswith(("https://", "http://")) and url.isprintable():
            return url
    return ""
