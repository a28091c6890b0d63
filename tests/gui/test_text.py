"""Words, indentation, brackets, comments, and where a view is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_gui._ui.document.edits import Position
from rio_gui._ui.editor.scrolling import Place
from rio_gui._ui.text.brackets import partner
from rio_gui._ui.text.comments import line_comment
from rio_gui._ui.text.indentation import Indent, columns, detect, made
from rio_gui._ui.text.words import next_word, previous_word, word_at
from support.profiles import examples


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("foo bar", 1, "foo"),
        ("foo bar", 3, "foo"),
        ("foo bar", 4, "bar"),
        ("a += b", 3, "+="),
        ("a   b", 2, "  "),
        ("größe_2 x", 4, "größe_2"),
        ("", 0, ""),
    ],
)
def test_the_word_at_a_place(text, column, word):
    start, end = word_at(text, column)
    assert text[start:end].strip() == word.strip()
    assert start <= column <= end


def test_words_one_after_the_other():
    text = "foo.bar  = baz"
    stops = [0]
    while stops[-1] < len(text):
        stops.append(next_word(text, stops[-1]))
    assert stops == [0, 3, 4, 9, 11, 14]
    assert [previous_word(text, stop) for stop in stops[1:]] == [0, 3, 4, 9, 11]


def test_indentation_is_found():
    default = Indent()
    assert detect(["def a():", "  b", "    c", "  d"], default) == Indent(False, 2)
    assert detect(["a", "\tb", "\t\tc"], default).tabs
    assert detect(["a", "b"], default) == default
    assert detect(["a {", "    b", "", "        c", "    d", " * e"], default).width == 4


@given(st.integers(0, 40), st.booleans())
def test_made_indentation_is_as_wide_as_asked(width, tabs):
    assert columns(made(width, Indent(tabs, 4, 8)), 8) == width


def test_brackets_find_their_partners():
    lines = ["f(a[1],", "  {x: (1)}", ")", "]"]

    def line(number):
        return lines[number] if 0 <= number < len(lines) else None

    assert partner(line, Position(0, 1)) == Position(2, 0)
    assert partner(line, Position(2, 0)) == Position(0, 1)
    assert partner(line, Position(1, 9)) == Position(1, 2)
    assert partner(line, Position(3, 0)) == Position(0, 3) or partner(line, Position(3, 0)) is None
    assert partner(line, Position(0, 0)) is None
    assert partner(line, Position(2, 1)) is None


def test_comments_by_name():
    assert line_comment("a/b.py") == "#"
    assert line_comment("Makefile") == "#"
    assert line_comment("x.CPP") == "//"
    assert line_comment("x.unknown") is None
    assert line_comment(None) is None


@examples(ci=300, deep=3000)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.lists(st.integers(-300, 300), max_size=10))
def test_scrolling_by_pixels_adds_up(rows, moves):
    height = 10
    place = Place(height)
    tops = [sum(rows[:number]) * height for number in range(len(rows) + 1)]
    expected = 0
    for by in moves:
        place.move(by, len(rows), rows.__getitem__)
        expected = min(max(0, expected + by), tops[-1] - 1)
        assert tops[place.line] + place.offset == expected
    value = place.bar(place.line, place.offset, len(rows), rows.__getitem__)
    again = Place(height)
    again.from_bar(value, len(rows), rows.__getitem__)
    assert again.line == place.line
    assert abs(again.offset - place.offset) < rows[place.line]
    assert place.last(200, len(rows), rows.__getitem__) == (
        (lambda top: next((n, top - tops[n]) for n in range(len(rows)) if tops[n + 1] > top))(max(0, tops[-1] - 200))
    )


def test_a_text_of_any_height_fits_the_scroll_bar():
    place = Place(20)
    total = 2_000_000_000
    place.jump(total - 1)
    assert place.bar(place.line, 0, total, lambda _: 1) < 2**31
    place.from_bar(place.bar(place.line, 0, total, lambda _: 1), total, lambda _: 1)
    assert total - place.line < 10
