import os
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rio_core._engine.place import Place
from rio_core._engine.workspace import confine
from rio_core._engine.workspace.confine import Resolver, Root, from_model
from rio_core._engine.workspace.files import outside_place
from rio_core._engine.workspace.location import RootLocation
from rio_core._engine.workspace.paths import model_name
from rio_core.protocol.errors import RioError
from support.tree import TreeSnapshot

Use = Callable[[Root, str], object]


def read(root: Root, path: str) -> bytes:
    with open(root.open_file(path), "rb") as file:
        return file.read()


def write(root: Root, path: str, *, make_parents: bool = False) -> None:
    with root.place(path, make_parents=make_parents) as place:
        handle = os.open(place.name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, dir_fd=place.folder)
        os.write(handle, b"written")
        os.close(handle)


def open_folder(root: Root, path: str) -> None:
    os.close(root.open_folder(path))


def refusal(use: Callable[[], object]) -> RioError:
    with pytest.raises(RioError) as caught:
        use()
    error = caught.value
    assert error.message.isprintable()
    assert error.action.isprintable()
    return error


USES: dict[str, Use] = {
    "read": read,
    "open_folder": open_folder,
    "place": lambda root, path: root.place(path).close(),
    "write": write,
    "write deep": lambda root, path: write(root, path, make_parents=True),
    "stat": lambda root, path: root.stat(path),
    "real": lambda root, path: root.real(path),
}
ENTRY_USES: dict[str, Use] = {
    "make_folder": lambda root, path: root.make_folder(path),
    "remove": lambda root, path: root.remove(path),
    "rename from": lambda root, path: root.rename(path, "new"),
    "rename to": lambda root, path: root.rename("a.txt", path),
}


@pytest.mark.parametrize("use", [*USES, *ENTRY_USES])
@pytest.mark.parametrize(
    "path",
    [
        "../proj-notes/a.txt",
        "../nothing/a.txt",
        "../proj-notes/nothing",
        "sub/../../proj-notes/a.txt",
        "{area}/proj-notes/a.txt",
        "{area}/nothing/a.txt",
        "{area}/proj/../out/a.txt",
        "/etc/passwd",
        "/nothing/x",
        "~/x.txt",
        "to_out/a.txt",
        "to_out/nothing",
        "sub/up/proj-notes/a.txt",
        "absolute_out/a.txt",
        "chain/a.txt",
    ],
)
def test_P01_P02_C1_C7_a_path_out_is_refused_the_same_whatever_is_there(
    area: Path, root: Root, path: str, use: str
) -> None:
    project = area / "proj"
    (project / "to_out").symlink_to("../out")
    (project / "sub" / "up").symlink_to("../..")
    (project / "absolute_out").symlink_to(area / "out")
    (project / "chain").symlink_to("sub/../to_out")
    before = TreeSnapshot.take(area)
    path = path.format(area=area)
    error = refusal(lambda: (USES | ENTRY_USES)[use](root, path))
    assert (error.kind, error.message) == ("outside", f"{path} leads out of the project.")
    assert not before.changes(TreeSnapshot.take(area))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("target", ["../out/a.txt", "../out/new.txt", "{area}/out/a.txt", "{area}/out/new.txt", "/"])
def test_C2_P03_a_link_out_is_refused_for_reading_writing_and_creating(
    area: Path, root: Root, target: str, use: str
) -> None:
    (area / "proj" / "notes.md").symlink_to(target.format(area=area))
    before = TreeSnapshot.take(area)
    assert refusal(lambda: USES[use](root, "notes.md")).kind == "outside"
    assert not before.changes(TreeSnapshot.take(area))


def test_links_inside_work(project: Path, root: Root) -> None:
    (project / "to_sub").symlink_to("sub")
    (project / "sub" / "a_link").symlink_to("../a.txt")
    (project / "round").symlink_to("to_sub/../sub/a_link")
    (project / "absolute").symlink_to(project / "sub")
    (project / "sub" / "absolute_leaf").symlink_to(project / "a.txt")
    assert read(root, "to_sub/b.txt") == b"inside too"
    assert read(root, "round") == b"inside"
    assert read(root, "absolute/b.txt") == b"inside too"
    assert read(root, "absolute/absolute_leaf") == b"inside"
    assert read(root, "sub/../a.txt") == b"inside"
    assert read(root, f"{project}/to_sub/b.txt") == b"inside too"
    assert read(root, f"{project}/../proj/a.txt") == b"inside"


def test_A_link_to_the_folder_above_has_the_status_of_that_folder(project: Path, root: Root) -> None:
    (project / "sub" / "link").symlink_to("..")
    (project / "here").symlink_to(".")
    assert root.stat("sub/link").st_ino == project.stat().st_ino
    assert root.stat("here/here/sub/..").st_ino == project.stat().st_ino
    assert root.stat(".").st_ino == project.stat().st_ino
    assert root.real("sub/link/sub/link/sub/b.txt") == ("sub", "b.txt")


def test_C2_a_dangling_link_inside_is_resolved_to_where_it_points(project: Path, root: Root) -> None:
    (project / "draft.txt").symlink_to("sub/new.txt")
    with root.place("draft.txt") as place:
        assert (place.name, root.real_names(place)) == ("new.txt", ("sub", "new.txt"))
    write(root, "draft.txt")
    assert (project / "sub" / "new.txt").read_bytes() == b"written"
    assert (project / "draft.txt").is_symlink()


def test_P02_the_real_names_of_what_a_link_reaches(project: Path, root: Root) -> None:
    (project / ".git").mkdir()
    (project / "innocent").symlink_to(".git")
    (project / "conf").symlink_to("innocent/config")
    for path in ("innocent/config", "conf", "innocent/../conf", f"{project}/conf"):
        assert root.real(path) == (".git", "config")
        with root.place(path) as place:
            assert root.real_names(place) == (".git", "config")
    assert root.real("innocent/new/deep/x") == (".git", "new", "deep", "x")


def test_real_names_are_found_without_proc_too(project: Path, root: Root) -> None:
    (project / "sub" / "deep").mkdir()
    location = RootLocation(root.handle, str(project))
    for path, names in (("sub/deep", ("sub", "deep")), ("sub", ("sub",)), (".", ())):
        folder = root.open_folder(path)
        assert location._climb(folder) == names
        os.close(folder)
    elsewhere = os.open(project.parent, os.O_RDONLY)
    assert location._climb(elsewhere) is None
    assert location.names_of(elsewhere) is None
    os.close(elsewhere)


def test_a_folder_deleted_while_it_is_held_has_no_names(project: Path, root: Root) -> None:
    with root.place("sub/new.txt") as place:
        (project / "sub" / "b.txt").unlink()
        (project / "sub").rmdir()
        assert refusal(lambda: root.real_names(place)).kind == "conflict"


def test_C7_a_root_reached_through_a_link(area: Path, resolver: Resolver) -> None:
    (area / "door").symlink_to("proj")
    with Root.open(str(area / "door"), resolver=resolver) as root:
        assert read(root, "a.txt") == b"inside"
        assert read(root, f"{area}/door/sub/b.txt") == b"inside too"
        assert read(root, f"{area}/proj/sub/b.txt") == b"inside too"
        assert refusal(lambda: read(root, f"{area}/proj-notes/a.txt")).kind == "outside"
        assert root.real("sub/b.txt") == ("sub", "b.txt")


def test_C7_the_root_of_the_file_system_is_a_root_too(area: Path, resolver: Resolver) -> None:
    with Root.open("/", resolver=resolver) as root:
        assert read(root, f"{area}/proj/a.txt") == b"inside"
        assert refusal(lambda: read(root, f"..{area}/proj/a.txt")).kind == "outside"
        assert root.real(str(area / "proj/a.txt")) == (area / "proj/a.txt").parts[1:]


def test_a_renamed_root_stays_the_root(area: Path, root: Root) -> None:
    (area / "proj").rename(area / "moved")
    (area / "proj-notes").rename(area / "proj")
    assert read(root, "a.txt") == b"inside"
    assert root.real("sub/b.txt") == ("sub", "b.txt")
    assert read(root, f"{area}/moved/a.txt") == b"inside"
    assert refusal(lambda: read(root, f"{area}/proj/a.txt")).kind == "outside"


def test_an_absolute_path_touches_nothing_beside_the_way_to_the_root(
    area: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    real_stat = os.stat

    def watched(path: Any, **more: Any) -> os.stat_result:
        looked_at.append(str(path))
        return real_stat(path, **more)

    monkeypatch.setattr(os, "stat", watched)
    refusal(lambda: root.names(f"{area}/out/host/share/x"))
    refusal(lambda: root.names("/proc/host/share/x"))
    assert f"{area}/out/host" not in looked_at
    assert "/proc/host" not in looked_at


@pytest.mark.parametrize("path", ["", "relative", "~/proj", "/nothing/here", "/etc/passwd", "/x\0"])
def test_what_cannot_be_a_root(path: str) -> None:
    refusal(lambda: Root.open(path))


def test_C3_no_folder_called_tilde(project: Path, root: Root) -> None:
    assert refusal(lambda: write(root, "~/x.txt", make_parents=True)).kind == "outside"
    assert not (project / "~").exists()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["pipe", "socket", "folder", "to_zero", "to_pipe", "to_environ"])
def test_F2_P09_what_is_not_a_regular_file_is_refused_at_once(project: Path, root: Root, name: str) -> None:
    os.mkfifo(project / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(project, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    (project / "folder").mkdir()
    (project / "to_pipe").symlink_to("pipe")
    (project / "to_zero").symlink_to("/dev/zero")
    (project / "to_environ").symlink_to("/proc/self/environ")
    kind = "outside" if name in ("to_zero", "to_environ") else "unsupported"
    assert refusal(lambda: root.open_file(name)).kind == kind


@pytest.mark.timeout(20)
def test_F2_P09_a_pipe_swapped_in_after_the_look_is_not_waited_for(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_stat = os.stat

    def swap_after(path: Any, **more: Any) -> os.stat_result:
        found = real_stat(path, **more)
        if path == "a.txt" and stat.S_ISREG(found.st_mode):
            (project / "a.txt").unlink()
            os.mkfifo(project / "a.txt")
        return found

    monkeypatch.setattr(os, "stat", swap_after)
    assert refusal(lambda: root.open_file("a.txt")).kind == "unsupported"


@pytest.mark.parametrize("path", ["a\0b", "a" * 5000, "a/" + "b" * 300, "a\ud800"])
def test_P13_odd_paths(project: Path, root: Root, path: str) -> None:
    for use in (*USES.values(), *ENTRY_USES.values()):
        assert refusal(partial(use, root, path)).kind == "bad_message"


def test_P13_a_name_with_a_line_end_can_be_read_and_is_named_in_one_line(project: Path, root: Root) -> None:
    (project / "a\nb").write_text("odd")
    assert read(root, "a\nb") == b"odd"
    error = refusal(lambda: read(root, "a\n\x1b[2Jc"))
    assert error.kind == "not_found"
    assert r"a\n\u{1B}[2Jc" in error.message


def test_T6_S31_a_name_that_is_not_utf8_is_read_by_what_was_listed(project: Path, root: Root) -> None:
    raw = os.fsencode(project) + b"/caf\xe9"
    Path(os.fsdecode(raw)).write_text("coffee")
    name = next(name for name in os.listdir(root.handle) if name.startswith("caf"))
    assert read(root, name) == b"coffee"
    assert model_name(name) == r"caf\xE9"
    assert read(root, from_model(root, r"caf\xE9")) == b"coffee"


def test_T6_a_literal_name_comes_before_the_unescaped_one(project: Path, root: Root) -> None:
    (project / "caf\udce9").write_text("byte")
    (project / r"caf\xE9").write_text("literal")
    assert read(root, from_model(root, r"caf\xE9")) == b"literal"
    assert read(root, from_model(root, r"caf\\xE9")) == b"literal"
    assert from_model(root, r"nothing\xE9") == r"nothing\xE9"
    assert from_model(root, r"..\x2Fout") == r"..\x2Fout"


def test_missing_parents_are_made_only_when_asked_for(project: Path, root: Root) -> None:
    assert refusal(lambda: root.place("x/y/z.txt")).kind == "not_found"
    assert root.real("x/y/z.txt") == ("x", "y", "z.txt")
    assert root.real("sub/../sub/" + "x/" * 1000) == ("sub", *["x"] * 1000)
    assert not (project / "x").exists()
    write(root, "x/y/z.txt", make_parents=True)
    assert (project / "x/y/z.txt").read_bytes() == b"written"
    assert refusal(lambda: root.place("q/../z.txt", make_parents=True)).kind == "not_found"
    assert not (project / "q").exists()


@pytest.mark.parametrize("target", ["../out/new", "sub/new"])
def test_no_folder_is_made_behind_a_dangling_link(area: Path, root: Root, target: str) -> None:
    (area / "proj" / "link").symlink_to(target)
    before = TreeSnapshot.take(area)
    refusal(lambda: root.place("link/x/y.txt", make_parents=True))
    assert not before.changes(TreeSnapshot.take(area))


def test_what_is_in_the_way(project: Path, root: Root) -> None:
    assert refusal(lambda: read(root, "a.txt/x")).kind == "not_found"
    assert refusal(lambda: write(root, "a.txt/x/y", make_parents=True)).kind == "not_found"
    assert refusal(lambda: open_folder(root, "a.txt")).kind == "not_found"
    (project / "l1").symlink_to("l2")
    (project / "l2").symlink_to("l1")
    for use in USES.values():
        assert refusal(partial(use, root, "l1")).kind == "unsupported"
        assert refusal(partial(use, root, "l1/x")).kind == "unsupported"


def test_a_folder_without_following(project: Path, root: Root) -> None:
    (project / "link").symlink_to("sub")
    os.close(root.open_folder("sub", follow=False))
    refusal(lambda: root.open_folder("link", follow=False))
    refusal(lambda: root.open_folder("../out", follow=False))


def test_make_rename_remove(project: Path, root: Root) -> None:
    root.make_folder("new")
    assert refusal(lambda: root.make_folder("new")).kind == "exists"
    root.rename("a.txt", "new/b.txt")
    assert (project / "new/b.txt").read_text() == "inside"
    assert refusal(lambda: root.remove("new")).kind == "conflict"
    assert refusal(lambda: root.rename("new", "new/inner")).kind == "conflict"
    assert refusal(lambda: root.rename("nothing", "x")).kind == "not_found"
    root.rename("new", "sub/new")
    root.remove("sub/new/b.txt")
    root.remove("sub/new")
    assert refusal(lambda: root.remove("sub/new")).kind == "not_found"
    for path in (".", "sub/.."):
        assert refusal(partial(root.remove, path)).kind == "unsupported"
        assert refusal(partial(root.rename, path, "sub/x")).kind == "unsupported"
    assert (project / "sub/b.txt").read_text() == "inside too"


def test_removing_and_renaming_a_link_leaves_its_target(area: Path, root: Root) -> None:
    project = area / "proj"
    (project / "out").symlink_to("../out")
    root.rename("out", "renamed")
    assert os.readlink(project / "renamed") == "../out"
    root.remove("renamed")
    assert not os.path.lexists(project / "renamed")
    assert (area / "out/a.txt").exists()


@pytest.mark.parametrize("taken", ["file", "folder", "dangling link"])
@pytest.mark.parametrize("moved", ["a.txt", "sub"])
@pytest.mark.parametrize("way", ["kernel", "checked"])
def test_renaming_never_replaces(
    project: Path, root: Root, taken: str, moved: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "checked":
        monkeypatch.setattr(confine, "rename_new", lambda *_: False)
    if taken == "file":
        (project / "taken").write_text("kept")
    elif taken == "folder":
        (project / "taken").mkdir()
    else:
        (project / "taken").symlink_to("nowhere")
    before = TreeSnapshot.take(project)
    assert refusal(lambda: root.rename(moved, "taken")).kind == "exists"
    assert not before.changes(TreeSnapshot.take(project))
    root.rename(moved, "free")
    assert (project / "free").exists()
    assert not (project / moved).exists()


def test_a_file_outside_that_the_user_opened(area: Path) -> None:
    (area / "link").symlink_to("out/a.txt")
    (area / "dangling").symlink_to("out/new.txt")

    def seen(place: Place) -> tuple[str, str]:
        with place:
            return os.readlink(f"/proc/self/fd/{place.folder}"), place.name

    assert seen(outside_place(str(area / "link"))) == (str(area / "out"), "a.txt")
    assert seen(outside_place(str(area / "dangling"))) == (str(area / "out"), "new.txt")
    assert refusal(lambda: outside_place(str(area / "nothing/x"))).kind == "not_found"
    assert refusal(lambda: outside_place("relative")).kind == "bad_message"
    assert refusal(lambda: outside_place("/")).kind == "unsupported"
