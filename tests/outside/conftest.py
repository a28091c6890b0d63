"""Distributions built as for a release, and installed where nothing of this repository is in reach."""

import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.repository import OUTER, distributions, project


@dataclass(frozen=True)
class Built:
    """One distribution as it would be uploaded."""

    name: str
    version: str
    wheel: Path
    sdist: Path

    @property
    def package(self) -> str:
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Place:
    """A virtual environment, and a working folder outside of the repository."""

    folder: Path

    def run(self, program: str, *arguments: str, code: int = 0) -> str:
        """Run a program of the environment; its whole output."""
        done = subprocess.run(
            [self.folder / "bin" / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def python(self, code: str) -> str:
        return self.run("python", "-W", "error", "-c", code)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            # Building and installing is dear: one worker does it once.
            item.add_marker(pytest.mark.xdist_group("outside"))
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """Every distribution, by name. The wheels are made from the source distributions."""
    found = {}
    for folder in distributions():
        out = tmp_path_factory.mktemp(f"dist-{folder.name}")
        _run(sys.executable, "-m", "build", "--outdir", out, folder)
        (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
        found[folder.name] = Built(folder.name, project(folder)["version"], wheel, sdist)
    return found


@pytest.fixture(scope="session")
def install(built: dict[str, Built], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Iterable[str]], Place]:
    """`install(names)`: an environment with the wheels of these distributions, all named in one pip command."""
    made: dict[tuple[str, ...], Place] = {}

    def install(names: Iterable[str]) -> Place:
        key = tuple(sorted(names))
        if key not in made:
            folder = tmp_path_factory.mktemp("place") / "venv"
            _run(sys.executable, "-m", "venv", folder)
            _run(folder / "bin" / "pip", "install", "-q", *(built[name].wheel for name in key))
            _run(folder / "bin" / "pip", "check")
            made[key] = Place(folder)
        return made[key]

    return install


def _run(*command: str | Path) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=OUTER,
        cwd="/",
    )
    assert done.returncode == 0, done.stdout
