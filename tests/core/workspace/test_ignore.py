import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.globs import Rules, expand_braces, parse_rule
from rio_core._engine.workspace.ignore import Ignore
from support.profiles import examples


def decided_by_git(project: Path, paths: list[str]) -> set[str]:
    """The paths that git ignores; it must be installed, as it is the judge."""
    run = subprocess.run(
        ["git", "-C", str(project), "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(paths).encode(),
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": str(project), "GIT_CONFIG_NOSYSTEM": "1"},
    )
    assert run.returncode in (0, 1), run.stderr
    return {path for path in run.stdout.decode().split("\0") if path}


@pytest.fixture
def repository(project: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(project)], check=True, capture_output=True)
    return project


def decided_by_rio(project: Path, paths: list[str]) -> set[str]:
    with Root.open(str(project)) as root:
        ignore = Ignore(root)
        return {path for path in paths if ignore.ignored(tuple(path.split("/")), is_folder=(project / path).is_dir())}


def test_as_git_decides(repository: Path) -> None:
    (repository / ".gitignore").write_bytes(
        b"\xef\xbb\xbf*.log\r\n!keep.log\n# comment\n\\#odd\n\\!bang\nbuild/\n/top\ndocs/*.txt\n"
        b"**/cache\na/**/z\nlogs/**\ntrailing   \nkept\\ \nx[0-9a-c]y\nx[!0]z\n*a*b*c\n\\*star\nq?\n"
        b"[]-]k\nn/\n!n/m\nfoo**bar\n"
    )
    (repository / "sub/.gitignore").write_text("*.tmp\n!special.log\n/only_here\n")
    (repository / ".git/info").mkdir(exist_ok=True)
    (repository / ".git/info/exclude").write_text("private\n!keep.tmp\n")
    folders = [
        "build",
        "sub/build",
        "top",
        "docs",
        "docs/in",
        "cache",
        "d/cache",
        "a",
        "a/b",
        "a/b/c",
        "logs",
        "n",
        "sub",
    ]
    for folder in folders:
        (repository / folder).mkdir(parents=True, exist_ok=True)
    names = ["x.log", "keep.log", "special.log", "#odd", "!bang", "build", "top", "t.txt", "z", "only_here", "trailing",
             "kept ", "x5y", "xby", "xdy", "x0z", "x1z", "1a2b3c", "abc4", "*star", "qq", "q", "]k", "-k", "m",
             "fooxbar", "private", "k.tmp", "keep.tmp"]  # fmt: skip
    paths = [*names, *folders, *(f"{folder}/{name}" for folder in folders for name in names)]
    for path in paths:
        if not (repository / path).exists():
            (repository / path).write_text("")
    assert decided_by_rio(repository, paths) == decided_by_git(repository, paths)


letters = st.sampled_from(["a", "b", "*", "**", "?", "/", "!", "\\", "[ab]", "[!a]", "[a-b]", ".", "#", " "])
patterns = st.lists(letters, min_size=1, max_size=6).map("".join)
files = ["a", "b", "ab", "ba", "a.b", ".a", "a b", "*", "aab"]
TREE = [*files[:3], "d/a", "d/b", "d/ab", "d/.a", "d/a.b", "d/d/a", "d/d/b", "d/d/ab", "d/d/d/a", "f/ba"]


@given(st.lists(patterns, min_size=1, max_size=4))
@examples(ci=60, deep=1000)
def test_as_git_decides_for_any_pattern(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    # A class with an escape or a lone backslash at a part's end is undefined in gitignore(5).
    lines = [line for line in lines if not line.rstrip().endswith("\\") and "\\/" not in line and "\\[" not in line]
    project = tmp_path_factory.mktemp("any")
    subprocess.run(["git", "init", "-q", str(project)], check=True, capture_output=True)
    (project / ".gitignore").write_text("".join(f"{line}\n" for line in lines))
    for path in TREE:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("")
    assert decided_by_rio(project, TREE) == decided_by_git(project, TREE)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 255),
        ("?*" * 100 + "b", "a" * 255),
        ("**/a/" * 30 + "b", "a/" * 2000 + "a"),
        ("[!b]*" * 50 + "c", "a" * 255),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    rules = Rules([pattern] * 100)
    for _ in range(5):
        assert rules.decide(path.split("/"), is_folder=False) is None


def test_the_ignore_files_of_a_hostile_project(project: Path, root: Root) -> None:
    os.mkfifo(project / ".gitignore")
    (project / "sub/.gitignore").symlink_to("/dev/zero")
    ignore = Ignore(root)
    assert not ignore.ignored(("sub", "b.txt"), is_folder=False)


def test_an_ignore_file_is_read_to_a_limit(project: Path, root: Root) -> None:
    (project / ".gitignore").write_text("x" * 2000 + "\n" + "y\n" * 3000 + "a.txt\n")
    ignore = Ignore(root)
    assert ignore.ignored(("y",), is_folder=False)
    assert not ignore.ignored(("a.txt",), is_folder=False)


def test_git_itself_is_ignored(project: Path, root: Root) -> None:
    ignore = Ignore(root)
    assert ignore.ignored((".git",), is_folder=True)
    assert ignore.ignored(("sub", ".git", "config"), is_folder=False)


def test_T6_a_rule_for_a_name_that_is_not_utf8(project: Path, root: Root) -> None:
    (project / ".gitignore").write_bytes(b"caf\xe9\n")
    assert Ignore(root).ignored(("caf\udce9",), is_folder=False)


@pytest.mark.parametrize("line", ["", "#x", "/", "a//b", "a\\", "[a", "x" * 2000])
def test_lines_that_state_no_rule(line: str) -> None:
    assert parse_rule(line) is None


def test_braces() -> None:
    assert sorted(expand_braces("*.{c,h}")) == ["*.c", "*.h"]
    assert set(expand_braces("{a,b{c,d}}/x")) == {"a/x", "bc/x", "bd/x"}
    assert expand_braces("{a") == ["{a"]
    assert len(expand_braces("{a,b}" * 100)) <= 64
