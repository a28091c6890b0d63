"""What this repository holds, for the tests that look at it from outside."""

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

OUTER = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
"""The environment that the tests were started in, for programs that are no part of a test, such as pip."""


def distributions() -> list[Path]:
    """The folders of all distributions; .ci/distributions.txt is the one list of them."""
    lines = (ROOT / ".ci" / "distributions.txt").read_text("utf-8").splitlines()
    return [ROOT / line for line in lines if line and not line.startswith("#")]


@cache
def project(distribution: Path) -> dict[str, Any]:
    """The `project` table of a distribution's pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((distribution / "pyproject.toml").read_text("utf-8"))["project"]
    return table
