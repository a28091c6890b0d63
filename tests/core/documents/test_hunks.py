import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.documents import hunks, lines, text
from rio_core._engine.documents.buffer import Buffer
from rio_core._engine.documents.hunks import apply_lines, changed_lines, differences
from rio_core._engine.documents.text import Text
from support.nasty import texts
from support.profiles import examples


def applied(before: str, start: int, old: str, new: str, **more: object) -> str:
    buffer = Buffer("b1", Text([before]), changed=lambda _: None)
    buffer.edit(0, apply_lines(buffer.text, start, old, new, **more), origin="agent")
    return str(buffer.text)


few = st.lists(st.sampled_from(("a", "b", "", "  ", "é\u2028")), min_size=1, max_size=10)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Text of few different lines with any ends."""
    return "".join(line + draw(st.sampled_from(("\n", "\r\n", "\r"))) for line in draw(few))[: draw(st.integers(0, 60))]


@given(st.data(), documents(), few.map("\n".join))
@examples(ci=1000, deep=20_000)
def test_the_new_text_is_there_and_nothing_around_it_changes(data: st.DataObject, before: str, new: str):
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    start -= lines.splits_crlf(before, start)
    end += lines.splits_crlf(before, end)
    old = lines.to_lf(before[start:end])
    after = applied(before, start, old, new)
    assert lines.to_lf(after) == lines.to_lf(before[:start]) + new + lines.to_lf(before[end:])
    assert after.startswith(before[:start])
    assert after.endswith(before[end:])


@given(documents(), st.lists(st.integers(0, 9), max_size=3), st.sampled_from(("x", "y\nz", "")))
@examples(ci=500, deep=10_000)
def test_equal_lines_keep_their_bytes(before: str, chosen: list[int], new: str):
    pairs = lines.split(before)
    unique = [(f"{index}{content}", end) for index, (content, end) in enumerate(pairs)]
    before = "".join(content + end for content, end in unique)
    after = applied(
        before,
        0,
        lines.to_lf(before),
        "\n".join(new if index in chosen else content for index, (content, _) in enumerate(unique)),
    )
    kept = [line for index, line in enumerate(unique) if index not in chosen]
    found = [line for line in lines.split(after) if line in kept]
    assert found == kept


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\r\nb\nc\r", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\nc\r"),  # of the line that it replaces
        ("a\r\nb\nc\r", "a\nb\nc\n", "a\nb\nx\nc\n", "a\r\nb\nx\nc\r"),  # of the line before
        ("a\r\nb\nc\n", "a\n", "x\na\n", "x\r\na\r\nb\nc\n"),  # of the document's first line
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),  # the last line had none
        ("a\r\nb", "b", "b\n", "a\r\nb\r\n"),
        ("", "", "a\nb\n", "a\nb\n"),
        ("one two\r\n", "two", "two\nthree", "one two\r\nthree\r\n"),  # in the middle of a line
        ("x\none two\r\ny\n", "two", "three\ntwo", "x\none three\r\ntwo\r\ny\n"),
        ("a\r\nb\r\n", "a\nb\n", "", ""),
        ("x\ry\n\n", "y\n", "", "x\r\n\n"),  # the CR and the LF must stay two ends
        ("a\rb\n\nc", "b", "B\n", "a\rB\n\n\nc"),
    ],
)
def test_the_end_of_a_new_line(before: str, old: str, new: str, after: str):
    start = lines.original(lines.to_lf(before).index(old), lines.crlf_places(before))
    assert applied(before, start, old, new) == after


def test_A06_the_default_is_for_a_document_without_line_ends():
    assert applied("", 0, "", "a\nb", default="cr") == "a\rb"


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="0"):
        apply_lines(Text(["a"]), 0, "b", "c")


def test_an_edit_touches_the_changed_lines_only():
    before = "".join(f"line {index}\r\n" for index in range(100))
    old = lines.to_lf(before)
    new = old.replace("line 7\n", "line seven\n").replace("line 70\n", "")
    edits = apply_lines(Text([before]), 0, old, new)
    assert [(edit.start, edit.end, edit.text) for edit in edits] == [
        ((70, 0), (71, 0), ""),
        ((7, 0), (8, 0), "line seven\r\n"),
    ]


def test_very_many_equal_lines_are_one_hunk():
    blank = [""] * 2000
    assert changed_lines(["a", *blank, "b"], ["c", *blank, "d"]) == [(0, 2002, 0, 2002)]
    assert changed_lines(["a", *blank], ["c", *blank]) == [(0, 1, 0, 1)]


@given(texts(), texts(), texts(8), texts(8))
@examples(ci=500, deep=10_000)
def test_differences_make_one_text_of_the_other(head: str, tail: str, one: str, other: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK", 4)
        patch.setattr(hunks, "CHUNK", 4)
        before, after = head + one + tail, head + other + tail
        buffer = Buffer("b1", Text([before]), changed=lambda _: None)
        edits = differences(buffer.text, Text([after]))
        buffer.edit(0, edits, origin="disk")
        assert str(buffer.text) == after
        assert bool(edits) == (before != after)


def test_S17_differences_are_few_lines():
    before = "".join(f"line {index}\n" for index in range(20_000))
    after = before.replace("line 5\n", "line five\n").replace("line 19990\n", "")
    edits = differences(Text([before]), Text([after]))
    assert [(edit.start, edit.end, edit.text) for edit in edits] == [
        ((19990, 0), (19991, 0), ""),
        ((5, 0), (6, 0), "line five\n"),
    ]


def test_a_very_large_difference_is_one_edit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hunks, "MAX_CHARACTERS", 10)
    edits = differences(Text(["same\n1\n2\n3\n4\n5\n6\nsame\n"]), Text(["same\n1a\n2\n3\n4\n5\n6a\nsame\n"]))
    assert [(edit.start, edit.end) for edit in edits] == [((1, 0), (7, 0))]
