"""A project with a neighbour that nothing may reach, opened by each resolver."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rio_core._engine.workspace.confine import Resolver, Root
from rio_core._engine.workspace.linux import has_openat2


@pytest.fixture
def area(tmp_path: Path) -> Path:
    """`proj` is the root; `proj-notes`, `out` and `outside.txt` are its neighbours."""
    (tmp_path / "proj" / "sub").mkdir(parents=True)
    (tmp_path / "proj-notes").mkdir()
    (tmp_path / "out").mkdir()
    for outside in ("proj-notes/a.txt", "out/a.txt", "outside.txt"):
        (tmp_path / outside).write_text("outside bytes")
    (tmp_path / "proj" / "a.txt").write_text("inside")
    (tmp_path / "proj" / "sub" / "b.txt").write_text("inside too")
    return tmp_path


@pytest.fixture
def project(area: Path) -> Path:
    return area / "proj"


@pytest.fixture(params=["openat2", "walk"])
def resolver(request: pytest.FixtureRequest) -> Resolver:
    if request.param == "openat2":
        assert has_openat2(), "these tests need a kernel with openat2 (Linux 5.6) and a container that allows it"
    chosen: Resolver = request.param
    return chosen


@pytest.fixture
def root(project: Path, resolver: Resolver) -> Iterator[Root]:
    with Root.open(str(project), resolver=resolver) as opened:
        yield opened
