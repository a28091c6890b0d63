"""What commands make of a text, against a plain string."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.plain_core import applied
from rio_gui._ui.document.edits import Position
from rio_gui._ui.text import operations as ops
from rio_gui._ui.text.indentation import Indent
from support.profiles import examples

FOUR = Indent()
TABS = Indent(tabs=True, width=8)


class Plain:
    """A document that knows all of its lines. Places are marked in the text: `[` anchor, `|` caret."""

    def __init__(self, text):
        self.lines = text.split("\n")

    def length(self, number):
        return len(self.lines[number])

    def text_of(self, number):
        return self.lines[number]

    def around(self, place, reach=256):
        return self.lines[place.line], 0

    @property
    def total(self):
        return len(self.lines)


def marked(text):
    """The text without its marks, and the selection."""
    places = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for mark in "‹|":
            if mark in line:
                before = line.split(mark)[0].replace("‹", "").replace("|", "")
                places[mark] = Position(number, len(before))
    caret = places["|"]
    return text.replace("‹", "").replace("|", ""), (places.get("‹", caret), caret)


def after(change, text):
    result = applied(text, [edit._asdict() for edit in change.edits]).split("\n")
    marks = sorted({(change.selection[1], "|"), (change.selection[0], "‹")}, reverse=True)
    if change.selection[0] == change.selection[1]:
        marks = [(change.selection[1], "|")]
    for place, mark in marks:
        line = result[place.line]
        assert 0 <= place.column <= len(line)
        result[place.line] = line[: place.column] + mark + line[place.column :]
    return "\n".join(result)


def done(text, operation, *arguments, **named):
    bare, selection = marked(text)
    return after(operation(Plain(bare), selection, *arguments, **named), bare)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("    a|", "    a\n    |"),
        ("    if x:|", "    if x:\n        |"),
        ("f(|)", "f(\n    |\n)"),
        ("  |  a", "  \n  |  a"),
        ("a‹b|c", "a\n|c"),
        ("|", "\n|"),
    ],
)
def test_a_new_line_is_indented_like_the_one_before(before, expected):
    assert done(before, ops.newline, FOUR, "\n") == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("        |x", "    |x"),
        ("      |x", "    |x"),
        ("ab|", "a|"),
        ("a\n|b", "a|b"),
        ("|a", "|a"),
        ("a‹bc|d", "a|d"),
        ("x👩‍👩‍👧‍👦|", "x|"),
        ("xe\u0301|", "x|"),
    ],
)
def test_backspace(before, expected):
    assert done(before, ops.backspace, FOUR) == expected


def test_A27_delete_takes_the_whole_character():
    assert done("x|🠔y", ops.delete) == "x|y"
    assert done("x|👩‍👩‍👧‍👦y", ops.delete) == "x|y"
    assert done("x|\ny", ops.delete) == "x|y"
    assert done("x|", ops.delete) == "x|"


def test_S26_a_sign_of_two_units_before_the_end_of_a_line_eats_nothing():
    assert done("f('🚫')|", ops.newline, FOUR, "\n") == "f('🚫')\n|"


def test_overwriting_takes_one_character_for_one_and_never_a_line_end():
    assert done("a|bc", ops.overwrite, "X") == "aX|c"
    assert done("a|👩‍👩‍👧‍👦c", ops.overwrite, "X") == "aX|c"
    assert done("a|\nb", ops.overwrite, "XY") == "aXY|\nb"


def test_tab_and_its_way_back():
    assert done("a|", ops.tab, FOUR) == "a   |"
    assert done("‹a\nb|", ops.tab, FOUR) == "‹    a\n    b|"
    assert done("‹a\nb\n|c", ops.tab, FOUR) == "‹    a\n    b\n|c"
    assert done("‹    a\n  b|", ops.outdent_lines, FOUR) == "‹a\nb|"
    assert done("a|", ops.tab, TABS) == "a\t|"
    assert done("\t\ta|", ops.outdent_lines, TABS) == "\ta|"
    assert done("\t    a|", ops.outdent_lines, FOUR) == "        a|"


def test_lines_are_duplicated_moved_deleted_and_joined():
    assert done("a|b\nc", ops.duplicate, "\n") == "ab\na|b\nc"
    assert done("a\n‹b\nc|\nd", ops.move_lines, down=False, end_of_line="\n") == "‹b\nc|\na\nd"
    assert done("a\n‹b\nc|\nd", ops.move_lines, down=True, end_of_line="\n") == "a\nd\n‹b\nc|"
    assert done("a|\nb", ops.move_lines, down=False, end_of_line="\n") == "a|\nb"
    assert done("a\nbc|\nd", ops.delete_lines) == "a\nd|"
    assert done("a\nbc|", ops.delete_lines) == "a|"
    assert done("a|b", ops.delete_lines) == "|"
    assert done("a|b\n   c\nd", ops.join_lines) == "ab| c\nd"
    assert done("‹a\nb\n  c|\nd", ops.join_lines) == "a b| c\nd"
    assert done("a|", ops.join_lines) == "a|"


def test_comments_go_on_and_off():
    assert done("‹  a\n\n    b|", ops.toggle_comment, "#") == "‹  # a\n\n  #   b|"
    assert done("  a|", ops.toggle_comment, "#") == "  # a|"
    assert done("  # a|", ops.toggle_comment, "#") == "  a|"
    assert done("  #a|", ops.toggle_comment, "#") == "  a|"


lines = st.text(" ab(", max_size=6)
texts = st.lists(lines, min_size=1, max_size=6).map("\n".join)


@st.composite
def selections(draw):
    text = draw(texts)
    split = text.split("\n")

    def place():
        number = draw(st.integers(0, len(split) - 1))
        return Position(number, draw(st.integers(0, len(split[number]))))

    return text, (place(), place())


def run(text, selection, operation, *arguments, **named):
    change = operation(Plain(text), selection, *arguments, **named)
    new = applied(text, [edit._asdict() for edit in change.edits])
    for place in change.selection:
        assert 0 <= place.column <= len(new.split("\n")[place.line])
    return new, change.selection


@examples(ci=300, deep=3000)
@given(selections())
def test_commands_that_undo_each_other_do(case):
    text, selection = case
    for down in (True, False):
        moved, behind = run(text, selection, ops.move_lines, down=down, end_of_line="\n")
        # At the end of the text an empty last line cannot be told from none in a selection that ends at its start.
        if len(ops.touched_lines(behind)) == len(ops.touched_lines(selection)) and behind != selection:
            assert run(moved, behind, ops.move_lines, down=not down, end_of_line="\n")[0] == text
    if not any(line.startswith(" ") for line in text.split("\n")):
        assert run(*run(text, selection, ops.indent_lines, FOUR), ops.outdent_lines, FOUR)[0] == text
    commented = run(text, selection, ops.toggle_comment, "#")
    assert run(*commented, ops.toggle_comment, "#")[0] == text
    copied, _ = run(text, selection, ops.duplicate, "\n")
    assert copied.count("\n") == text.count("\n") + len(ops.touched_lines(selection))
    assert len(run(text, selection, ops.delete_lines)[0].split("\n")) >= 1
    joined, _ = run(text, selection, ops.join_lines)
    assert joined.replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")
