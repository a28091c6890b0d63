"""Documents and their files, through the project's own way of finding a file."""

import os
import stat
from functools import partial
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine import files
from rio_core._engine.documents.buffer import Buffer
from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.documents.encoding import Format
from rio_core._engine.documents.store import Documents
from rio_core._engine.workspace.confine import Root
from rio_core.protocol.errors import RioError
from support.nasty import byte_strings
from support.profiles import examples

pytestmark = pytest.mark.anyio


def put(buffer: Buffer, line: int, column: int, text: str, remove: int = 0) -> None:
    edit = Edit(Position(line, column), Position(line, column + remove), text)
    buffer.edit(buffer.revision, [edit], origin="user")


async def refusal(call) -> RioError:
    with pytest.raises(RioError) as caught:
        await call
    return caught.value


async def test_A01_S01_only_the_edited_byte_differs(documents: Documents, project: Path):
    (project / "f").write_bytes(b"a\nb\xffc\n")
    buffer = await documents.open("f")
    assert buffer.format == Format("latin-1", clean=False)
    put(buffer, 0, 0, "A", 1)
    saved = await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"A\nb\xffc\n"
    assert (saved.revision, saved.bytes, buffer.dirty) == (1, 6, False)


@pytest.mark.parametrize("data", ["ä\nü\nö\n".encode(), b"\xef\xbb\xbf" + "ä\r\nü".encode()])
async def test_S01_no_mark_is_added_and_none_taken(documents: Documents, project: Path, data: bytes):
    (project / "f").write_bytes(data)
    buffer = await documents.open("f")
    put(buffer, 1, 1, "!")
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == data.replace("ü".encode(), "ü!".encode())


async def test_A03_a_character_that_cannot_be_held_refuses_the_save(documents: Documents, project: Path):
    (project / "f").write_bytes("é\nx".encode("cp1252"))
    buffer = await documents.open("f")
    await documents.reopen_with(buffer.id, "cp1252", origin="user")
    put(buffer, 1, 1, "国")
    for force in (False, True):
        error = await refusal(documents.save(buffer.id, force=force))
        assert error.kind == "encoding"
        assert "(U+56FD) at line 2, column 2" in error.message
    assert buffer.dirty
    assert (project / "f").read_bytes() == b"\xe9\nx"
    assert os.listdir(project) == ["f"]
    buffer.set_encoding("utf-8", origin="user")
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == "é\nx国".encode()


async def test_A04_nul_is_an_ordinary_character(documents: Documents, project: Path):
    (project / "f").write_bytes(b"abc\0def\nghi\n")
    buffer = await documents.open("f")
    assert buffer.text.lines(0, 2) == [("abc\0def", "\n"), ("ghi", "\n")]
    put(buffer, 1, 1, "H", 1)
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"abc\0def\ngHi\n"


@pytest.mark.parametrize(
    ("data", "place", "text", "expected"),
    [
        (b"a\r\nb\nc\r\n", (1, 0), "B", b"a\r\nB\nc\r\n"),  # A05
        (b"a\rb\r", (0, 0), "A", b"A\rb\r"),  # A06
        (b"1\n2\n\f\n4\n", (3, 0), "x", b"1\n2\n\f\nx\n"),  # A07
        ("a\u2028b\x0b\x1c\u0085c\nd".encode(), (1, 0), "D", "a\u2028b\x0b\x1c\u0085c\nD".encode()),
        (b"lorem", (0, 0), "L", b"Lorem"),  # S06
        (b"a\r\nb", (1, 0), "B", b"a\r\nB"),
    ],
)
async def test_A05_A06_A07_S06_line_ends_stay_as_they_are(
    documents: Documents, project: Path, data: bytes, place: tuple[int, int], text: str, expected: bytes
):
    (project / "f").write_bytes(data)
    buffer = await documents.open("f")
    put(buffer, *place, text, 1)
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == expected


async def test_A06_one_cr_is_two_lines_and_the_next_end_is_cr_too(documents: Documents, project: Path):
    (project / "f").write_bytes(b"\r")
    buffer = await documents.open("f")
    assert (buffer.lines, buffer.line_ending) == (2, "cr")
    put(buffer, 1, 0, "\r")
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"\r\r"


async def test_A06_a_new_document_has_the_default_line_end(documents: Documents):
    documents.default_ending = "cr"
    buffer = documents.new()
    assert (buffer.line_ending, buffer.dirty, buffer.path) == ("cr", False, None)
    assert documents.new("text").dirty


async def test_A27_a_deleted_character_is_gone_whole(documents: Documents, project: Path):
    (project / "f").write_text("x\U0001f814y")
    buffer = await documents.open("f")
    put(buffer, 0, 1, "", 1)
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"xy"


@pytest.mark.parametrize("name", ["s.sh", "link"])
async def test_A09_E14_a_save_through_a_link_keeps_it_and_the_mode(documents: Documents, project: Path, name: str):
    (project / "s.sh").write_bytes(b"old")
    (project / "s.sh").chmod(0o755)
    (project / "link").symlink_to("s.sh")
    buffer = await documents.open(name)
    put(buffer, 0, 0, "very ")
    await documents.save(buffer.id)
    assert os.readlink(project / "link") == "s.sh"
    assert (project / "s.sh").read_bytes() == b"very old"
    assert stat.S_IMODE((project / "s.sh").stat().st_mode) == 0o755
    assert sorted(os.listdir(project)) == ["link", "s.sh"]


async def test_A11_a_save_keeps_hard_links(documents: Documents, project: Path):
    (project / "a").write_bytes(b"old")
    os.link(project / "a", project / "b")
    buffer = await documents.open("b")
    put(buffer, 0, 0, "very ")
    await documents.save(buffer.id)
    assert (project / "a").read_bytes() == (project / "b").read_bytes() == b"very old"
    assert (project / "a").stat().st_nlink == 2


async def test_A32_S34_a_file_has_one_document_whatever_names_lead_to_it(documents: Documents, project: Path):
    (project / "foo").mkdir()
    (project / "foo" / "f").write_bytes(b"text")
    (project / "bar").symlink_to("foo")
    os.link(project / "foo" / "f", project / "hard")
    (project / "soft").symlink_to("foo/f")
    buffer = await documents.open("foo/f")
    for name in ("foo/f", "bar/f", "foo/../foo/f", "hard", "soft", str(project / "foo" / "f")):
        assert await documents.open(name) is buffer
        assert await documents.find(name) is buffer
    put(buffer, 0, 0, "my ")
    await documents.save(buffer.id)
    assert (project / "hard").read_bytes() == b"my text"
    assert documents.all() == [buffer]


async def test_A32_an_inode_that_was_used_again_is_another_file(documents: Documents, project: Path):
    (project / "a").write_bytes(b"one")
    buffer = await documents.open("a")
    (project / "a").rename(project / "b")
    (project / "a").write_bytes(b"two")
    other = await documents.open("b")
    assert other is not buffer
    assert str(other.text) == "one"
    assert await documents.open("a") is buffer


async def test_A32_opened_twice_at_once_it_is_one_document(documents: Documents, project: Path):
    (project / "a").write_bytes(b"text")
    (project / "b").symlink_to("a")
    found: list[Buffer] = []

    async def open_it(name: str) -> None:
        found.append(await documents.open(name))

    async with anyio.create_task_group() as group:
        for name in ("a", "b", "a"):
            group.start_soon(open_it, name)
    assert len(documents.all()) == 1
    assert all(buffer is found[0] for buffer in found)


async def test_a_document_that_was_closed_is_opened_anew(documents: Documents, project: Path):
    (project / "a").write_bytes(b"text")
    buffer = await documents.open("a")
    await documents.close(buffer.id)
    assert await documents.find("a") is None
    assert (await documents.open("a")).id != buffer.id
    assert (await refusal(documents.save(buffer.id))).kind == "not_found"


async def test_S08_a_read_only_file_is_marked_and_not_replaced(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    (project / "f").chmod(0o444)
    buffer = await documents.open("f")
    assert buffer.read_only
    put(buffer, 0, 0, "very ")
    error = await refusal(documents.save(buffer.id))
    assert (error.kind, buffer.dirty) == ("read_only", True)
    assert "Save As" in error.action
    assert (project / "f").read_bytes() == b"old"
    await documents.save_as(buffer.id, "g")
    assert (buffer.path, buffer.read_only, buffer.dirty) == ("g", False, False)
    assert (project / "g").read_bytes() == b"very old"


async def test_S11_a_folder_that_is_gone_keeps_the_text_and_is_not_made(documents: Documents, project: Path):
    (project / "d").mkdir()
    (project / "d" / "f").write_bytes(b"old")
    buffer = await documents.open("d/f")
    put(buffer, 0, 0, "very ")
    (project / "d" / "f").unlink()
    (project / "d").rmdir()
    for force in (False, True):
        error = await refusal(documents.save(buffer.id, force=force))
        assert error.kind == "not_found"
        assert "Save As" in error.action
    assert (str(buffer.text), buffer.dirty, os.listdir(project)) == ("very old", True, [])
    await documents.save_as(buffer.id, "f")
    assert (project / "f").read_bytes() == b"very old"


async def test_S11_a_file_that_was_deleted_is_made_again_on_demand_only(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "very ")
    (project / "f").unlink()
    error = await refusal(documents.save(buffer.id))
    assert error.kind == "changed_on_disk"
    assert "was deleted" in error.message
    assert await documents.find("f") is buffer
    assert await documents.open("f") is buffer
    await documents.save(buffer.id, force=True)
    assert (project / "f").read_bytes() == b"very old"


async def test_S10_a_change_by_another_program_is_asked_about_each_time(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    (project / "f").write_bytes(b"new")
    for _ in range(2):
        assert (await refusal(documents.save(buffer.id))).kind == "changed_on_disk"
        put(buffer, 0, 0, "!")
    assert (project / "f").read_bytes() == b"new"
    await documents.save(buffer.id, force=True)
    assert (project / "f").read_bytes() == b"!!my old"
    put(buffer, 0, 0, "?")
    await documents.save(buffer.id)


async def test_S17_a_reload_can_be_undone_and_so_can_what_came_before(documents: Documents, project: Path):
    (project / "f").write_bytes(b"one\ntwo\n")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "1: ")
    await documents.save(buffer.id)
    (project / "f").write_bytes(b"1: one\n2: two\n")
    await documents.reload(buffer.id, origin="user")
    assert (str(buffer.text), buffer.dirty, buffer.revision) == ("1: one\n2: two\n", False, 2)
    buffer.undo(origin="user")
    assert (str(buffer.text), buffer.dirty) == ("1: one\ntwo\n", True)
    buffer.undo(origin="user")
    assert str(buffer.text) == "one\ntwo\n"
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"one\ntwo\n"


async def test_a_reload_of_unsaved_text_is_asked_about(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    assert (await refusal(documents.reload(buffer.id, origin="user"))).kind == "dirty"
    await documents.reload(buffer.id, origin="user", discard=True)
    assert (str(buffer.text), buffer.dirty) == ("old", False)
    buffer.undo(origin="user")
    assert str(buffer.text) == "my old"


async def test_what_is_typed_during_a_reload_is_not_lost(documents: Documents, project: Path, monkeypatch):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    load = documents._load

    def slow(path: str, encoding: str | None):
        anyio.from_thread.run_sync(put, buffer, 0, 0, "my ")
        return load(path, encoding)

    monkeypatch.setattr(documents, "_load", slow)
    assert (await refusal(documents.reload(buffer.id, origin="user"))).kind == "dirty"
    assert str(buffer.text) == "my old"


async def test_a_reopening_in_another_encoding_is_a_step_and_clean(documents: Documents, project: Path):
    (project / "f").write_bytes(b"\xa9 and \xe9\n")
    buffer = await documents.open("f")
    await documents.reopen_with(buffer.id, "cp1250", origin="user")
    assert (buffer.format, buffer.dirty) == (Format("cp1250"), False)
    await documents.reopen_with(buffer.id, "koi8-r", origin="user")
    assert not str(buffer.text).startswith("\xa9")
    buffer.undo(origin="user")
    assert (str(buffer.text), buffer.format) == ("\xa9 and \xe9\n", Format("cp1250"))
    error = await refusal(documents.reopen_with(buffer.id, "utf-8", origin="user", discard=True))
    assert error.kind == "encoding"
    assert (str(buffer.text), buffer.format) == ("\xa9 and \xe9\n", Format("cp1250"))


async def test_what_is_typed_during_a_save_stays_unsaved(documents: Documents, project: Path, monkeypatch):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    save = files.save

    def slow(*arguments, **named):
        anyio.from_thread.run_sync(put, buffer, 0, 0, "!")
        return save(*arguments, **named)

    monkeypatch.setattr(files, "save", slow)
    saved = await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"my old"
    assert (saved.revision, buffer.revision, buffer.dirty) == (1, 2, True)
    buffer.undo(origin="user")
    assert not buffer.dirty


async def test_saves_of_one_document_are_made_in_order(documents: Documents, project: Path, monkeypatch):
    (project / "f").write_bytes(b"0")
    buffer = await documents.open("f")
    save = files.save
    written: list[bytes] = []

    def watched(place, pieces, *arguments, **named):
        written.append(b"".join(pieces))
        if len(written) == 1:
            anyio.from_thread.run(anyio.sleep, 0.05)
        return save(place, pieces, *arguments, **named)

    monkeypatch.setattr(files, "save", watched)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            put(buffer, 0, 0, "x")
            group.start_soon(documents.save, buffer.id)
            await anyio.sleep(0.005)
    assert written == [b"x0", b"xxx0", b"xxx0"]
    assert (project / "f").read_bytes() == b"xxx0"
    assert not buffer.dirty


async def test_a_save_that_waits_behind_a_close_writes_nothing(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    errors: list[RioError] = []

    async def save_it() -> None:
        errors.append(await refusal(documents.save(buffer.id)))

    async with anyio.create_task_group() as group, documents._entries[buffer.id].turn:
        group.start_soon(partial(documents.close, buffer.id, discard=True))
        await anyio.sleep(0.005)
        group.start_soon(save_it)
        await anyio.sleep(0.005)
    assert [error.kind for error in errors] == ["not_found"]
    assert (project / "f").read_bytes() == b"old"


async def test_A17_closing_asks_when_there_is_unsaved_text(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    assert (await refusal(documents.close(buffer.id))).kind == "dirty"
    assert documents.get(buffer.id) is buffer
    await documents.close(buffer.id, discard=True)
    assert documents.all() == []


async def test_a_document_without_a_file_is_saved_under_a_name(documents: Documents, project: Path):
    buffer = documents.new("text\n")
    assert (await refusal(documents.save(buffer.id))).kind == "conflict"
    assert (await refusal(documents.reload(buffer.id, origin="user", discard=True))).kind == "conflict"
    (project / "there").write_bytes(b"theirs")
    assert (await refusal(documents.save_as(buffer.id, "there"))).kind == "exists"
    assert (buffer.path, buffer.dirty) == (None, True)
    await documents.save_as(buffer.id, "here")
    assert (buffer.path, buffer.dirty) == ("here", False)
    assert (project / "here").read_bytes() == b"text\n"
    put(buffer, 0, 0, "more ")
    await documents.save(buffer.id)
    await documents.save_as(buffer.id, "there", force=True)
    assert (project / "there").read_bytes() == b"more text\n"


async def test_a_file_that_is_open_is_not_saved_over_by_another_document(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    await documents.open("f")
    other = documents.new("text")
    error = await refusal(documents.save_as(other.id, "f", force=True))
    assert error.kind == "conflict"
    assert (project / "f").read_bytes() == b"old"


async def test_save_as_the_same_file_is_a_save(documents: Documents, project: Path):
    (project / "f").write_bytes(b"old")
    (project / "link").symlink_to("f")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    await documents.save_as(buffer.id, "link")
    assert (project / "f").read_bytes() == b"my old"
    assert os.readlink(project / "link") == "f"


async def test_a_missing_file_is_not_found_and_what_to_do_is_said(documents: Documents, project: Path):
    error = await refusal(documents.open("none"))
    assert error.kind == "not_found"
    assert "create" in error.action
    (project / "d").mkdir()
    assert (await refusal(documents.open("d"))).kind == "unsupported"
    assert documents.all() == []


async def test_a_failure_behind_the_rename_is_no_other_programs_change(
    documents: Documents, project: Path, monkeypatch
):
    (project / "f").write_bytes(b"old")
    buffer = await documents.open("f")
    put(buffer, 0, 0, "my ")
    fsync = os.fsync

    def fail_for_folders(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(5, "made to fail")
        fsync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_for_folders)
        assert (await refusal(documents.save(buffer.id))).kind == "io"
    assert buffer.dirty
    put(buffer, 0, 0, "!")
    await documents.save(buffer.id)
    assert (project / "f").read_bytes() == b"!my old"


def by_hand(data: bytes) -> tuple[bytes, str]:
    """The mark and the encoding of a file, found with the whole of it in the hand."""
    for name in ("utf-8", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        mark = "\ufeff".encode(name)
        if data.startswith(mark):
            try:
                data[len(mark) :].decode(name)
            except UnicodeDecodeError:
                continue
            return mark, name
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return b"", "latin-1"
    return b"", "utf-8"


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, Edit, bytes]:
    """Bytes, an edit of what they say, and the bytes that there must be then."""
    before = draw(st.one_of(byte_strings(), st.binary(max_size=20)))
    new = draw(st.sampled_from(("", "x", "\r\n", "é")))
    mark, name = by_hand(before)
    content = before[len(mark) :].decode(name)
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, min(start + 3, len(content))))
    if start and content[start - 1 : start + 1] == "\r\n":
        start -= 1
    if end and content[end - 1 : end + 1] == "\r\n":
        end += 1
    places = []
    for offset in (start, end):
        lines = content[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        places.append(Position(len(lines) - 1, len(lines[-1])))
    head, tail = content[:start].encode(name), content[end:].encode(name)
    assert before.startswith(mark + head)
    assert before.endswith(tail)
    return before, Edit(places[0], places[1], new), mark + head + new.encode(name) + tail


@given(changes())
@examples(ci=1000, deep=5000)
async def test_any_bytes_opened_edited_in_one_place_and_saved_differ_only_there(change: tuple[bytes, Edit, bytes]):
    before, edit, after = change
    async with anyio.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        await anyio.Path(project).mkdir()
        await anyio.Path(project, "f").write_bytes(before)
        with Root.open(str(project)) as root:
            documents = Documents(root.place, recovery=f"{folder}/recovery", changed=lambda _: None)
            buffer = await documents.open("f")
            buffer.edit(0, [edit], origin="user")
            await documents.save(buffer.id)
        assert await anyio.Path(project, "f").read_bytes() == after
        assert os.listdir(folder) == ["project"]
        assert os.listdir(project) == ["f"]


async def test_what_is_on_disk_is_not_looked_at_in_the_middle_of_a_save(tmp_path):
    """A save that is under way must not look like a change by another program."""
    (tmp_path / "f.txt").write_bytes(b"x\n" * 200_000)
    with Root.open(str(tmp_path)) as root:
        documents = Documents(root.place, recovery=str(tmp_path / "recovery"), changed=lambda _: None)
        buffer = await documents.open("f.txt")
        base = await documents.on_disk(buffer.id)
        assert base is not None
        for number in range(40):
            put(buffer, 0, 0, "y")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(documents.save, buffer.id)
                await anyio.sleep(0.0005 * (number % 20))
                now = await documents.on_disk(buffer.id)
                assert now is not None
                assert documents.follows(buffer.id, base, now)
