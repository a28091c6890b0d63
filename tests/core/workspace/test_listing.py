import os
from pathlib import Path

import pytest

from rio_core._engine.workspace import listing
from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.ignore import Ignore
from rio_core._engine.workspace.listing import Entry, list_folder, walk
from rio_core.protocol.errors import RioError


def test_kinds_sizes_and_order(project: Path, root: Root) -> None:
    (project / "link").symlink_to("sub")
    os.mkfifo(project / "pipe")
    (project / "B.log").write_text("12")
    (project / ".gitignore").write_text("*.log\nsub/\n")
    found = list_folder(root)
    assert found.entries == [
        Entry("sub", "folder", None, ignored=True),
        Entry(".gitignore", "file", 11, ignored=False),
        Entry("a.txt", "file", 6, ignored=False),
        Entry("B.log", "file", 2, ignored=True),
        Entry("link", "link", None, ignored=False),
        Entry("pipe", "other", None, ignored=False),
    ]
    assert (found.names, found.total, found.more, found.partial) == ((), 6, 0, False)


def test_a_folder_reached_through_a_link_has_its_real_rules(project: Path, root: Root) -> None:
    (project / "link").symlink_to("sub")
    (project / "sub/.gitignore").write_text("b.txt\n")
    found = list_folder(root, "link")
    assert found.names == ("sub",)
    assert [(entry.name, entry.ignored) for entry in found.entries] == [(".gitignore", False), ("b.txt", True)]


def test_F1_a_great_folder_is_paged_and_tells_how_many_follow(project: Path, root: Root) -> None:
    for number in range(50_000):
        os.close(os.open(project / "sub" / f"f{number:05}", os.O_CREAT))
    page = list_folder(root, "sub", offset=1, limit=1000)
    assert [page.entries[0].name, page.entries[-1].name] == ["f00000", "f00999"]
    assert (page.total, page.more, page.partial) == (50_001, 49_000, False)
    last = list_folder(root, "sub", offset=50_000)
    assert ([entry.name for entry in last.entries], last.more) == (["f49999"], 0)
    assert list_folder(root, "sub", offset=60_000).entries == []
    assert sum(1 for _ in walk(root)) == 50_002


def test_a_folder_over_the_cap_is_listed_in_part(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_SCANNED", 1)
    found = list_folder(root)
    assert (len(found.entries), found.total, found.partial) == (1, 1, True)


def test_F1_A29_link_loops_end_and_each_file_comes_once(area: Path, project: Path, root: Root) -> None:
    (project / "loop").symlink_to(".")
    (project / "sub/up").symlink_to("..")
    (project / "again").symlink_to("sub")
    (project / "out").symlink_to(area / "out")
    (project / ".git").mkdir()
    (project / ".git/config").write_text("")
    assert list(walk(root)) == [("a.txt",), ("sub", "b.txt")]
    assert list(walk(root, ("sub",))) == [("sub", "b.txt")]
    assert list(walk(root, ("again",))) == []


def test_a_walk_leaves_ignored_folders_out(project: Path, root: Root) -> None:
    (project / ".gitignore").write_text("sub\n")
    assert list(walk(root, (), Ignore(root))) == [(".gitignore",), ("a.txt",)]


def test_T6_S31_a_name_that_is_not_utf8_is_listed_and_can_be_asked_for(project: Path, root: Root) -> None:
    os.mkdir(os.fsencode(project) + b"/d\xe9")
    (project / "d\udce9" / "caf\udce9").write_text("x")
    folder = list_folder(root).entries[0].name
    assert [entry.name for entry in list_folder(root, folder).entries] == ["caf\udce9"]
    assert ("d\udce9", "caf\udce9") in list(walk(root))


@pytest.mark.parametrize(("path", "kind"), [("a.txt", "not_found"), ("..", "outside"), ("none", "not_found")])
def test_what_cannot_be_listed(root: Root, path: str, kind: str) -> None:
    with pytest.raises(RioError) as caught:
        list_folder(root, path)
    assert caught.value.kind == kind
