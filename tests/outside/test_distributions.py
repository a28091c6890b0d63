"""What a release holds, and whether it works where only pip and Python are."""

import email
import re
import tarfile
import zipfile

import pytest

from support.repository import ROOT, distributions, project

NAMES = [folder.name for folder in distributions()]


def needs(name: str) -> set[str]:
    """A distribution and those of ours that it needs."""
    requirements = (re.split(r"[^\w-]", one)[0] for one in project(ROOT / name).get("dependencies", ()))
    return {name, *(one for one in requirements if one in NAMES)}


SETS = sorted({frozenset(needs(name)) for name in NAMES} | {frozenset(NAMES)}, key=sorted)


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_holds_its_package_typed_and_licensed_and_nothing_else(built, name):
    one = built[name]
    with zipfile.ZipFile(one.wheel) as wheel:
        names = wheel.namelist()
        info = f"{one.package}-{one.version}.dist-info"
        metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
        licence = wheel.read(f"{info}/licenses/LICENSE")
        source = {
            path.relative_to(ROOT / name / "src").as_posix()
            for path in (ROOT / name / "src").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert f"{one.package}/py.typed" in names
    assert {entry for entry in names if not entry.startswith(info)} == source
    assert not any("test" in entry.split("/")[:-1] or "tests" in entry.split("/") for entry in names)
    assert metadata["Name"] == name
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert len(metadata.get_payload()) > 200, "the README is a stub"


@pytest.mark.parametrize("name", NAMES)
def test_a_source_distribution_holds_what_a_build_needs_and_no_tests(built, name):
    with tarfile.open(built[name].sdist) as sdist:
        names = {entry.partition("/")[2] for entry in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= names
    assert not any(entry.startswith("tests") for entry in names)


@pytest.mark.parametrize("names", SETS, ids=lambda names: "+".join(sorted(names)))
def test_every_module_can_be_imported_where_only_its_needs_are_installed(install, names):
    place = install(names)
    for package in sorted(name.replace("-", "_") for name in names):
        code = (
            f"import importlib, pkgutil, {package} as top\n"
            "for module in pkgutil.walk_packages(top.__path__, top.__name__ + '.'):\n"
            "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
            "print(top.__file__)"
        )
        assert place.python(code).startswith(str(place.folder))


@pytest.mark.parametrize("names", SETS, ids=lambda names: "+".join(sorted(names)))
def test_the_command_runs_where_only_its_needs_are_installed(install, names):
    place = install(names)
    version = project(ROOT / "rio-core")["version"]
    assert place.run("rio-core", "--version") == f"rio-core {version}\n"
    assert place.run("python", "-P", "-m", "rio_core", "--version") == f"rio-core {version}\n"
    assert "usage" in place.run("rio-core", "--help").lower()


@pytest.mark.parametrize("names", SETS, ids=lambda names: "+".join(sorted(names)))
def test_every_installed_plugin_is_found_and_on(install, names):
    listed = install(names).run("rio-core", "plugins")
    providers = sorted(name for name in names if name.startswith("rio-provider-"))
    for name in providers:
        assert re.search(rf"^{name.removeprefix('rio-provider-')} +on +{name} ", listed, re.M), listed
    if not providers:
        assert "No plugins are installed" in listed


def test_the_demo_runs_from_wheels(install):
    told = install(needs("rio-provider-echo") | {"rio-core"}).run("rio-core", "demo")
    assert re.search(r"^[-+]", told, re.M), told
