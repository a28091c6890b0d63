"""The contract with authors of plugins: names, signatures, and who may be named where."""

import ast
import importlib
import pkgutil
import re
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import rio_core
import rio_core.protocol
from rio_core import api
from rio_core.api import hookspecs
from support import golden

CORE = Path(rio_core.__file__).parent
PUBLIC = ["rio_core.api", "rio_core.protocol", "rio_core.client"]
"""What plugins and front ends import from."""


def definitions() -> dict[str, ast.stmt]:
    """The text that defines each name of the API: in its own modules, or in those of the protocol that it shows."""
    modules = [rio_core.protocol.values, rio_core.protocol.events, *modules_of("rio_core.api"), api]
    return {name: node for module in modules for name, node in defined_in(Path(module.__file__)).items()}


def defined_in(path: Path) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = node
    return {name: node for name, node in found.items() if not name.startswith("_")}


def modules_of(package: str) -> list[types.ModuleType]:
    path = importlib.import_module(package).__path__
    return [importlib.import_module(found.name) for found in pkgutil.iter_modules(path, package + ".")]


def described(node: ast.stmt) -> Iterator[str]:
    """A definition as its users see it: without its words and its body."""
    match node:
        case ast.ClassDef():
            yield f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
            for member in node.body:
                if not isinstance(member, ast.Expr):
                    yield from ("    " + line for line in described(member))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            yield f"{word} {node.name}({ast.unparse(node.args)}){returns}"
        case _:
            yield ast.unparse(node)


def test_the_api_is_the_one_that_is_written_down(request):
    nodes = definitions()
    lines = [line for name in [*api.__all__, *hookspecs.__all__] for line in described(nodes[name])]
    golden.check("api.txt", "\n".join(lines) + "\n", request)


def taken_from_rio(path: Path) -> list[str]:
    """Names without underscore that a module imports from other modules of rio."""
    nodes = ast.parse(path.read_text("utf-8")).body
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rio_")]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    return [name for name in names if not name.startswith("_")]


def in_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, each by the alphabet."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_package_exports_exactly_what_it_shows_in_order(name):
    module = importlib.import_module(name)
    shown = {*taken_from_rio(Path(module.__file__)), *defined_in(Path(module.__file__))}
    assert module.__all__ == sorted(shown, key=in_order)


def test_a_public_module_that_says_what_it_exports_says_all_of_it():
    modules = [module for package in PUBLIC for module in modules_of(package) if "._" not in module.__name__]
    saying = [module for module in modules if hasattr(module, "__all__") and not hasattr(module, "__path__")]
    missing = {module.__name__: defined_in(Path(module.__file__)).keys() - set(module.__all__) for module in saying}
    assert saying
    assert {name: names for name, names in missing.items() if names} == {}


ALLOWED = {
    # Which plugins `--safe-mode` loads, and which provider is used when its user has chosen none.
    "_engine/plugins/host.py": {"rio-provider-echo", "rio-provider-claude"},
    "_engine/plugins/providers.py": {"echo", "rio-provider-echo"},
    # What to install when there is no provider at all.
    "_engine/agent/loop.py": {"rio-provider-echo"},
    "_cli/listings.py": {"rio-provider-echo"},
    # The demo plays with the offline provider.
    "_cli/demo.py": {"echo"},
}


def test_the_core_names_no_provider_but_where_that_is_its_job():
    named: dict[str, set[str]] = {}
    for path in CORE.rglob("*.py"):
        found = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Constant(value=str(text)):
                    found |= {
                        match.lower() for match in re.findall(r"rio[-_]provider[-_]\w+|anthropic|openai", text, re.I)
                    }
                    if text in ("echo", "claude"):
                        found.add(text)
                case ast.Import(names=names):
                    found |= {alias.name for alias in names if alias.name.startswith("rio_provider")}
                case ast.ImportFrom(module=str(module)) if module.startswith("rio_provider"):
                    found.add(module)
        if found:
            named[path.relative_to(CORE).as_posix()] = found
    assert named == ALLOWED
