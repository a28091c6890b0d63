import re

import pytest
from hypothesis import given

from rio_core._engine.documents import lines
from support.nasty import LOOK_ALIKE_ENDS, texts
from support.profiles import examples


def test_A07_only_three_things_end_a_line():
    assert [content for content, _ in lines.split("1\n2\n\f\n4\n")] == ["1", "2", "\f", "4", ""]
    for character in LOOK_ALIKE_ENDS:
        assert lines.split(f"a{character}b") == [(f"a{character}b", "")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "lf"),
        ("a", "lf"),
        ("a\n", "lf"),
        ("a\r\nb\r\n", "crlf"),
        ("\r", "cr"),
        ("a\r\nb\nc\r\n", "mixed"),
        ("\n\r", "mixed"),
        ("\r\r\n", "mixed"),
    ],
)
def test_A05_A06_the_kind_of_line_end(text: str, kind: str):
    assert lines.line_ending(text) == kind


def test_A06_a_text_without_line_ends_has_the_default():
    assert lines.line_ending("", "cr") == "cr"
    assert lines.line_ending("a\n", "cr") == "lf"


@given(texts())
@examples(ci=200, deep=5000)
def test_split_keeps_every_character_and_agrees_with_a_regular_expression(text: str):
    pairs = lines.split(text)
    assert "".join(content + end for content, end in pairs) == text
    assert [content for content, _ in pairs] == re.split(r"\r\n|\r|\n", text)
    assert lines.count(text) == len(pairs)
    ends = [end for _, end in pairs[:-1]]
    assert lines.tally(text) == (ends.count("\n"), ends.count("\r\n"), ends.count("\r"))
    assert lines.to_lf(text) == "\n".join(content for content, _ in pairs)
    for ending, end in lines.ENDS.items():
        assert lines.with_ending(text, ending) == end.join(content for content, _ in pairs)


@given(texts())
@examples(ci=200, deep=5000)
def test_the_place_behind_each_end_is_found(text: str):
    expected = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    ends = lines.tally(text)
    assert [lines.behind_end(text, number, ends) for number in range(len(expected))] == expected


@given(texts())
@examples(ci=200, deep=5000)
def test_offsets_lead_back_from_the_form_with_lf(text: str):
    places = lines.crlf_places(text)
    plain = lines.to_lf(text)
    for offset in range(len(plain) + 1):
        there = lines.original(offset, places)
        assert not lines.splits_crlf(text, there)
        assert lines.to_lf(text[:there]) == plain[:offset]
