"""Lines that are known stay right whatever happens to the text around them."""

from hypothesis import given
from hypothesis import strategies as st

from gui.plain_core import applied, position
from rio_gui._ui.document.edits import Edit, Position
from rio_gui._ui.document.sparse import KEPT, Line, SparseLines
from support.profiles import examples

small = st.integers(0, 60)
puts = st.tuples(st.just("put"), small, small, small)
edits = st.tuples(st.just("edit"), small, small, st.text("xy\n", max_size=4))


@examples(ci=500, deep=5000)
@given(st.text("abc\n", max_size=60), st.lists(puts | edits, max_size=15))
def test_known_runs_of_lines_are_what_the_text_has_there(text, run):
    lines = SparseLines(text.count("\n") + 1)
    for what, first, second, third in run:
        if what == "put":
            split = text.split("\n")
            number = first % len(split)
            low = second % (len(split[number]) + 1)
            lines.put(number, [Line(split[number][low : low + third], low, len(split[number]))])
        else:
            start = first % (len(text) + 1)
            end = min(start + second % 8, len(text))
            edit = Edit(Position(*position(text, start)), Position(*position(text, end)), third)
            text = applied(text, [edit._asdict()])
            lines.apply(edit)
        split = text.split("\n")
        assert lines.total == len(split)
        for number in lines.numbers():
            line = lines.get(number)
            assert line.length == len(split[number])
            assert line.text == split[number][line.first : line.last]


def test_what_is_whole_stays_whole_when_its_neighbours_are_known():
    lines = SparseLines(3)
    lines.put(0, [Line(text, 0, len(text)) for text in ("one", "two", "three")])
    lines.apply(Edit(Position(0, 1), Position(2, 2), "X\nY"))
    assert [lines.get(number).text for number in range(2)] == ["oX", "Yree"]
    assert lines.unknown(0, 9) is None


def test_a_very_long_insertion_does_not_make_the_cache_grow():
    lines = SparseLines(1)
    lines.put(0, [Line("", 0, 0)])
    lines.apply(Edit(Position(0, 0), Position(0, 0), "line\n" * 100_000))
    assert lines.total == 100_001
    assert len(lines) <= KEPT
    assert lines.get(100_000) == Line("", 0, 0)
    assert lines.get(99_999).text == "line"
