"""A buffer against a plain string, and what it tells those who follow it."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.documents import buffer as module
from rio_core._engine.documents import lines, text
from rio_core._engine.documents.buffer import Buffer, Changed
from rio_core._engine.documents.edits import MAX_REBASE, Edit, Position
from rio_core._engine.documents.encoding import Format
from rio_core._engine.documents.text import Text
from rio_core.protocol.errors import RioError
from support.nasty import texts
from support.profiles import examples


class Follower:
    """A front end: it keeps lines without their ends and knows nothing but the events."""

    def __init__(self, start: str) -> None:
        self.lines = re.split(r"\r\n|\r|\n", start)
        self.revisions = [0]

    def __call__(self, event: Changed) -> None:
        self.revisions.append(event.revision)
        for edit in event.edits:
            head = self.lines[edit.start.line][: edit.start.column]
            tail = self.lines[edit.end.line][edit.end.column :]
            assert len(head) == edit.start.column
            new = re.split(r"\r\n|\r|\n", edit.text)
            new[0] = head + new[0]
            new[-1] += tail
            self.lines[edit.start.line : edit.end.line + 1] = new


@given(st.data(), texts(12), st.integers(1, 12))
@examples(ci=400, deep=10_000)
def test_a_follower_of_the_events_has_the_same_lines(data: st.DataObject, base: str, count: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK", 4)
        follower = Follower(base)
        buffer = Buffer("b1", Text([base]), changed=follower)
        history = [base]  # what undo leads back through
        ahead: list[str] = []
        for _ in range(count):
            now = str(buffer.text)
            action = data.draw(st.sampled_from(("edit", "edit", "edit", "undo", "redo", "ends", "reload")))
            if action == "undo":
                assert buffer.undo(origin="user").changed == (len(history) > 1)
                if len(history) > 1:
                    ahead.append(history.pop())
                expected = history[-1]
            elif action == "redo":
                assert buffer.redo(origin="user").changed == bool(ahead)
                if ahead:
                    history.append(ahead.pop())
                expected = history[-1]
            elif action == "reload":
                expected = data.draw(texts(12))
                buffer.reload(Text([expected]), Format(), origin="disk")
                assert not buffer.dirty
            elif action == "ends":
                ending = data.draw(st.sampled_from(("lf", "crlf", "cr")))
                expected = lines.with_ending(now, ending)
                buffer.set_line_ending(ending, origin="user")
                assert buffer.line_ending == ending
            else:
                start = data.draw(st.integers(0, len(now)))
                end = data.draw(st.integers(start, min(len(now), start + 4)))
                start -= lines.splits_crlf(now, start)
                end += lines.splits_crlf(now, end)
                new = data.draw(texts(3))
                expected = now[:start] + new + now[end:]
                position = buffer.text.position
                buffer.edit(buffer.revision, [Edit(position(start), position(end), new)], origin="user")
            if action not in ("undo", "redo") and expected != now:
                history.append(expected)
                ahead.clear()
            assert str(buffer.text) == expected
            assert follower.lines == [content for content, _ in lines.split(expected)]
    assert all(later == earlier + 1 for earlier, later in pairwise(follower.revisions))
    assert follower.revisions[-1] == buffer.revision


def test_a_batch_applies_in_order_each_edit_in_what_the_one_before_left(pen, at):
    one = pen("abc\n")
    applied = one.buffer.edit(0, [at(0, 0, "x\n"), at(1, 3, "y"), at(0, 0, "", 1, 0)], origin="user")
    assert str(one) == "abcy\n"
    assert applied.revision == one.buffer.revision == 1
    assert [event.revision for event in one.events] == [1]
    assert one.events[0].edits == applied.edits


def test_a_batch_with_one_wrong_position_changes_nothing(pen, at):
    one = pen("abc\r\ndef")
    for wrong in (at(0, 4, "x"), at(2, 0, "x"), at(0, 2, "x", 0, 1), at(0, 0, "\ud800")):
        with pytest.raises(RioError) as caught:
            one.buffer.edit(0, [at(0, 0, "\n", 1, 0), at(0, 0, "q"), wrong], origin="user")
        assert caught.value.kind == "bad_message"
    assert str(one) == "abc\r\ndef"
    assert (one.buffer.revision, one.events, one.buffer.dirty, one.undo()) == (0, [], False, False)


def test_a_revision_that_is_not_there_yet_is_refused(pen, at):
    with pytest.raises(RioError) as caught:
        pen("a").buffer.edit(1, [at(0, 0, "x")], origin="user")
    assert caught.value.kind == "bad_message"


def test_only_the_last_revisions_are_kept(pen, at):
    one = pen()
    for _ in range(module.KEPT):
        one.put(0, "x")
    one.buffer.edit(0, [at(0, 0, "y")], origin="user")
    assert str(one) == "x" * module.KEPT + "y"
    with pytest.raises(RioError) as caught:
        one.buffer.edit(0, [at(0, 0, "z")], origin="user")
    assert caught.value.kind == "stale"
    one.buffer.edit(1, [at(0, 0, "z")], origin="user")


def test_a_batch_for_a_revision_before_very_many_edits_is_stale(pen, at, monkeypatch):
    monkeypatch.setattr(module, "MAX_REBASE", 10)
    assert MAX_REBASE > 10
    one = pen("end")
    one.buffer.edit(0, [at(0, 0, "x")] * 11, origin="other")
    with pytest.raises(RioError) as caught:
        one.buffer.edit(0, [at(0, 3, "y")], origin="user")
    assert caught.value.kind == "stale"
    one.buffer.edit(1, [at(0, 14, "y")], origin="user")
    assert str(one) == "x" * 11 + "endy"


def test_the_selection_of_an_older_revision_is_carried_over_too(pen, at):
    one = pen("word")
    one.buffer.edit(0, [at(0, 0, "a\n")], origin="other")
    caret = (Position(0, 4), Position(0, 4))
    one.buffer.edit(0, [at(0, 4, "!")], origin="user", selection=caret)
    assert one.buffer.undo(origin="user").selection == (Position(1, 4), Position(1, 4))


@given(st.text("\r\nx", min_size=12, max_size=60), st.sampled_from(("lf", "crlf", "cr")))
@examples(ci=200, deep=5000)
def test_A05_every_end_becomes_the_same_and_no_position_moves(before: str, ending: lines.Ending):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK", 4)
        follower = Follower(before)
        buffer = Buffer("b1", Text([before]), changed=follower)
        buffer.set_line_ending(ending, origin="user")
        assert str(buffer.text) == lines.with_ending(before, ending)
        assert follower.lines == [content for content, _ in lines.split(before)]
        buffer.undo(origin="user")
        assert str(buffer.text) == before


def test_A05_making_mixed_line_ends_uniform_is_one_step(pen):
    one = pen("a\r\nb\nc\r\n")
    assert one.buffer.line_ending == "mixed"
    one.buffer.set_line_ending("lf", origin="user")
    assert (str(one), one.buffer.line_ending, one.buffer.dirty) == ("a\nb\nc\n", "lf", True)
    one.undo()
    assert (str(one), one.buffer.line_ending, one.buffer.dirty) == ("a\r\nb\nc\r\n", "mixed", False)


def test_A06_a_text_without_line_ends_has_the_default(pen):
    one = pen(default_ending="cr")
    assert one.buffer.line_ending == "cr"
    one.buffer.set_line_ending("crlf", origin="user")
    assert (one.buffer.line_ending, one.buffer.dirty) == ("crlf", False)
    one.put(0, "a\r")
    assert one.buffer.line_ending == "cr"


def test_A06_an_edit_that_joins_cr_and_lf_is_told_with_both(pen, at):
    one = pen("a\rb")
    applied = one.buffer.edit(0, [at(1, 0, "\n")], origin="user")
    assert applied.edits == (at(0, 1, "\r\n", 1, 0),)
    assert one.buffer.lines == 2
    one.undo()
    assert str(one) == "a\rb"


def test_S03_converting_keeps_the_text_and_is_one_step(pen):
    one = pen("\u00a9 text", form=Format("latin-1", clean=False))
    one.buffer.set_encoding("utf8", origin="user")
    assert (str(one), one.buffer.format, one.buffer.dirty) == ("\u00a9 text", Format("utf-8"), True)
    assert one.events[-1].edits == ()
    one.undo()
    assert (str(one), one.buffer.format, one.buffer.dirty) == ("\u00a9 text", Format("latin-1", clean=False), False)
    one.redo()
    assert one.buffer.format == Format("utf-8")


def test_the_mark_stays_unless_asked_for(pen):
    one = pen("a", form=Format("utf-8", bom=True))
    one.buffer.set_encoding("utf-16-le", origin="user")
    assert one.buffer.format == Format("utf-16-le", bom=True)
    one.buffer.set_encoding("cp1252", origin="user")
    assert one.buffer.format == Format("cp1252")
    one.buffer.set_encoding("utf-8-sig", origin="user")
    assert one.buffer.format == Format("utf-8", bom=True)
    one.buffer.set_encoding("utf-8", bom=False, origin="user")
    assert one.buffer.format == Format("utf-8")
    with pytest.raises(RioError) as caught:
        one.buffer.set_encoding("cp1252", bom=True, origin="user")
    assert caught.value.kind == "encoding"


def test_S17_a_reload_is_one_step_and_keeps_the_ones_before(pen):
    one = pen("a\nb\nc\n")
    one.put(2, "B", 1)
    one.buffer.saved(one.buffer.version())
    one.buffer.reload(Text(["a\nB\nc\nd\n"]), Format(), origin="disk")
    assert [edit.text for edit in one.events[-1].edits] == ["d\n"]
    assert not one.buffer.dirty
    one.undo()
    assert (str(one), one.buffer.dirty) == ("a\nB\nc\n", True)
    one.undo()
    assert str(one) == "a\nb\nc\n"
    one.redo()
    one.redo()
    assert (str(one), one.buffer.dirty) == ("a\nB\nc\nd\n", False)
