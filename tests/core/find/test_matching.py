"""Which places match, and what takes their place, against a plain reference."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.documents.edits import Position, end_of
from rio_core._engine.documents.text import Text
from rio_core._engine.find.child import work
from rio_core._engine.find.finder import positions
from rio_core._engine.find.hits import Page, Replaced, matches, merged
from rio_core._engine.find.in_files import line_pattern
from rio_core._engine.find.literal import windows
from rio_core._engine.find.pattern import Wanted, compiled
from rio_core._engine.find.seen import Seen
from rio_core._engine.find.template import TemplateError, parse
from support.profiles import examples

PIECES = st.sampled_from(["a", "b", "A", "ä", "_", " ", "\n", "\r", "\r\n", "\f", "\u2028", "\x85", "🍋"])
TEXTS = st.lists(PIECES, max_size=14).map("".join)
NEEDLES = st.lists(PIECES, min_size=1, max_size=3).map("".join)
REGEXES = st.sampled_from(
    ["^", "$", ".*", "x*", "a*", "(?=a)", "a|b", r"\w+", r"\b", r"\s+", "a$", "^b", ".", r"\n", "(a)(b)?",
     "(?<=a)b", ""]
)  # fmt: skip


def replaced(text, pattern, replacement, *, low=0, high=None, regex=True, **more):
    """The text behind replace all, through the code of the child or of the plain search."""
    high = len(text) if high is None else high
    wanted = Wanted(pattern, regex, **{"case": True, **more})
    if regex:
        job = {"pattern": pattern, "case": wanted.case, "word": wanted.word, "low": low, "high": high, "all": True}
        answer = work({**job, "replacement": replacement, "ending": "lf"}, text)
        assert "error" not in answer, answer
        edits = answer["edits"]
    else:
        found = [Replaced(*hit, replacement) for hits in windows(Text([text]), wanted, low, high) for hit in hits]
        edits = merged(found, len(found), lambda start, end: text[start:end])
    for edit, behind in itertools.pairwise(edits):
        assert edit[1] < behind[0]
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


def ends(text):
    """Offsets that no caret can have: between a CR and its LF."""
    return {found.start() + 1 for found in re.finditer("\r\n", text)}


def naive(text, needle, *, case, word, low, high):
    """Every hit of a plain needle, character by character."""
    cells = re.findall("\r\n|[\\s\\S]", text)
    offsets = [0]
    for cell in cells:
        offsets.append(offsets[-1] + len(cell))
    plain = ["\n" if cell in ("\r\n", "\r") else cell for cell in cells]
    wanted = ["\n" if cell in ("\r\n", "\r") else cell for cell in re.findall("\r\n|[\\s\\S]", needle)]

    def same(one, other):
        return one == other or (not case and one.lower() == other.lower())

    def inner(index):
        around = plain[max(0, index - 1) : index + 1]
        return 0 < index < len(plain) and all(char.isalnum() or char == "_" for char in around)

    hits = []
    at = 0
    while at + len(wanted) <= len(plain):
        end = at + len(wanted)
        fits = all(map(same, plain[at:end], wanted)) and low <= offsets[at] and offsets[end] <= high
        if fits and not (word and (inner(at) or inner(end))):
            hits.append((offsets[at], offsets[end]))
            at = end
        else:
            at += 1
    return hits


@given(TEXTS, NEEDLES, st.booleans(), st.booleans(), st.integers(1, 9), st.integers(0, 20), st.integers(0, 20))
@examples(ci=1500, deep=20000)
def test_plain_text_is_found_as_a_reader_would(text, needle, case, word, size, one, other):
    low, high = sorted((min(one, len(text)), min(other, len(text))))
    low, high = low - (low in ends(text)), high - (high in ends(text))
    found = windows(Text([text]), Wanted(needle, case=case, word=word), low, high, size=size)
    hits = [hit for window in found for hit in window]
    assert hits == naive(text, needle, case=case, word=word, low=low, high=high)


@given(TEXTS, REGEXES)
@examples(ci=1000, deep=10000)
def test_expressions_are_found_at_places_of_the_text_and_each_once(text, pattern):
    seen = Seen(text)
    hits = [hit for hit, _ in matches(re.compile(pattern, re.M), seen, 0, len(text), word=False)]
    starts = [start for start, _ in hits]
    assert len(set(starts)) == len(starts)
    assert starts == sorted(starts)
    for start, end in hits:
        assert not {start, end} & ends(text)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    expected, behind = [], -1
    for found in re.finditer(pattern, plain, re.M):
        tail = found.start() == found.end() == len(plain) > 0 and plain[-1] == "\n"
        if not tail and not (found.start() == found.end() == behind):
            expected.append(found[0])
            behind = found.end()
    assert [text[start:end].replace("\r\n", "\n").replace("\r", "\n") for start, end in hits] == expected


@given(TEXTS, REGEXES, st.sampled_from(["x", r"\g<0>-", r"<\g<0>>"]))
@examples(ci=500, deep=5000)
def test_what_is_not_matched_stays_line_ends_above_all(text, pattern, replacement):
    assert replaced(text, pattern, r"\g<0>") == text
    if pattern not in (r"\n", r"\s+"):
        changed = replaced(text, pattern, replacement)
        assert re.findall("\r\n|\r|\n", changed) == re.findall("\r\n|\r|\n", text)


@given(TEXTS, st.data())
@examples(ci=300, deep=3000)
def test_offsets_go_there_and_back(text, data):
    seen = Seen(text)
    places = [offset for offset in range(len(text) + 1) if offset not in ends(text)]
    assert [seen.original(seen.seen(offset)) for offset in places] == places
    some = sorted(data.draw(st.lists(st.sampled_from(places), max_size=5)))
    assert positions(Text([text]), some) == [end_of(Position(0, 0), text[:offset]) for offset in some]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (".*", ">\n>\n>"),
        ("^", ">a\n>\n>b"),
        ("$", "a>\n>\nb>"),
        ("x*", ">a>\n>\n>b>"),
        ("(?=a)", ">a\n\nb"),
    ],
)
def test_A19_an_empty_match_is_replaced_once(pattern, expected):
    assert replaced("a\n\nb", pattern, ">") == expected


def test_A20_nothing_lands_between_cr_and_lf():
    assert replaced("h1\r\nh2\r\n", "$", ".org") == "h1.org\r\nh2.org\r\n"
    assert replaced("h1\rh2\n", "$", ".org") == "h1.org\rh2.org\n"
    assert replaced("h1\r\nh2", "$", ".org") == "h1.org\r\nh2.org"


def test_A07_only_three_things_end_a_line():
    text = "a\fb\x85c\u2028d\x0be\x1cf\n"
    assert replaced(text, "^", ">") == ">" + text
    assert replaced(text, ".+", "x") == "x\n"


@pytest.mark.parametrize("regex", [False, True])
@pytest.mark.parametrize(
    ("text", "needle", "found"),
    [
        ("å gjøre", "g", 0),
        ("å gjøre", "gj", 0),
        ("å gjøre", "gjø", 0),
        ("å gjøre", "gjøre", 1),
        ("terminé", "termin", 0),
        ("¿Jehová", "Jehová", 1),
        ("¿Jehová", "¿Jehová", 1),
        ("end, or", "end,", 1),
        ("end,or", "end,", 1),
        ("a_b", "a", 0),
    ],
)
def test_A22_a_whole_word_ends_where_words_end(text, needle, found, regex):
    assert replaced(text, needle, "X", regex=regex, word=True).count("X") == found


def test_a_whole_word_of_an_expression_may_have_flags_groups_and_comments():
    assert replaced("cat catalog CAT", "(?i)(c)at", r"\1", word=True) == "c catalog C"
    assert replaced("ab abc", "(?x) ab # two letters", "-", word=True) == "- abc"
    assert replaced("ab abc", "a|ab", "-", word=True) == "- abc"


def test_S20_groups_in_the_replacement():
    assert replaced("*ab", r"\*(..)$", r'*\1",') == '*ab",'
    assert replaced("abcdefghijk", "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", r"\10\g<1>0") == "ja0k"
    assert replaced("ab", "(?P<n>a)", r"\g<n>$1\\\t") == "a$1\\\tb"
    assert replaced("ab", "(x)?a", r"[\1]") == "[]b"


@pytest.mark.parametrize("replacement", [r"\2", r"\q", r"\g<no>", "\\", r"\0", r"\g<>"])
def test_S20_a_replacement_that_means_nothing_is_refused(replacement):
    with pytest.raises(TemplateError):
        parse(replacement, 1, {})


def test_a_group_keeps_its_line_ends_and_new_ones_are_the_buffers():
    job = {"pattern": r"(a\nb)", "case": True, "word": False, "low": 0, "high": 4, "all": True, "ending": "crlf"}
    answer = work({**job, "replacement": r"\1\n"}, "a\rb\n")
    assert answer["edits"] == [(0, 3, "a\rb\r\n")]


def test_letters_match_one_for_one_where_case_does_not_count():
    assert replaced("Straße STRASSE ÄÖ äö", "straße", "-", regex=False, case=False) == "- STRASSE ÄÖ äö"
    assert replaced("ÄÖ äö", "äö", "-", regex=False, case=False) == "- -"
    assert replaced("ÄÖ äö", "äö", "-", regex=False) == "ÄÖ -"


def test_a_scope_is_not_left_and_its_edges_are_those_of_the_text():
    assert replaced("aaa", "a", "b", low=1, high=2) == "aba"
    assert replaced("abab", "b", "-", low=0, high=3, regex=False) == "a-ab"
    assert replaced("one two", "tw", "-", low=0, high=6, regex=False, word=True) == "one two"
    assert replaced("one two", "tw", "-", low=0, high=6, word=True) == "one two"
    assert replaced("a\nb\nc", "^", ">", low=0, high=4) == ">a\n>b\nc"


def test_many_hits_become_few_edits_of_the_same_text():
    text = "ab\r\n" * 30_000
    assert replaced(text, "b", "xyz") == text.replace("b", "xyz")
    found = [Replaced(4 * line + 1, 4 * line + 2, "x") for line in range(30_000)]
    assert len(merged(found, len(found), lambda start, end: text[start:end])) < 10


def test_a_page_is_around_its_place():
    page = Page(first=50, back=2, limit=3)
    for start in range(0, 100, 10):
        assert page.take((start, start + 1))
    assert [start for start, _ in page.hits] == [30, 40, 50, 60, 70]
    assert (page.before, page.total, page.more) == (3, 10, False)


@pytest.mark.parametrize(
    ("pattern", "options", "line", "hit"),
    [
        ("a.b", {}, "xA.B", "A.B"),
        ("a.b", {}, "axb", None),
        ("a.b", {"regex": True}, "xAxB", "AxB"),
        ("a-#b", {"word": True, "case": True}, "a-#b", "a-#b"),
        ("foo", {"word": True}, "foobar", None),
        ("foo(", {"word": True}, "Foo(x", "Foo("),
        ("foo|bar", {"word": True, "regex": True, "case": True}, "xfoo bar", "bar"),
    ],
)
def test_a_pattern_for_files_means_the_same_there(pattern, options, line, hit):
    made, regex = line_pattern(pattern, **{"regex": False, "case": False, "word": False, **options})
    assert regex
    found = re.search(made, line)
    assert (found[0] if found else None) == hit


def test_what_is_no_pattern_is_said():
    for pattern in ("(", "a)(b", "[", "(?<=a*)b"):
        with pytest.raises(re.error):
            compiled(Wanted(pattern, regex=True, word=True))
