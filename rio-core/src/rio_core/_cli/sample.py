"""The project of the demo: a copy of a real package, and an edit that makes sense in it."""

import ast
import importlib.metadata
import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rio_core.protocol import RioError

__all__ = ["Sample", "make_sample"]

_PACKAGES: Final = ("pluggy", "platformdirs", "tomlkit", "importlib_metadata", "anyio")
"""Pure Python, and installed wherever rio-core is."""


@dataclass(frozen=True)
class Sample:
    """A module that says nothing of itself at its top, and the docstring that it should have.

    `old` is the beginning of the file and occurs once in it; `new` takes its place.
    """

    package: str
    version: str
    files: int
    path: str
    names: list[str]
    old: str
    new: str


def make_sample(root: Path) -> Sample:
    """Copy a package into the folder `root` and find an edit. Raises RioError when no package has one."""
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        copied = _copy(Path(spec.submodule_search_locations[0]), root / package)
        for file in sorted(copied, key=lambda file: (file.stat().st_size, file.name)):
            edit = _edit(file)
            if edit is not None:
                version = importlib.metadata.version(package)
                readme = f"# {package} {version}\n\nA copy for the demo of rio.\n"
                (root / "README.md").write_text(readme, encoding="utf-8")
                return Sample(package, version, len(copied), file.relative_to(root).as_posix(), *edit)
        shutil.rmtree(root / package)
    raise RioError(
        "not_found", "No installed package suits the demo.", "Install rio-core again, with its dependencies."
    )


def _copy(source: Path, target: Path) -> list[Path]:
    """The Python files of a package, with rights to change them."""
    files = []
    for file in sorted(source.rglob("*.py")):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
        files.append(copy)
    return files


def _edit(file: Path) -> tuple[list[str], str, str] | None:
    try:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (UnicodeDecodeError, SyntaxError):
        return None
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    ]
    if ast.get_docstring(tree) is not None or not names or text.startswith("#"):
        return None
    lines = text.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        old = "".join(lines[:count])
        if old.strip() and text.find(old, 1) < 0:
            return names, old, f'"""Defines {_listed(names)}."""\n\n{old}'
    return None


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= 3 else [*names[:3], f"{len(names) - 3} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
