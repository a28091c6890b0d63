"""Carrying edits over others, against the same rule on plain strings and offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.documents import lines
from rio_core._engine.documents.buffer import Buffer, Changed
from rio_core._engine.documents.edits import Edit, Position, Span, carried, check_text, end_of, rebase
from rio_core._engine.documents.text import Text
from rio_core.protocol.errors import RioError
from support.nasty import texts
from support.profiles import examples

Op = tuple[int, int, str]  # start, end, text: on a plain string


def applied(text: str, ops: list[Op]) -> str:
    for start, end, new in ops:
        text = text[:start] + new + text[end:]
    return text


def crossed(ours: list[Op], theirs: list[Op]) -> tuple[list[Op], list[Op]] | None:
    """Both lists in the coordinates that the other leaves; None when two overlap. Theirs is in the core already."""
    moved = []
    theirs = list(theirs)
    for op in ours:
        start, end, text = op
        for index, (their_start, their_end, their_text) in enumerate(theirs):
            if start >= their_end:
                grown = len(their_text) - (their_end - their_start)
                start, end = start + grown, end + grown
            elif end <= their_start:
                grown = len(text) - (end - start)
                theirs[index] = (their_start + grown, their_end + grown, their_text)
            else:
                return None
        moved.append((start, end, text))
    return moved, theirs


def as_edit(text: str, op: Op) -> Edit:
    position = Text([text]).position
    return Edit(position(op[0]), position(op[1]), op[2])


def as_op(text: str, edit: Edit) -> Op:
    offset = Text([text]).offset
    return offset(edit.start), offset(edit.end), edit.text


@st.composite
def ops(draw: st.DrawFn, text: str, count: int) -> tuple[list[Op], list[Edit]]:
    """Edits, each of what the one before left."""
    found: list[Op] = []
    edits: list[Edit] = []
    for _ in range(count):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from((0, 0, 1, 2, 5))))
        start -= lines.splits_crlf(text, start)
        end += lines.splits_crlf(text, end)
        op = (start, end, draw(texts(3)))
        found.append(op)
        edits.append(as_edit(text, op))
        text = applied(text, [op])
    return found, edits


@given(st.data(), texts(15), st.integers(1, 3), st.integers(1, 4))
@examples(ci=1000, deep=20_000)
def test_a_batch_lands_where_plain_offsets_say_or_is_refused(data: st.DataObject, base: str, ours: int, theirs: int):
    events: list[Changed] = []
    buffer = Buffer("b1", Text([base]), changed=events.append)
    now = base
    their_ops: list[Op] = []
    lone = [lines.tally(base).cr]
    for _ in range(theirs):
        _, batch = data.draw(ops(now, 1))
        buffer.edit(buffer.revision, batch, origin="other")
        for edit in events[-1].edits:  # as it was applied: widened where a CR and an LF join
            their_ops.append(as_op(now, edit))
            now = applied(now, their_ops[-1:])
        assert str(buffer.text) == now
        lone.append(lines.tally(now).cr)
    our_ops, batch = data.draw(ops(base, ours))
    lone += [lines.tally(op[2]).cr for op in our_ops]
    expected = crossed(our_ops, their_ops)
    refused = False
    try:
        buffer.edit(0, batch, origin="user")
    except RioError as error:
        refused = error.kind == "stale"
    if refused:
        assert expected is None or (ours > 1 and any(lone))
        assert str(buffer.text) == now
        assert buffer.revision == theirs
    else:
        assert expected is not None
        mine, others = expected
        assert str(buffer.text) == applied(now, mine)
        # A front end that moves what came over its own unsent edits arrives at the same.
        assert str(buffer.text) == applied(applied(base, our_ops), others)


@pytest.mark.parametrize(
    ("edit", "came", "expected"),
    [
        ((2, 2, "x"), (2, 2, "core"), (6, 6)),  # two inserts at one place: the core's stays first
        ((2, 2, "x"), (2, 5, "core"), (2, 2)),  # touching the start
        ((5, 5, "x"), (2, 5, "core"), (6, 6)),  # touching the end
        ((2, 5, "x"), (2, 2, "core"), (6, 9)),
        ((2, 5, "x"), (5, 5, "core"), (2, 5)),
        ((2, 5, "x"), (5, 7, ""), (2, 5)),
        ((2, 5, ""), (0, 2, ""), (0, 3)),
        ((3, 3, "x"), (2, 5, "core"), None),  # an insert strictly inside what was removed
        ((2, 5, "x"), (3, 3, "core"), None),
        ((2, 5, "x"), (4, 7, ""), None),
        ((2, 5, "x"), (2, 5, ""), None),
    ],
)
def test_what_touches_does_not_overlap(edit: Op, came: Op, expected: tuple[int, int] | None):
    def position(column: int) -> Position:
        return Position(0, column)

    start, end, text = edit
    since = Span.of(Edit(position(came[0]), position(came[1]), came[2]))
    ours = [Edit(position(start), position(end), text)]
    if expected is None:
        with pytest.raises(RioError, match="changed there"):
            rebase(ours, [since])
    else:
        assert rebase(ours, [since]) == [Edit(position(expected[0]), position(expected[1]), text)]


def test_a_batch_of_which_one_edit_overlaps_is_refused_whole():
    buffer = Buffer("b1", Text(["one two three"]), changed=lambda _: None)
    buffer.edit(0, [Edit(Position(0, 4), Position(0, 7), "2")], origin="other")
    batch = [Edit(Position(0, 0), Position(0, 0), ">"), Edit(Position(0, 6), Position(0, 6), "x")]
    with pytest.raises(RioError) as caught:
        buffer.edit(0, batch, origin="user")
    assert caught.value.kind == "stale"
    assert str(buffer.text) == "one 2 three"


def test_carried_positions_stay_inside_what_replaced_them():
    span = Span(Position(0, 2), Position(2, 1), Position(1, 3))
    assert carried(Position(0, 1), span) == Position(0, 1)
    assert carried(Position(0, 2), span) == Position(0, 2)
    assert carried(Position(1, 1), span) == Position(1, 1)
    assert carried(Position(1, 9), span) == Position(1, 3)
    assert carried(Position(2, 1), span) == Position(1, 3)
    assert carried(Position(2, 5), span) == Position(1, 7)
    assert carried(Position(9, 5), span) == Position(8, 5)


@given(texts())
@examples(ci=100, deep=2000)
def test_the_end_of_inserted_text(text: str):
    assert end_of(Position(3, 5), text) == Text([f"\n\n\n12345{text}"]).position(8 + len(text))


@pytest.mark.parametrize("text", ["\ud83d", "a\udc4db", "é\ud800"])
def test_A27_half_a_character_is_refused(text: str):
    with pytest.raises(RioError, match="half of a character") as caught:
        check_text(text)
    assert caught.value.kind == "bad_message"
    check_text("\U0001f814é\0")
