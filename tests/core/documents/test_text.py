"""The chunked text against a plain `str`, with chunks so small that every border is met."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.documents import lines, text
from rio_core._engine.documents.edits import Position
from rio_core._engine.documents.text import Text
from rio_core.protocol.errors import INVALID_PARAMS, RioError
from support.nasty import texts
from support.profiles import examples


@pytest.fixture(autouse=True, scope="module")
def _small_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK", 4)
        patch.setattr(text, "_SUMS", 3)
        yield


def check(real: Text, model: str) -> None:
    """Everything that can be asked of a text, in an order that fills the sums from different sides."""
    pairs = lines.split(model)
    assert str(real) == model
    assert len(real) == len(model)
    assert real.line_count == len(pairs)
    assert real.line_ending() == lines.line_ending(model)
    assert real.lines(0, len(pairs) + 3) == pairs
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", model))]
    for line in range(len(pairs) - 1, -1, -1):
        content, end = pairs[line]
        assert real.lines(line, 1) == [(content, end)]
        start = starts[line]
        assert real.line_spans(line, 1) == [(start, start + len(content), start + len(content) + len(end))]
        for column in {0, len(content) // 2, len(content)}:
            position = Position(line, column)
            assert real.offset(position) == start + column
            assert real.position(start + column) == position
        with pytest.raises(RioError):
            real.offset(Position(line, len(content) + 1))
    chunks = list(real.chunks())
    assert not any(one[-1:] == "\r" and other[:1] == "\n" for one, other in pairwise(chunks))
    assert max(map(len, chunks)) <= 2 * text.CHUNK + 1
    assert len(chunks) == 1 or all(chunks)


@given(st.lists(texts(10), max_size=8))
@examples(ci=150, deep=3000)
def test_any_pieces_make_the_text(pieces: list[str]):
    check(Text(pieces), "".join(pieces))


ends = st.text("\r\nx", min_size=12, max_size=60)  # where a CR and an LF come together again and again


@given(texts(), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 5), texts(6)), max_size=12))
@examples(ci=150, deep=5000)
def test_any_replacements_give_what_a_str_gives(model: str, changes: list[tuple[int, int, str]]):
    check_changes(model, changes)


@given(ends, st.lists(st.tuples(st.integers(0, 99), st.integers(0, 20), st.text("\r\nx", max_size=5)), max_size=15))
@examples(ci=300, deep=10_000)
def test_no_replacement_divides_or_joins_a_line_end_in_secret(model: str, changes: list[tuple[int, int, str]]):
    check_changes(model, changes)


def check_changes(model: str, changes: list[tuple[int, int, str]]) -> None:
    real = Text([model])
    for place, size, new in changes:
        start = place % (len(model) + 1)
        end = start + size % (len(model) - start + 1)
        before, copy = model, real.snapshot()
        assert real.replace(start, end, new) == model[start:end]
        model = model[:start] + new + model[end:]
        check(real, model)
        check(copy, before)


@given(texts(), st.integers(-2, 60), st.integers(-2, 60))
@examples(ci=200, deep=5000)
def test_slices_are_those_of_a_str(model: str, start: int, end: int):
    assert Text([model]).slice(start, end) == model[max(0, start) : max(0, end)]


@given(st.data(), texts(), st.integers(1, 6))
@examples(ci=300, deep=5000)
def test_every_hit_is_found_across_chunks_and_line_ends(data: st.DataObject, model: str, limit: int):
    plain = lines.to_lf(model)
    start = data.draw(st.integers(0, len(plain)))
    needle = data.draw(st.one_of(st.just(plain[start : start + data.draw(st.integers(1, 40))]), texts(3)))
    needle = lines.to_lf(needle)
    expected = [at for at in range(len(plain)) if needle and plain.startswith(needle, at)][:limit]
    hits = Text([model]).find_all(needle, limit)
    assert [len(lines.to_lf(model[:at])) for at, _ in hits] == expected
    for at, to in hits:
        assert lines.to_lf(model[at:to]) == needle
        assert not lines.splits_crlf(model, at)
        assert not lines.splits_crlf(model, to)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_long_hit_is_found_wherever_it_lies(end: str):
    needle = f"one{end}two three{end}four"
    for at in range(300):
        real = Text(["." * at + needle + "." * (300 - at)])
        assert real.find_all("one\ntwo three\nfour", 2) == [(at, at + len(needle))]


def test_overlapping_hits_count():
    assert Text(["aaaa"]).find_all("aa", 9) == [(0, 2), (1, 3), (2, 4)]
    assert Text(["aaaa"]).find_all("aa", 2) == [(0, 2), (1, 3)]


@pytest.mark.parametrize("position", [(-1, 0), (3, 0), (0, -1), (0, 2), (1, 2)])
def test_a_position_outside_the_text_is_refused(position: tuple[int, int]):
    with pytest.raises(RioError) as caught:
        Text(["a\r\nb\n"]).offset(Position(*position))
    assert caught.value.kind == "bad_message"
    assert caught.value.code == INVALID_PARAMS


def test_the_place_between_cr_and_lf_is_no_position():
    real = Text(["a\r\n"])
    assert real.offset(Position(0, 1)) == 1
    assert real.position(3) == Position(1, 0)
    with pytest.raises(ValueError, match="2"):
        real.position(2)


def test_A25_one_line_over_many_chunks():
    real = Text(["x" * 1000])
    real.replace(500, 500, "y")
    assert real.line_spans(0, 1) == [(0, 1001, 1001)]
    assert real.offset(Position(0, 501)) == 501
    assert real.position(1001) == Position(0, 1001)


def test_chunks_of_narrow_characters_stay_narrow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text, "CHUNK", 1000)
    real = Text(["a" * 10_000 + "\U0001f600" + "a" * 10_000])
    wide = [chunk for chunk in real.chunks() if not chunk.isascii()]
    assert len(wide) == 1
    assert len(wide[0]) <= 2001
    real.replace(10_000, 10_001, "")
    assert all(chunk.isascii() for chunk in real.chunks())
