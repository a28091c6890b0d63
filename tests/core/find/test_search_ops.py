"""The ops of `search`, with a real core."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from rio_core._engine.documents.text import Text
from rio_core._engine.find import finder
from rio_core._engine.find.pattern import Wanted
from rio_core.client import Client
from rio_core.protocol import RioError
from support.living import attached, living


@pytest.fixture
def project(tmp_path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
async def client(tmp_path, project) -> AsyncIterator[Client]:
    async with living(tmp_path / "home") as core, attached(core, project) as client:
        yield client


async def new(client, text):
    made = await client.call("buffer.new", text=text)
    return made.buffer, made.revision


async def text_of(client, buffer):
    return (await client.call("buffer.text", buffer=buffer)).text


async def find(client, buffer, pattern, **more):
    return await client.call("search.buffer", buffer=buffer, pattern=pattern, **more)


async def replace_all(client, buffer, revision, pattern, replacement, **more):
    return await client.call(
        "search.replace_all", buffer=buffer, revision=revision, pattern=pattern, replacement=replacement, **more
    )


@pytest.mark.parametrize("regex", [False, True])
async def test_hits_are_positions_around_a_place(client, regex):
    buffer, revision = await new(client, "foo\r\nä foo\rfoo foo\n")
    found = await find(client, buffer, "foo", regex=regex, first=(1, 3), back=1, limit=1)
    assert found.hits == [((1, 2), (1, 5)), ((2, 0), (2, 3))]
    assert (found.before, found.total, found.more, found.revision) == (1, 4, False, revision)
    last = await find(client, buffer, "foo", regex=regex, back=1, limit=0)
    assert (last.hits, last.before) == ([((2, 4), (2, 7))], 3)
    inside = await find(client, buffer, "foo", regex=regex, within=((1, 3), (2, 5)))
    assert inside.hits == [((2, 0), (2, 3))]


async def test_hits_say_what_would_take_their_place(client):
    buffer, _ = await new(client, "a1 b2\r\n")
    found = await find(client, buffer, r"(\w)(\d)", regex=True, replacement=r"\2\1\n")
    assert found.texts == ["1a\r\n", "2b\r\n"]
    plain = await find(client, buffer, "1", replacement=r"\1")
    assert plain.texts == [r"\1"]


async def test_an_answer_with_long_texts_is_capped_around_its_place(client):
    buffer, _ = await new(client, "ab\n" * 500)
    found = await find(client, buffer, "a", first=(100, 0), back=50, limit=300, replacement="\u20ac" * 1000)
    assert found.total == 500
    assert found.hits[0] == ((100, 0), (100, 1))
    assert found.before == 100
    assert 10 < len(found.hits) == len(found.texts) < 60


@pytest.mark.parametrize("regex", [False, True])
async def test_A16_replace_all_is_one_step_of_undo(client, regex):
    buffer, revision = await new(client, "foo foo foo")
    caret = ((0, 4), (0, 4))
    done = await replace_all(client, buffer, revision, "foo", "x", regex=regex, selection=caret)
    assert done.count == 3
    assert await text_of(client, buffer) == "x x x"
    undone = await client.call("buffer.undo", buffer=buffer)
    assert undone.selection == caret
    assert await text_of(client, buffer) == "foo foo foo"
    await client.call("buffer.redo", buffer=buffer)
    assert await text_of(client, buffer) == "x x x"


async def test_S22_replace_all_without_a_scope_is_the_whole_document(client):
    buffer, revision = await new(client, "a\n" * 2000)
    done = await replace_all(client, buffer, revision, "a", "bb", selection=((1000, 0), (1000, 0)))
    assert done.count == 2000
    assert await text_of(client, buffer) == "bb\n" * 2000
    undone = await client.call("buffer.undo", buffer=buffer)
    assert undone.selection == ((1000, 0), (1000, 0))
    assert await text_of(client, buffer) == "a\n" * 2000


@pytest.mark.parametrize(("replacement", "once", "twice"), [("aa", "aa", "aaaa"), ("", "", "")])
async def test_S23_a_scope_does_not_grow(client, replacement, once, twice):
    buffer, revision = await new(client, "a\n" * 6)
    first = await replace_all(client, buffer, revision, "a", replacement, within=((0, 0), (3, 0)))
    assert first.within == ((0, 0), (3, 0))
    assert await text_of(client, buffer) == f"{once}\n" * 3 + "a\n" * 3
    second = await replace_all(client, buffer, first.revision, "a", replacement, within=first.within)
    assert second.within == ((0, 0), (3, 0))
    assert await text_of(client, buffer) == f"{twice}\n" * 3 + "a\n" * 3


async def test_S23_a_scope_of_a_part_of_a_line_follows_what_is_put_in(client):
    buffer, revision = await new(client, "aXaXa")
    done = await replace_all(client, buffer, revision, "X", "\n\n", within=((0, 1), (0, 4)))
    assert await text_of(client, buffer) == "a\n\na\n\na"
    assert done.within == ((0, 1), (4, 0))


async def test_replacing_line_ends_that_join_keeps_the_rest(client):
    buffer, revision = await new(client, "a\rX\nb\rX\nc")
    await replace_all(client, buffer, revision, r"X", "", regex=True)
    assert await text_of(client, buffer) == "a\r\nb\r\nc"
    await client.call("buffer.undo", buffer=buffer)
    assert await text_of(client, buffer) == "a\rX\nb\rX\nc"
    now = await find(client, buffer, "X")
    await replace_all(client, buffer, now.revision, r"\n|X", "", regex=True)
    assert await text_of(client, buffer) == "abc"


async def test_a_text_that_is_another_one_is_not_replaced_in(client):
    buffer, revision = await new(client, "a a")
    await client.call(
        "buffer.edit", buffer=buffer, revision=revision, edits=[{"start": (0, 0), "end": (0, 1), "text": "b"}]
    )
    with pytest.raises(RioError) as caught:
        await replace_all(client, buffer, revision, "a", "x")
    assert caught.value.kind == "stale"
    assert await text_of(client, buffer) == "b a"


async def test_nothing_found_changes_nothing(client):
    buffer, revision = await new(client, "a")
    done = await replace_all(client, buffer, revision, "x", "y")
    assert (done.count, done.revision) == (0, revision)
    assert (await find(client, buffer, "a")).revision == revision


EVIL = [(r"(a+)+$", "a" * 40 + "!"), ("^(.*)+ ", "x" * 200)]


@pytest.mark.parametrize(("pattern", "text"), EVIL)
async def test_A21_a_pattern_that_runs_for_ever_is_stopped_and_others_are_answered(client, pattern, text):
    buffer, revision = await new(client, text)
    refusals = []

    async def evil():
        with pytest.raises(RioError) as caught:
            await replace_all(client, buffer, revision, pattern, "x", regex=True, token="find")
        refusals.append(caught.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(evil)
        await anyio.sleep(0.3)
        slowest = 0.0
        for _ in range(20):
            begun = time.monotonic()
            assert await text_of(client, buffer) == text
            slowest = max(slowest, time.monotonic() - begun)
        assert not refusals
        await client.call("search.stop", token="find")
    assert refusals[0].kind == "conflict"
    assert slowest < 2  # it is not kept waiting; how fast it is belongs to the benchmarks
    assert await text_of(client, buffer) == text


async def test_A21_a_search_has_a_time_limit_and_says_so():
    text = Text(["a" * 40 + "!"])
    for work in (
        finder.find(text, Wanted("(a+)+$", regex=True), 0, 41, first=0, back=0, limit=1, seconds=0.3),
        finder.replacements(text, Wanted("(a+)+$", regex=True), "", 0, 41, seconds=0.3),
        finder.find(Text(["a" * 3_000_000]), Wanted("b"), 0, 3_000_000, first=0, back=0, limit=1, seconds=0.0),
    ):
        with pytest.raises(RioError, match=r"longer than 0.* seconds\. Nothing was changed") as caught:
            await work
        assert caught.value.kind == "unsupported"


async def test_a_search_with_the_same_token_stops_the_one_before(client):
    buffer, _ = await new(client, "a" * 40 + "!")
    refusals = []

    async def evil():
        with pytest.raises(RioError) as caught:
            await find(client, buffer, "(a+)+$", regex=True, token="t")
        refusals.append(caught.value.kind)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(evil)
        await anyio.sleep(0.2)
        assert (await find(client, buffer, "!", token="t")).total == 1
    assert refusals == ["conflict"]


@pytest.mark.parametrize(
    "params",
    [
        {"pattern": "(", "regex": True},
        {"pattern": ""},
        {"pattern": "a" * 20_000},
        {"pattern": "a", "within": ((0, 1), (0, 0))},
        {"pattern": "a", "first": (7, 0)},
        {"pattern": "a", "back": -1},
        {"pattern": "(a)", "regex": True, "replacement": r"\2"},
        {"pattern": "a{99999999999}", "regex": True},
    ],
)
async def test_what_cannot_be_searched_for_is_said(client, params):
    buffer, _ = await new(client, "abc")
    with pytest.raises(RioError) as caught:
        await find(client, buffer, **params)
    assert caught.value.kind == "bad_message"
    assert caught.value.action


async def test_files_are_searched_with_unsaved_texts_in_their_place(client, project):
    (project / "a.py").write_text("Foo(1)\r\nfood\n")
    (project / "b.py").write_text("nothing\n")
    (project / "c.txt").write_text("foo\n")
    opened = await client.call("buffer.open", path="b.py")
    change = {"start": (0, 0), "end": (0, 0), "text": "x\nä foo "}
    await client.call("buffer.edit", buffer=opened.buffer, revision=opened.revision, edits=[change])
    found = await client.call("search.files", pattern="foo", word=True, glob="*.py")
    assert [(file.path, file.unsaved, [hit.position for hit in file.hits]) for file in found.files] == [
        ("a.py", False, [(0, 0)]),
        ("b.py", True, [(1, 2)]),
    ]
    hit = found.files[1].hits[0]
    assert hit.text[hit.at : hit.at + hit.length] == "foo"
    exact = await client.call("search.files", pattern="foo", case=True)
    assert [file.path for file in exact.files] == ["a.py", "b.py", "c.txt"]
    assert exact.files[0].hits[0].position == (1, 0)


async def test_hits_in_files_fit_into_an_answer(client, project):
    (project / "a").write_text(("€" * 280 + "x\n") * 100)
    (project / "b").write_text(("€" * 280 + "x\n") * 100)
    found = await client.call("search.files", pattern="x")
    assert found.cut == "bytes"
    assert found.files
