"""What holds for the repository as a whole: rules that the linters keep, decisions on record, equal versions."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.repository import ROOT, distributions, project


def run(*command: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, text=True)


def test_nobody_imports_whom_he_must_not():
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = run(sys.executable, "-c", code, "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("TID251", "import pickle"),
        ("TID251", "from pickle import loads"),
        ("TID251", "import yaml"),
        ("S307", "eval(input())"),
        ("S102", "exec(input())"),
        ("S602", "import subprocess\n\nsubprocess.run(input(), shell=True)"),
        ("S605", "import os\n\nos.system(input())"),
        ("S302", "import marshal\n\nmarshal.loads(b'')"),
        ("D103", "def public():\n    return 1"),
        ("D101", "class Public:\n    pass"),
        ("D102", 'class Public:\n    """A class."""\n\n    def method(self):\n        return 1'),
        ("BLE001", "try:\n    open('x')\nexcept BaseException:\n    pass"),
        ("ANN001", "def public(x) -> None:\n    print(x)"),
        ("DTZ005", "import datetime\n\ndatetime.datetime.now()"),
    ],
)
@pytest.mark.parametrize("package", ["rio-core/src/rio_core/client", "rio-provider-echo/src/rio_provider_echo"])
def test_the_linter_refuses_what_the_house_forbids(rule, code, package):
    ruff = Path(sys.executable).with_name("ruff")
    name = f"{package}/snippet.py"
    done = run(ruff, "check", "--no-cache", "--stdin-filename", name, "-", stdin=f'"""A module."""\n\n{code}\n')
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"\b{rule}\b", done.stdout), done.stdout


SWITCHED_OFF = re.compile(r"ruff: *noqa|noqa: *[A-Z0-9, ]*\b(S102|S301|S307|S602|S604|S605|TID251)\b|# *noqa *$")


def test_nothing_switches_the_safety_rules_off_and_every_other_exception_has_its_reason():
    wrong = []
    for path in (path for folder in distributions() for path in (folder / "src").rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if "noqa" in line and (SWITCHED_OFF.search(line) or not re.search(r"noqa: [A-Z0-9, ]+  \S", line)):
                wrong.append(f"{path.relative_to(ROOT)}:{number}")
    assert wrong == []


def test_all_distributions_have_one_version_and_one_licence():
    versions = {folder.name: project(folder)["version"] for folder in distributions()}
    assert len(set(versions.values())) == 1, versions
    for folder in distributions():
        assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
        assert project(folder)["license"] == "MIT"
        assert project(folder)["name"] == folder.name


def test_distributions_take_of_each_other_only_what_they_may():
    names = {folder.name for folder in distributions()}
    for folder in distributions():
        needs = {re.split(r"[^\w-]", requirement)[0] for requirement in project(folder).get("dependencies", ())}
        assert needs & names <= ({"rio-core"} - {folder.name})


SECTIONS = ["Context", "Options considered", "Decision", "Consequences"]


def records() -> list[Path]:
    return sorted((ROOT / "adr").glob("[0-9]*.md"))


def test_decisions_are_numbered_without_a_gap():
    assert [path.name[:5] for path in records()] == [f"{number:04}-" for number in range(1, len(records()) + 1)]
    assert {path.name for path in (ROOT / "adr").iterdir()} == {"README.md", *(path.name for path in records())}


@pytest.mark.parametrize("path", records(), ids=lambda path: path.stem)
def test_a_decision_has_its_form_and_fits_a_page(path):
    lines = path.read_text("utf-8").splitlines()
    assert re.fullmatch(rf"# {path.name[:4]} \S.*", lines[0])
    assert re.fullmatch(r"Status: (accepted|superseded by \d{4})", lines[2])
    assert [line[3:] for line in lines if line.startswith("## ")] == SECTIONS
    assert len(lines) <= 90


def test_the_index_of_decisions_names_each_once_as_it_is():
    rows = re.findall(
        r"^\| \[(\d{4})\]\((.+?)\) \| (.+?) \| (.+?) \|$", (ROOT / "adr/README.md").read_text("utf-8"), re.M
    )
    expected = []
    for path in records():
        lines = path.read_text("utf-8").splitlines()
        expected.append((path.name[:4], path.name, lines[0][7:], lines[2].removeprefix("Status: ")))
    assert rows == expected


def test_links_between_documents_lead_somewhere():
    broken = []
    pages = [*ROOT.glob("*.md"), *(page for name in ("adr", "docs") for page in (ROOT / name).rglob("*.md"))]
    for page in pages + [folder / "README.md" for folder in distributions()]:
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in link and not (page.parent / link).exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


def test_the_ci_script_is_a_valid_program_that_reads_nothing():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert run("bash", "-n", script).returncode == 0


def test_every_tool_of_the_tests_is_pinned_for_ci():
    pins = {
        re.split(r"==", line)[0].lower().replace("_", "-")
        for line in (ROOT / ".ci/constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    }
    wanted = [
        *(ROOT / "tests/requirements.txt").read_text("utf-8").splitlines(),
        *(ROOT / ".ci/requirements.txt").read_text("utf-8").splitlines(),
        *(requirement for folder in distributions() for requirement in project(folder).get("dependencies", ())),
    ]
    names = {re.split(r"[^\w-]", line)[0].lower() for line in wanted if line and not line.startswith(("#", "-"))}
    assert names - pins - {folder.name for folder in distributions()} == set()
