"""What people see as one character is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_gui._ui.text import graphemes
from support.profiles import examples

ONE = ["a", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "🏳️‍🌈", "각", "한", "1️⃣", "👍🏽", "🠔", "漢", "षि"]


@pytest.mark.parametrize("char", ONE)
def test_A27_a_character_is_passed_as_a_whole_in_both_directions(char):
    text = f"x{char}y"
    end = 1 + len(char)
    assert graphemes.behind(text, 1) == end
    assert graphemes.before(text, end) == 1
    for inside in range(2, end):
        assert graphemes.snapped(text, inside) == 1


@examples(ci=300, deep=3000)
@given(st.lists(st.sampled_from([*ONE, "\u0301", "\u200d", "🇫"]), max_size=12).map("".join))
def test_the_way_back_has_the_same_steps_as_the_way_there(text):
    there = [0]
    while there[-1] < len(text):
        there.append(graphemes.behind(text, there[-1]))
    back = [len(text)]
    while back[-1] > 0:
        back.append(graphemes.before(text, back[-1]))
    assert there == back[::-1]
    assert [graphemes.snapped(text, column) for column in there] == there
