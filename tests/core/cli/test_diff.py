"""A drawn diff shows everything, and what misleads is counted."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._cli import diff
from rio_core._cli.cautions import cautions, mixed_words
from rio_core._cli.writer import Screen
from support.profiles import examples

HEAD = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n"


def plain(text: str) -> str:
    stream = io.StringIO()
    Screen(stream).lines(diff.drawn(text))
    return stream.getvalue()


def styles(text: str) -> list[tuple[str, str]]:
    return [piece for pieces in diff.drawn(text) for piece in pieces]


def test_removed_added_and_hunk_lines_have_their_styles_even_when_they_look_like_heads():
    body = "--- gone\n+++ new\n @@ context\n\\ No newline at end of file\n"
    drawn = [pieces[0][1] for pieces in diff.drawn(HEAD + body)]
    assert drawn == ["hunk", "removed", "added", "plain", "dim"]
    assert plain(HEAD + body) == HEAD.split("\n", 2)[2] + body


def test_M04_a_long_run_of_spaces_is_a_count():
    text = HEAD + "+git status" + " " * 400 + "; touch M\n"
    assert plain(text).endswith("+git status[400 spaces]; touch M\n")
    assert ("[400 spaces]", "mark") in styles(text)
    assert cautions(text) == ["1 long run of white space, shown as a count"]


@pytest.mark.parametrize(
    ("white", "shown"), [(" " * 20, " " * 20), (" " * 21, "[21 spaces]"), ("\t" * 30, "[30 tabs]"),
                         (" \t" * 15, "[30 spaces and tabs]")],
)  # fmt: skip
def test_M04_runs_of_any_white_space_from_21_on(white, shown):
    assert plain(HEAD + f"+a{white}b\n").endswith(f"+a{shown}b\n")


def test_indentation_stays_as_it_is_unless_it_is_out_of_all_proportion():
    assert plain(HEAD + f"+{' ' * 40}deep\n").endswith(f"+{' ' * 40}deep\n")
    assert cautions(HEAD + f"+{' ' * 40}deep\n") == []
    assert plain(HEAD + f"+{' ' * 300}far\n").endswith("+[300 spaces]far\n")


def test_white_space_at_the_end_is_marked_and_counted():
    text = HEAD + "-old  \n+new \t\n+" + "x" + " " * 50 + "\n"
    assert (" \t", "mark") in styles(text)
    assert ("[50 spaces]", "mark") in styles(text)
    assert cautions(text) == [
        "1 long run of white space, shown as a count",
        "white space at the end of 2 added lines",
    ]


def test_M01_M02_hidden_characters_are_drawn_and_counted_by_where_they_are():
    text = HEAD + " context\u200b\n-old\u202e\n+new\u2066\U000e0041\r\n"
    assert plain(text).endswith(" context\\u{200B}\n-old\\u{202E}\n+new\\u{2066}\\u{E0041}\\u{D}\n")
    assert cautions(text) == [
        "3 hidden characters in what is added, each drawn as an escape",
        "2 hidden characters in the lines around it, each drawn as an escape",
    ]


def test_a_lone_carriage_return_is_drawn():
    assert plain(HEAD + "+safe()\rrm()\n").endswith("+safe()\\u{D}rm()\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("p\u0430ypal = 1", ["p\u0430ypal"]),  # Cyrillic a
        ("\u03bfpen(file)", ["\u03bfpen"]),  # Greek omicron
        ("\u0441\u0435\u0440\u0432\u0438\u0441 service", []),  # a word of each
        ("Stra\u00dfe na\u00efve \u65e5\u672cx", []),
        ("x\u0430 x\u0430", ["x\u0430"]),
    ],
)
def test_words_of_look_alike_alphabets_are_found(text, found):
    assert mixed_words(text) == found


def test_mixed_words_of_added_lines_are_spelt_out():
    assert cautions(HEAD + "-p\u0430y\n+p\u0430ypal()\n") == [
        "letters of several alphabets that look alike in: p\\u{430}ypal"
    ]


def test_a_harmless_diff_has_no_cautions():
    assert cautions(HEAD + " a\n-b = 'é'\n+c = 'ü — 日本'\n") == []


def test_what_is_no_diff_counts_as_all_new():
    assert cautions("git status\u202e") == ["1 hidden character in what is added, each drawn as an escape"]


def test_rows_count_how_lines_wrap():
    assert diff.rows("a" * 80 + "\n" + "b" * 81 + "\n", 80) == 4
    assert diff.rows("x" * 1_000_000, 100) == 10_000


LINES = st.lists(st.text(alphabet="ab \t\u202e\r", max_size=30), max_size=12)


@examples(ci=200, deep=2000)
@given(old=LINES, new=LINES, ends=st.tuples(st.booleans(), st.booleans()))
def test_a_diff_between_two_texts_holds_both(old, new, ends):
    before, after = ("\n".join(lines) + "\n" * end for lines, end in zip((old, new), ends, strict=True))
    text = diff.between(before, after)
    assert bool(text) is (before != after)
    kept, removed, added = (
        [line[1:] for line in text.split("\n")[2:] if re.match(sign, line)] for sign in (r" ", r"-", r"\+")
    )
    for line in removed:
        assert line in before.split("\n")
    for line in added:
        assert line in after.split("\n")
    assert not set(kept) - set(before.split("\n"))


@examples(ci=200, deep=2000)
@given(lines=st.lists(st.text(alphabet="ab \t\u200b", max_size=120), min_size=1))
def test_nothing_of_a_diff_is_left_out_when_drawn(lines):
    text = HEAD + "".join(f"+{line}\n" for line in lines)
    drawn = plain(text).split("\n")[1:-1]
    assert len(drawn) == len(lines)
    for line, shown in zip(lines, drawn, strict=True):
        restored = re.sub(r"\[(\d+) (?:spaces and tabs|spaces|tabs)\]", "", shown.replace("\\u{200B}", "\u200b"))
        assert restored.replace(" ", "").replace("\t", "") == "+" + line.replace(" ", "").replace("\t", "")
