"""The commands on the first screen of the README, run as they stand there on a copy of what a clone holds."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.repository import OUTER, ROOT, distributions


def command(beginning: str) -> str:
    """The line of the README that begins like this."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    found = [line.strip() for line in lines if line.strip().startswith(beginning)]
    assert len(found) == 1, f"the README has {len(found)} lines that begin with {beginning!r}"
    return found[0]


def run(line: str, folder: Path, **more: str) -> str:
    """Run a line as a person would who has only Python and pip."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env={**OUTER, "HOME": str(folder.parent / "home"), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What git would bring, in a folder whose name has a space; `python3` is this interpreter."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    for distribution in distributions():
        junk = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
        shutil.copytree(distribution, folder / distribution.name, ignore=junk)
    (tmp_path / "home").mkdir()
    programs = tmp_path / "programs"
    programs.mkdir()
    base = getattr(sys, "_base_executable", sys.executable)
    (programs / "python3").write_text(f'#!/bin/sh\nexec "{base}" "$@"\n')
    (programs / "python3").chmod(0o755)
    return folder


def path_of(clone: Path) -> str:
    return f"{clone.parent / 'programs'}:{OUTER['PATH']}"


def test_the_first_command_ends_with_a_change_that_was_shown_approved_applied_and_undone(clone):
    told = run(command("python3 -m venv"), clone, PATH=path_of(clone))
    for word in ("approve", "undo"):
        assert re.search(word, told, re.I), told
    assert re.search(r"^@@ .*\n(?:[ +-].*\n)*?\+.", told, re.M), told


def offer(folder: Path, package: str, version: str) -> None:
    """A wheel of this name that an index could have."""
    info = f"{package}-{version}.dist-info"
    files = {
        f"{package}/__init__.py": "raise SystemExit('a stranger')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{package}-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


def test_G05_no_package_of_a_stranger_takes_the_place_of_ours(clone, tmp_path):
    offers = tmp_path / "offers"
    offers.mkdir()
    for distribution in distributions():
        offer(offers, distribution.name.replace("-", "_"), "99.0")
    links = f"{offers} {OUTER.get('PIP_FIND_LINKS', '')}"
    install = command("python3 -m venv").rpartition("&&")[0].rstrip("& ")
    run(install, clone, PATH=path_of(clone), PIP_FIND_LINKS=links)
    listed = run(".venv/bin/pip list", clone)
    assert re.search(r"^rio-core ", listed, re.M)
    assert "99.0" not in listed
