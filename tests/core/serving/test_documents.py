"""Documents through the ops: every kind of bytes is opened, read, edited in one place, saved and taken back."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rio_core.client import Client
from rio_core.protocol import RioError
from support.living import attached, living
from support.tree import TreeSnapshot

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def project(tmp_path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
async def client(tmp_path, project) -> AsyncIterator[Client]:
    async with living(tmp_path / "home") as core, attached(core, project) as client:
        yield client


async def refused(client: Client, op: str, /, **params: Any) -> RioError:
    with pytest.raises(RioError) as caught:
        await client.call(op, **params)
    assert caught.value.action
    return caught.value


async def edit(client: Client, buffer: str, revision: int, start: list[int], end: list[int], text: str) -> Any:
    change = {"start": start, "end": end, "text": text}
    return await client.call("buffer.edit", buffer=buffer, revision=revision, edits=[change])


class Case(NamedTuple):
    data: bytes
    lines: list[str]
    ending: str
    place: tuple[int, int, int]
    """Line, first and last column of what is replaced by `new`."""
    new: str
    after: bytes
    encoding: str = "utf-8"
    bom: bool = False
    clean: bool = True


def le(text: str) -> bytes:
    return b"\xff\xfe" + text.encode("utf-16-le")


CASES = {
    "lf": Case(b"a\nb\n", ["a", "b", ""], "lf", (1, 0, 1), "B", b"a\nB\n"),
    "S06 no final end": Case(b"a\nlorem", ["a", "lorem"], "lf", (1, 5, 5), "!", b"a\nlorem!"),
    "S06 crlf": Case(b"a\r\nb\r\n", ["a", "b", ""], "crlf", (0, 1, 1), "!", b"a!\r\nb\r\n"),
    "A05 mixed": Case(b"a\r\nb\nc\r\n", ["a", "b", "c", ""], "mixed", (1, 0, 1), "B", b"a\r\nB\nc\r\n"),
    "A06 cr": Case(b"a\rb\r", ["a", "b", ""], "cr", (1, 0, 1), "B", b"a\rB\r"),
    "A06 one cr": Case(b"\r", ["", ""], "cr", (1, 0, 0), "x", b"\rx"),
    "lf cr": Case(b"a\n\rb", ["a", "", "b"], "mixed", (2, 0, 1), "B", b"a\n\rB"),
    "empty": Case(b"", [""], "lf", (0, 0, 0), "x", b"x"),
    "A07 what only looks like an end": Case(
        "1\f2\x85\u2028\x0b\x1c3\n4\n".encode(), ["1\f2\x85\u2028\x0b\x1c3", "4", ""], "lf", (1, 0, 1), "",
        "1\f2\x85\u2028\x0b\x1c3\n\n".encode(),
    ),
    "A04 nul": Case(b"abc\0def\nghi\n", ["abc\0def", "ghi", ""], "lf", (1, 0, 3), "x", b"abc\0def\nx\n"),
    "S01 no mark is added": Case("ä ü\nö\n".encode(), ["ä ü", "ö", ""], "lf", (0, 2, 3), "é", "ä é\nö\n".encode()),
    "mark": Case(BOM + b"a\r\n", ["a", ""], "crlf", (0, 0, 1), "", BOM + b"\r\n", bom=True),
    "only a mark": Case(BOM, [""], "lf", (0, 0, 0), "x", BOM + b"x", bom=True),
    "a second mark is text": Case(BOM + BOM, ["\ufeff"], "lf", (0, 1, 1), "x", BOM + BOM + b"x", bom=True),
    "utf-16-le": Case(le("a🍋\r\nb"), ["a🍋", "b"], "crlf", (0, 2, 2), "é", le("a🍋é\r\nb"), "utf-16-le", True),
    "utf-16-be": Case(
        b"\xfe\xff" + "a\nb".encode("utf-16-be"), ["a", "b"], "lf", (1, 0, 1), "国",
        b"\xfe\xff" + "a\n国".encode("utf-16-be"), "utf-16-be", bom=True,
    ),
    "A01 broken utf-8": Case(
        b"a\nb\xffc\n", ["a", "bÿc", ""], "lf", (0, 0, 1), "A", b"A\nb\xffc\n", "latin-1", clean=False
    ),
    "odd utf-16": Case(b"\xff\xfea\0b", ["ÿþa\0b"], "lf", (0, 4, 5), "", b"\xff\xfea\0", "latin-1", False, False),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_only_what_was_edited_differs_and_undo_brings_it_back(client, project, case):
    path = project / "f.txt"
    path.write_bytes(case.data)
    opened = await client.call("buffer.open", path="f.txt")
    assert (opened.encoding, opened.bom, opened.clean) == (case.encoding, case.bom, case.clean)
    assert (opened.line_ending, opened.lines, opened.dirty) == (case.ending, len(case.lines), False)
    shown = await client.call("buffer.lines", buffer=opened.buffer, first=0, count=100)
    assert (shown.lines, shown.total) == (case.lines, len(case.lines))
    line, first, last = case.place
    await edit(client, opened.buffer, 0, [line, first], [line, last], case.new)
    assert path.read_bytes() == case.data
    saved = await client.call("buffer.save", buffer=opened.buffer)
    assert (saved.revision, saved.bytes) == (1, len(case.after))
    assert path.read_bytes() == case.after
    assert not (await client.call("buffer.list")).buffers[0].dirty
    undone = await client.call("buffer.undo", buffer=opened.buffer)
    assert (undone.revision, undone.dirty) == (2, True)
    await client.call("buffer.save", buffer=opened.buffer)
    assert path.read_bytes() == case.data


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_what_was_opened_and_closed_is_as_it_was_to_the_last_bit_of_its_inode(client, project, case):
    (project / "f.txt").write_bytes(case.data)
    before = TreeSnapshot.take(project)
    opened = await client.call("buffer.open", path="f.txt")
    text = (await client.call("buffer.text", buffer=opened.buffer)).text
    mark = {"utf-8": BOM, "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(case.encoding, b"")
    assert (mark if case.bom else b"") + text.encode(case.encoding) == case.data
    await client.call("buffer.close", buffer=opened.buffer)
    assert before.changes(TreeSnapshot.take(project)) == []


async def test_A03_what_the_encoding_cannot_hold_refuses_the_save_and_another_one_takes_it(client, project):
    (project / "f.txt").write_bytes(b"a\ncaf\xe9\n")
    opened = await client.call("buffer.open", path="f.txt")
    await edit(client, opened.buffer, 0, [1, 4], [1, 4], "国")
    error = await refused(client, "buffer.save", buffer=opened.buffer)
    assert error.kind == "encoding"
    assert "U+56FD" in error.message
    assert "line 2, column 5" in error.message
    assert "UTF-8" in error.action
    assert (project / "f.txt").read_bytes() == b"a\ncaf\xe9\n"
    changed = await client.call("buffer.set_encoding", buffer=opened.buffer, encoding="utf-8")
    assert (changed.encoding, changed.dirty) == ("utf-8", True)
    await client.call("buffer.save", buffer=opened.buffer)
    assert (project / "f.txt").read_bytes() == "a\ncafé国\n".encode()


async def test_S03_another_encoding_keeps_the_text_and_is_one_step_of_undo(client, project):
    (project / "f.txt").write_bytes(b"a\xa9b")
    opened = await client.call("buffer.open", path="f.txt")
    await client.call("buffer.set_encoding", buffer=opened.buffer, encoding="utf-16", bom=True)
    await client.call("buffer.save", buffer=opened.buffer)
    assert (project / "f.txt").read_bytes() == le("a©b")
    assert (await client.call("buffer.undo", buffer=opened.buffer)).dirty
    await client.call("buffer.save", buffer=opened.buffer)
    assert (project / "f.txt").read_bytes() == b"a\xa9b"
    assert not (await client.call("buffer.undo", buffer=opened.buffer)).changed


async def test_reopening_with_an_encoding_shows_the_same_bytes_otherwise(client, project):
    data = "größe\n".encode("cp1252")
    (project / "f.txt").write_bytes(data)
    assert not (await client.call("buffer.open", path="f.txt")).clean
    again = await client.call("buffer.open", path="f.txt", encoding="cp1252")
    assert (again.encoding, again.clean, again.dirty) == ("cp1252", True, False)
    assert (await refused(client, "buffer.open", path="f.txt", encoding="ascii")).kind == "encoding"
    assert (await refused(client, "buffer.open", path="f.txt", encoding="idna")).kind == "encoding"
    await edit(client, again.buffer, again.revision, [0, 5], [0, 5], "€")
    await client.call("buffer.save", buffer=again.buffer)
    assert (project / "f.txt").read_bytes() == "größe€\n".encode("cp1252")


async def test_A05_one_kind_of_line_end_is_a_command_of_its_own_and_undone_at_once(client, project):
    data = b"a\r\nb\nc\rd"
    (project / "f.txt").write_bytes(data)
    opened = await client.call("buffer.open", path="f.txt")
    for name, wanted in (("lf", b"a\nb\nc\nd"), ("crlf", b"a\r\nb\r\nc\r\nd"), ("cr", b"a\rb\rc\rd")):
        changed = await client.call("buffer.set_line_ending", buffer=opened.buffer, line_ending=name)
        assert (changed.line_ending, changed.lines) == (name, 4)
        await client.call("buffer.save", buffer=opened.buffer)
        assert (project / "f.txt").read_bytes() == wanted
        await client.call("buffer.undo", buffer=opened.buffer)
    await client.call("buffer.save", buffer=opened.buffer)
    assert (project / "f.txt").read_bytes() == data


async def test_A32_S34_one_file_is_one_document_whatever_leads_to_it(client, project):
    (project / "foo").mkdir()
    (project / "foo/f").write_bytes(b"x\n")
    (project / "bar").symlink_to("foo")
    os.link(project / "foo/f", project / "hard")
    names = ["foo/f", "bar/f", "./foo/../foo//f", str(project / "foo/f"), "hard"]
    buffers = {(await client.call("buffer.open", path=name)).buffer for name in names}
    assert buffers == {"b1"}
    await edit(client, "b1", 0, [0, 0], [0, 0], "y")
    await client.call("buffer.save", buffer="b1")
    assert (project / "hard").read_bytes() == b"yx\n"
    assert len((await client.call("buffer.list")).buffers) == 1


async def test_A17_dirty_is_told_by_what_is_on_disk(client, project):
    (project / "f.txt").write_bytes(b"x\n")
    buffer = (await client.call("buffer.open", path="f.txt")).buffer
    await edit(client, buffer, 0, [0, 0], [0, 0], "1")
    await client.call("buffer.save", buffer=buffer)
    assert (await client.call("buffer.undo", buffer=buffer)).dirty
    assert not (await client.call("buffer.redo", buffer=buffer)).dirty
    revision = (await client.call("buffer.undo", buffer=buffer)).revision
    await edit(client, buffer, revision, [0, 0], [0, 0], "2")
    assert (await client.call("buffer.undo", buffer=buffer)).dirty
    assert (await refused(client, "buffer.close", buffer=buffer)).kind == "dirty"
    await client.call("buffer.close", buffer=buffer, discard=True)
    assert (project / "f.txt").read_bytes() == b"1x\n"


async def test_a_file_that_another_program_changed_is_never_overwritten_without_a_word(client, project):
    path = project / "f.txt"
    path.write_bytes(b"x\n")
    buffer = (await client.call("buffer.open", path="f.txt")).buffer
    await edit(client, buffer, 0, [0, 0], [0, 0], "mine ")
    path.write_bytes(b"y\n")  # of the same size
    assert (await refused(client, "buffer.save", buffer=buffer)).kind == "changed_on_disk"
    assert (await refused(client, "buffer.reload", buffer=buffer)).kind == "dirty"
    assert path.read_bytes() == b"y\n"
    reloaded = await client.call("buffer.reload", buffer=buffer, discard=True)
    assert not reloaded.dirty
    assert (await client.call("buffer.text", buffer=buffer)).text == "y\n"
    undone = await client.call("buffer.undo", buffer=buffer)  # S17
    assert undone.dirty
    assert (await client.call("buffer.text", buffer=buffer)).text == "mine x\n"
    path.unlink()
    assert (await refused(client, "buffer.save", buffer=buffer)).kind == "changed_on_disk"
    await client.call("buffer.save", buffer=buffer, force=True)
    assert path.read_bytes() == b"mine x\n"


async def test_save_as_goes_on_with_the_other_file_and_overwrites_none(client, project):
    (project / "taken.txt").write_bytes(b"taken\n")
    (project / "open.txt").write_bytes(b"open\n")
    await client.call("buffer.open", path="open.txt")
    fresh = await client.call("buffer.new", text="text\n")
    assert (await refused(client, "buffer.save", buffer=fresh.buffer)).kind == "conflict"
    assert (await refused(client, "buffer.save_as", buffer=fresh.buffer, path="taken.txt")).kind == "exists"
    assert (
        await refused(client, "buffer.save_as", buffer=fresh.buffer, path="open.txt", force=True)
    ).kind == "conflict"
    assert (await refused(client, "buffer.save_as", buffer=fresh.buffer, path="../out.txt")).kind == "outside"
    saved = await client.call("buffer.save_as", buffer=fresh.buffer, path="new.txt")
    assert (saved.path, saved.dirty) == ("new.txt", False)
    assert {path.name: path.read_bytes() for path in project.iterdir()} == {
        "taken.txt": b"taken\n", "open.txt": b"open\n", "new.txt": b"text\n",
    }  # fmt: skip


async def test_S11_a_folder_that_is_gone_is_not_made_again(client, project):
    (project / "d").mkdir()
    (project / "d/f").write_bytes(b"x\n")
    buffer = (await client.call("buffer.open", path="d/f")).buffer
    await edit(client, buffer, 0, [0, 0], [0, 0], "y")
    (project / "d/f").unlink()
    (project / "d").rmdir()
    error = await refused(client, "buffer.save", buffer=buffer)
    assert error.kind in ("not_found", "changed_on_disk")
    assert list(project.iterdir()) == []
    assert (await client.call("buffer.text", buffer=buffer)).text == "yx\n"
    await client.call("buffer.save_as", buffer=buffer, path="f")
    assert (project / "f").read_bytes() == b"yx\n"


async def test_A27_an_astral_character_is_one_column(client, project):
    (project / "f.txt").write_bytes("x\U0001f814y".encode())
    buffer = (await client.call("buffer.open", path="f.txt")).buffer
    await edit(client, buffer, 0, [0, 1], [0, 2], "")
    error = await refused(client, "buffer.edit", buffer=buffer, revision=1,
                          edits=[{"start": [0, 0], "end": [0, 0], "text": "\ud83d"}])  # fmt: skip
    assert error.kind == "bad_message"
    await client.call("buffer.save", buffer=buffer)
    assert (project / "f.txt").read_bytes() == b"xy"


async def test_a_batch_is_done_whole_or_not_at_all(client, project):
    (project / "f.txt").write_bytes(b"foo foo foo\n")
    buffer = (await client.call("buffer.open", path="f.txt")).buffer
    edits = [{"start": [0, column], "end": [0, column + 3], "text": "x"} for column in (8, 4, 0)]
    wrong = [*edits, {"start": [5, 0], "end": [5, 0], "text": "never"}]
    assert (await refused(client, "buffer.edit", buffer=buffer, revision=0, edits=wrong)).kind == "bad_message"
    assert (await client.call("buffer.list")).buffers[0].revision == 0
    done = await client.call("buffer.edit", buffer=buffer, revision=0, edits=edits, selection=[[0, 4], [0, 7]])
    assert done.revision == 1
    assert (await client.call("buffer.text", buffer=buffer)).text == "x x x\n"
    undone = await client.call("buffer.undo", buffer=buffer)  # A16
    assert undone.selection == ((0, 4), (0, 7))
    assert (await client.call("buffer.text", buffer=buffer)).text == "foo foo foo\n"
    assert (await client.call("buffer.redo", buffer=buffer)).revision == 3
    assert (await client.call("buffer.text", buffer=buffer)).text == "x x x\n"


async def test_a_change_too_long_to_be_told_says_to_read_again(client, project):
    (project / "long.txt").write_bytes(b"0123456789abcde\n" * 5_000_000)
    buffer = (await client.call("buffer.open", path="long.txt")).buffer
    with client.events() as events:
        assert not (await edit(client, buffer, 0, [0, 0], [5_000_000, 0], "")).reset
        assert (await client.call("buffer.undo", buffer=buffer)).changed
        told = [await anext(events), await anext(events)]
    assert [(event.reset, bool(event.edits)) for event in told] == [(False, True), (True, False)]
    pasted = await edit(client, buffer, 2, [0, 0], [0, 0], "é" * 200_000)
    assert (pasted.reset, pasted.edits) == (True, [])
    assert (await client.call("buffer.lines", buffer=buffer, first=0, count=1)).lengths == [200_015]


async def test_a_selection_whose_place_is_gone_does_not_refuse_the_edit(client, project):
    (project / "s.txt").write_bytes(b"aa\nbb\n")
    buffer = (await client.call("buffer.open", path="s.txt")).buffer
    await edit(client, buffer, 0, [0, 0], [0, 2], "\n")
    late = {"start": [1, 0], "end": [1, 0], "text": "x"}
    await client.call("buffer.edit", buffer=buffer, revision=0, edits=[late], selection=[[0, 1], [0, 1]])
    assert (await client.call("buffer.text", buffer=buffer)).text == "\n\nxbb\n"
