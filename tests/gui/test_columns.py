"""Code points and UTF-16: one mapping, right for every character there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_gui._ui.text.columns import from_units, plain, revealed, utf16_length
from support.profiles import examples


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("plane", range(17))
def test_every_character_of_every_plane_maps_there_and_back(plane):
    points = (point for point in range(plane << 16, plane + 1 << 16) if not 0xD800 <= point <= 0xDFFF)
    text = "".join(map(chr, points))
    columns = plain.__wrapped__(text)
    at = 0
    for column, char in enumerate(text):
        width = units(char)
        assert columns.unit(column) == at
        assert [columns.column(at + inside) for inside in range(width)] == [column] * width
        at += width
    assert columns.units == utf16_length(text) == at
    assert columns.unit(len(text)) == at
    assert columns.column(at) == len(text)
    assert columns.shown == text


@examples(ci=300, deep=3000)
@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_what_is_shown_has_a_unit_for_each_column_and_no_hidden_character(text):
    columns = revealed(text)
    assert columns.units == units(columns.shown)
    starts = [columns.unit(column) for column in range(len(text) + 1)]
    assert starts == sorted(set(starts))
    assert [columns.column(unit) for unit in starts] == list(range(len(text) + 1))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\0b", "a^@b"),
        ("\x1b[31m", "^[[31m"),
        ("\x7f", "^?"),
        ("if \u202euser", "if [202E]user"),
        ("a\u200bb", "a[200B]b"),
        ("a\u00a0b", "a[A0]b"),
        ("\ufeff", "[FEFF]"),
        ("x\U000e0041y", "x[E0041]y"),
        ("tab\there", "tab\there"),
    ],
)
def test_hidden_characters_are_drawn_visibly(text, shown):
    assert revealed(text).shown == shown


def test_signs_side_by_side_are_one_run():
    assert revealed("a\0\0\x1bb\0").signs == [(1, 6), (8, 2)]


@pytest.mark.parametrize("text", ["👩‍👩‍👧‍👦", "می‌خواهم", "❤️", "1️⃣", "क्‍ष", "🏳️‍🌈"])
def test_joiners_that_do_their_work_stay(text):
    assert revealed(text).shown == text


@pytest.mark.parametrize("text", ["a\u200db", "\u200dx", "pass\ufe0fword", "x\u200c"])
def test_joiners_that_only_hide_are_shown(text):
    assert revealed(text).shown != text


def test_a_half_character_from_outside_is_left_out_and_a_pair_is_joined():
    assert from_units("a\ud83eb") == "ab"
    assert from_units("\ud83e\udd14") == "\U0001f914"
