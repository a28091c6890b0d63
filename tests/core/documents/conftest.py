"""Documents of a real project, and buffers alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rio_core._engine.documents.buffer import Buffer, Changed
from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.documents.store import Documents
from rio_core._engine.documents.text import Text
from rio_core._engine.workspace.confine import Root


class Clock:
    """A clock that stands."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Pen:
    """A buffer with everything it published, and short ways to edit it."""

    def __init__(self, text: str = "", **more: object) -> None:
        self.events: list[Changed] = []
        self.clock = Clock()
        self.buffer = Buffer("b1", Text([text]), changed=self.events.append, clock=self.clock, **more)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return str(self.buffer.text)

    def put(self, at: int, text: str, remove: int = 0, **more: object) -> None:
        """Edit at an offset, in the present revision."""
        position = self.buffer.text.position
        edit = Edit(position(at), position(at + remove), text)
        self.buffer.edit(self.buffer.revision, [edit], origin="user", **more)  # type: ignore[arg-type]

    def type(self, at: int, text: str) -> None:
        """Type key by key, a quarter of a second each."""
        for index, key in enumerate(text):
            self.clock.now += 0.25
            self.put(at + index, key, group="typing")

    def undo(self) -> bool:
        return self.buffer.undo(origin="user").changed

    def redo(self) -> bool:
        return self.buffer.redo(origin="user").changed


@pytest.fixture
def pen() -> Callable[..., Pen]:
    return Pen


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def events() -> list[Changed]:
    return []


@pytest.fixture
def documents(project: Path, tmp_path: Path, events: list[Changed]) -> Iterator[Documents]:
    with Root.open(str(project)) as root:
        yield Documents(root.place, recovery=str(tmp_path / "recovery"), changed=events.append)


@pytest.fixture
def at() -> Callable[..., Edit]:
    """`at(line, column, text, end_line?, end_column?)`: an edit."""

    def edit(line: int, column: int, text: str, *end: int) -> Edit:
        start = Position(line, column)
        return Edit(start, Position(*end) if end else start, text)

    return edit
