"""What the tools answer: confined, capped, numbered, and of the editor's text where there is one."""

import pytest

from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.documents.store import Documents
from rio_core._engine.place import Place
from rio_core._engine.tools.builtin import toolbox
from rio_core._engine.tools.reads import ANSWER, FILE, LINE, Reads, up_to
from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.files import outside_place


class Desk:
    """Tools over a folder, with documents beside them."""

    def __init__(self, root, recovery):
        self.root = root
        self.documents = Documents(self.place, recovery=recovery, changed=lambda _: None)
        self.tools = toolbox(Reads(self.documents, root))

    def place(self, path) -> Place:
        return outside_place(path) if path.startswith("/") else self.root.place(path)

    async def __call__(self, name, **given):
        return await self.tools.call(name, given, "")

    async def type(self, path, text):
        buffer = await self.documents.open(path)
        buffer.edit(buffer.revision, [Edit(Position(0, 0), Position(0, 0), text)], origin="client")
        return buffer


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def desk(folder, tmp_path):
    with Root.open(str(folder)) as root:
        yield Desk(root, str(tmp_path / "recovery"))


async def test_lines_are_numbered_from_one_without_their_ends(desk, folder):
    (folder / "f.txt").write_bytes(b"a\r\nb\rc\n\n\x0cd")
    answer = await desk("fs_read", path="f.txt")
    assert answer.text == (
        "f.txt (lines 1 to 5 of 5)\n(These lines hold 1 invisible or misleading characters.)\n"
        "1\ta\n2\tb\n3\tc\n4\t\n5\t\x0cd"
    )
    assert answer.summary == "f.txt: lines 1 to 5 of 5"
    assert answer.ok


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(
    ("first", "count", "head", "rows"),
    [
        (1, 2, "lines 1 to 2 of 6", ["1\t1", "2\t2"]),
        (5, 100, "lines 5 to 6 of 6", ["5\t5", "6\t"]),
        (7, 1, "no line 7: it has 6", []),
        (10**30, 10**30, f"no line {10**30}: it has 6", []),
        (1, 10**30, "lines 1 to 6 of 6", ["1\t1", "2\t2", "3\t3", "4\t4", "5\t5", "6\t"]),
    ],
)
async def test_a_range_of_lines(desk, folder, is_open, first, count, head, rows):
    (folder / "f.txt").write_bytes(b"1\n2\n3\n4\n5\n")
    if is_open:
        await desk.documents.open("f.txt")
    answer = await desk("fs_read", path="f.txt", first=first, count=count)
    lines = answer.text.split("\n")
    assert head in lines[0]
    assert ("open in the editor" in lines[0]) == is_open
    assert lines[1:] == rows


async def test_the_editors_text_is_what_is_read_and_searched(desk, folder):
    (folder / "f.txt").write_bytes(b"on disk\n")
    buffer = await desk.type("f.txt", "typed ")
    read = await desk("fs_read", path="f.txt")
    assert "open in the editor, with unsaved changes" in read.text
    assert "1\ttyped on disk" in read.text
    found = await desk("fs_search", pattern="typed")
    assert "f.txt (unsaved text in the editor)\n  1: typed on disk" in found.text
    text = await desk("buffer_text", buffer=buffer.id)
    assert text.text == read.text
    listed = await desk("buffer_list")
    assert listed.text == f"{buffer.id}  f.txt  2 lines, unsaved changes"


async def test_a_document_without_a_file_is_listed_and_read(desk):
    buffer = desk.documents.new("draft")
    assert (await desk("buffer_list")).text == f"{buffer.id}  (no file yet)  1 lines, unsaved changes"
    assert "1\tdraft" in (await desk("buffer_text", buffer=buffer.id)).text


async def test_what_its_user_opened_from_elsewhere_is_not_shown(desk, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"canary\n")
    buffer = await desk.documents.open(str(outside))
    assert (await desk("buffer_list")).text == "Nothing is open."
    for answer in (
        await desk("buffer_text", buffer=buffer.id),
        await desk("buffer_text", buffer="b99"),
        await desk("fs_read", path=str(outside)),
        await desk("fs_read", path="../outside.txt"),
    ):
        assert not answer.ok
        assert "canary" not in answer.text
    found = await desk("fs_search", pattern="canary")
    assert "0 matching" in found.text


async def test_secrets_are_not_shown_by_any_name_of_theirs(desk, folder):
    (folder / ".env").write_bytes(b"canary\n")
    (folder / "plain.txt").symlink_to(".env")
    buffer = await desk.documents.open("plain.txt")
    for answer in (
        await desk("buffer_text", buffer=buffer.id),
        await desk("fs_read", path="plain.txt"),
        await desk("fs_read", path=f"{folder}/.env"),
    ):
        assert not answer.ok
        assert "canary" not in answer.text


@pytest.mark.parametrize("is_open", [False, True])
async def test_long_lines_and_long_files_are_cut_and_it_is_said(desk, folder, is_open):
    (folder / "f.txt").write_bytes(b"x" * (LINE + 1) + b"\n" + b"y" * LINE + b"\n" + b"z\n" * 100_000)
    if is_open:
        await desk.documents.open("f.txt")
    answer = await desk("fs_read", path="f.txt", count=10**6)
    assert len(answer.text) <= ANSWER + 100
    lines = answer.text.split("\n")
    assert lines[1] == f"1\t{'x' * LINE} (cut: {LINE + 1} characters)"
    assert lines[2] == f"2\t{'y' * LINE}"
    last = int(lines[-1].split("\t")[0])
    assert f"lines 1 to {last} of 100003" in lines[0]
    following = await desk("fs_read", path="f.txt", first=last + 1)
    assert following.text.split("\n")[1] == f"{last + 1}\tz"


async def test_only_the_beginning_of_a_huge_file_is_read(desk, folder):
    (folder / "f.txt").write_bytes(b"line\n" * (FILE // 5 + 1000))
    answer = await desk("fs_read", path="f.txt", first=FILE // 5 + 500)
    assert f"only the first {FILE} bytes can be read here" in answer.text
    assert "no line" in answer.text


async def test_a_growing_list_of_names_is_capped(desk, folder):
    name = "\u202e" * 80
    for number in range(450):
        (folder / f"{name}{number}").touch()
        desk.documents.new("x")
    for answer in (await desk("fs_list"), await desk("buffer_list")):
        assert answer.ok
        assert len(answer.text) <= ANSWER + 100
        assert "\u202e" not in answer.text


@pytest.mark.parametrize(
    ("text", "limit", "wanted"),
    [
        ("short", 5, "short"),
        ("a\nb\nc", 4, "a\nb\n(cut here: 5 characters)"),
        ("abcdef", 4, "abcd\n(cut here: 6 characters)"),
        ("a\n" + "b" * 100, 50, "a\n" + "b" * 48 + "\n(cut here: 102 characters)"),
    ],
)
def test_a_text_is_cut_where_a_line_ends_if_that_is_near(text, limit, wanted):
    assert up_to(text, limit) == wanted


async def test_a_search_says_what_it_did_and_where_it_stopped(desk, folder):
    for number in range(3):
        (folder / f"{number}.txt").write_bytes(b"needle\nother\nneedle again\n")
    found = await desk("fs_search", pattern="needle", glob="[01].txt")
    assert found.summary == "4 matching lines in 2 files for needle"
    assert found.text.split("\n")[1:4] == ["0.txt", "  1: needle", "  3: needle again"]
    wrong = await desk("fs_search", pattern="(", regex=True)
    assert not wrong.ok
    assert "(" in wrong.text
    assert "\n" not in wrong.text
    (folder / "wide.txt").write_bytes((b"needle " * 50 + b"\n") * 50_000)
    many = await desk("fs_search", pattern="needle")
    assert len(many.text) <= ANSWER + 100
