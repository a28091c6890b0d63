"""Golden files: what plugins and front ends rely on, written down, so that no change of it passes unseen."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "contracts" / "golden"


def check(name: str, text: str, request: pytest.FixtureRequest) -> None:
    """Compare with the golden file, or write it when pytest runs with --update-golden."""
    path = FOLDER / name
    if request.config.getoption("--update-golden"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, (
        f"{path.name} is another now. If that is meant: raise the level or version if somebody must adapt, "
        "say so in CHANGELOG.md, and run pytest with --update-golden."
    )
