"""The rule by which edits are carried over each other."""

from hypothesis import given
from hypothesis import strategies as st

from gui.plain_core import RefusedError, applied, carry, to_offsets, to_positions
from rio_gui._ui.document.edits import Edit, OverlapError, Position, carried, transform
from support.profiles import examples

texts = st.text("ab\n", max_size=30)
changes = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), st.text("xy\n", max_size=3)), max_size=4)


def edits_of(text, drawn):
    """Valid edits, each in the text that the one before left, as the window has them."""
    offsets = []
    length = len(text)
    for start, size, new in drawn:
        low = start % (length + 1)
        high = min(low + size, length)
        offsets.append((low, high, new))
        length += len(new) - (high - low)
    return [
        Edit(Position(*edit["start"]), Position(*edit["end"]), edit["text"]) for edit in to_positions(text, offsets)
    ]


def apply(text, edits):
    return applied(text, [edit._asdict() for edit in edits])


@examples(ci=500, deep=5000)
@given(texts, changes, changes)
def test_both_orders_lead_to_the_same_text_as_the_plain_rule_says(text, first, second):
    ours, theirs = edits_of(text, first), edits_of(text, second)
    plain_ours = to_offsets(text, [edit._asdict() for edit in ours])
    plain_theirs = to_offsets(text, [edit._asdict() for edit in theirs])
    try:
        moved, behind = transform(ours, theirs)
    except OverlapError:
        try:
            carry(plain_ours, plain_theirs)
        except RefusedError:
            return
        raise
    there = apply(text, theirs)
    assert to_offsets(there, [edit._asdict() for edit in moved]) == carry(plain_ours, plain_theirs)
    assert apply(there, moved) == apply(apply(text, ours), behind)


def test_at_one_place_what_is_in_the_core_stays_first():
    place = Position(0, 1)
    moved, behind = transform([Edit(place, place, "MINE")], [Edit(place, place, "theirs")])
    assert apply("ab", [Edit(place, place, "theirs"), *moved]) == "atheirsMINEb"
    assert apply("ab", [Edit(place, place, "MINE"), *behind]) == "atheirsMINEb"


@examples(ci=200, deep=2000)
@given(texts, changes)
def test_a_place_that_is_carried_stays_in_the_text(text, drawn):
    for edit in edits_of(text, drawn[:1]):
        after = apply(text, [edit])
        for line, content in enumerate(text.split("\n")):
            for column in range(len(content) + 1):
                number, at = carried(Position(line, column), edit)
                assert 0 <= at <= len(after.split("\n")[number])
