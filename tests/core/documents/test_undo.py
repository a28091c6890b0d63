import pytest

from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.documents.undo import PAUSE


def states(pen) -> list[str]:
    """The texts that undo leads through, newest first."""
    found = [str(pen)]
    while pen.undo():
        found.append(str(pen))
    return found


def test_typing_is_grouped_by_word(pen):
    typed = pen()
    typed.type(0, "one two  three\n  four")
    assert states(typed) == ["one two  three\n  four", "one two  three", "one two", "one", ""]
    while typed.redo():
        pass
    assert str(typed) == "one two  three\n  four"


def test_keys_that_came_in_one_batch_are_grouped_like_single_ones(pen):
    typed = pen()
    typed.put(0, "on", group="typing")
    typed.put(2, "e two thr", group="typing")
    typed.put(11, "ee", group="typing")
    assert states(typed) == ["one two three", "one two", "one", ""]


def test_S18_a_paste_is_a_step_of_its_own(pen):
    typed = pen()
    typed.type(0, "pseudo")
    typed.put(6, "diff")
    assert states(typed) == ["pseudodiff", "pseudo", ""]
    typed = pen()
    typed.put(0, "diff")
    typed.type(4, "ab")
    assert states(typed) == ["diffab", "diff", ""]


def test_a_pause_begins_a_step(pen):
    typed = pen()
    typed.type(0, "ab")
    typed.clock.now += PAUSE + 1
    typed.type(2, "cd")
    assert states(typed) == ["abcd", "ab", ""]


def test_typing_elsewhere_begins_a_step(pen):
    typed = pen("----")
    typed.type(2, "ab")
    typed.type(0, "cd")
    assert states(typed) == ["cd--ab--", "--ab--", "----"]


def test_another_origin_ends_the_word(pen):
    typed = pen()
    typed.type(0, "ab")
    position = typed.buffer.text.position(2)

    typed.buffer.edit(typed.buffer.revision, [Edit(position, position, "!")], origin="agent")
    typed.type(2, "c")
    assert states(typed) == ["abc!", "ab!", "ab", ""]


def test_two_who_type_in_one_place_have_steps_of_their_own(pen):
    typed = pen()
    typed.type(0, "ab")
    place = Position(0, 2)
    typed.buffer.edit(typed.buffer.revision, [Edit(place, place, "c")], origin="other", group="typing")
    typed.type(3, "d")
    assert states(typed) == ["abcd", "abc", "ab", ""]


def test_typing_over_a_selection_is_one_step_with_the_word(pen):
    typed = pen("old")
    typed.put(0, "n", 3, group="typing")
    typed.type(1, "ew")
    assert states(typed) == ["new", "old"]


@pytest.mark.parametrize("backspace", [True, False])
def test_deleting_is_grouped_by_word_too(pen, backspace: bool):
    typed = pen("one two")
    for left in range(7, 0, -1):
        typed.put(left - 1 if backspace else 0, "", 1, group="typing")
    between = ["", "one "] if backspace else ["", " two"]
    assert states(typed) == [*between, "one two"]


def test_deleting_after_typing_is_a_step_of_its_own(pen):
    typed = pen()
    typed.type(0, "abc")
    typed.put(2, "", 1, group="typing")
    assert states(typed) == ["ab", "abc", ""]


def test_A16_replace_all_is_one_step_with_the_caret(pen, at):

    typed = pen("foo foo foo")
    caret = (Position(0, 4), Position(0, 7))
    batch = [at(0, 0, "x", 0, 3), at(0, 2, "x", 0, 5), at(0, 4, "x", 0, 7)]
    typed.buffer.edit(0, batch, origin="user", selection=caret)
    assert str(typed) == "x x x"
    undone = typed.buffer.undo(origin="user")
    assert (str(typed), undone.selection, undone.dirty, undone.changed) == ("foo foo foo", caret, False, True)
    redone = typed.buffer.redo(origin="user")
    assert (str(typed), redone.selection) == ("x x x", (Position(0, 5), Position(0, 5)))
    assert not typed.redo()
    assert states(typed) == ["x x x", "foo foo foo"]


def test_A17_the_saved_state_is_known(pen):
    typed = pen()
    typed.type(0, "ab")
    typed.buffer.saved(typed.buffer.version())
    assert not typed.buffer.dirty
    typed.undo()
    assert typed.buffer.dirty
    typed.redo()
    assert not typed.buffer.dirty
    typed.undo()
    typed.type(0, "c")
    assert typed.buffer.dirty
    while typed.undo():
        assert typed.buffer.dirty
    while typed.redo():
        assert typed.buffer.dirty
    typed.buffer.saved(typed.buffer.version())
    assert not typed.buffer.dirty


def test_A17_a_save_ends_the_word(pen):
    typed = pen()
    typed.type(0, "ab")
    version = typed.buffer.version()
    typed.type(2, "cd")
    typed.buffer.saved(version)
    assert typed.buffer.dirty
    typed.undo()
    assert str(typed) == "ab"
    assert not typed.buffer.dirty


def test_a_change_to_the_same_is_no_step(pen):
    typed = pen("same")
    typed.put(0, "same", 4)
    assert not typed.buffer.dirty
    assert typed.buffer.revision == 1
    assert not typed.undo()


def test_the_oldest_steps_go_and_the_newest_never(pen):
    typed = pen(undo_budget=1000)
    for index in range(20):
        typed.put(index * 100, "x" * 100)
    kept = states(typed)
    assert 2 < len(kept) < 12
    assert kept[0] == "x" * 2000
    typed = pen(undo_budget=1000)
    typed.put(0, "first")
    typed.put(0, "y" * 5000)
    assert states(typed) == ["y" * 5000 + "first", "first"]


def test_very_many_tiny_steps_are_within_the_budget(pen):
    typed = pen(undo_budget=10_000)
    for _ in range(1000):
        typed.put(0, "x")
    assert len(states(typed)) < 150


def test_what_was_undone_counts_no_more_once_it_cannot_be_redone(pen):
    typed = pen(undo_budget=10_000)
    typed.put(0, "x" * 4000)
    for _ in range(20):
        typed.put(0, "y" * 4000)
        typed.undo()
    typed.put(0, "z")
    assert states(typed) == ["z" + "x" * 4000, "x" * 4000, ""]
