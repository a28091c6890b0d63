"""Nothing hides in what is shown, and what one line shows can be read back."""

import re
import sys
import unicodedata

import pytest
from hypothesis import example, given

from rio_core.protocol import visible, visible_line
from rio_core.protocol.visible import count_hidden, is_hidden
from support import nasty
from support.profiles import examples

# Written down by hand, so that it does not share a mistake with the code: ranges that a reader cannot see, or that
# move what he sees.
HIDDEN = [
    ("C0 controls but tab and line feed", 0x00, 0x08),
    ("C0 controls but tab and line feed", 0x0B, 0x1F),
    ("delete and C1 controls", 0x7F, 0x9F),
    ("no-break space", 0xA0, 0xA0),
    ("soft hyphen", 0xAD, 0xAD),
    ("combining grapheme joiner", 0x34F, 0x34F),
    ("Arabic letter mark", 0x61C, 0x61C),
    ("Hangul fillers", 0x115F, 0x1160),
    ("Ogham space mark", 0x1680, 0x1680),
    ("Khmer inherent vowels", 0x17B4, 0x17B5),
    ("Mongolian selectors and vowel separator", 0x180B, 0x180F),
    ("spaces of other widths, zero width ones, bidirectional marks", 0x2000, 0x200F),
    ("line and paragraph separator, embeddings and overrides, narrow space", 0x2028, 0x202F),
    ("medium space, word joiner, invisible operators, isolates, deprecated formats", 0x205F, 0x206F),
    ("braille blank", 0x2800, 0x2800),
    ("ideographic space", 0x3000, 0x3000),
    ("Hangul filler", 0x3164, 0x3164),
    ("surrogates", 0xD800, 0xDFFF),
    ("private use", 0xE000, 0xF8FF),
    ("variation selectors", 0xFE00, 0xFE0F),
    ("byte-order mark", 0xFEFF, 0xFEFF),
    ("half-width Hangul filler", 0xFFA0, 0xFFA0),
    ("annotations", 0xFFF0, 0xFFFB),
    ("no characters", 0xFFFE, 0xFFFF),
    ("shorthand format controls", 0x1BCA0, 0x1BCA3),
    ("musical format controls", 0x1D173, 0x1D17A),
    ("tags, selectors and the rest of plane 14's ignorables", 0xE0000, 0xE0FFF),
    ("private use planes", 0xF0000, 0x10FFFF),
]
TABLE = {point for _, first, last in HIDDEN for point in range(first, last + 1)}


def decoded(line: str) -> str:
    """What `visible_line` was given, read from its description alone."""
    named = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}

    def one(match: re.Match[str]) -> str:
        if match["point"]:
            return chr(int(match["point"], 16))
        if match["byte"]:
            return chr(0xDC00 + int(match["byte"], 16))
        return named[match["name"]]

    return re.sub(r"\\(?:u\{(?P<point>[0-9A-F]+)\}|x(?P<byte>[0-9A-F]{2})|(?P<name>.))", one, line)


def test_every_character_of_the_table_is_hidden():
    assert [hex(point) for point in sorted(TABLE) if not is_hidden(chr(point))] == []


def test_what_people_write_with_is_not_hidden():
    shown = [*map(chr, range(0x20, 0x7F)), "\t", "\n", *"éßſΩжא漢あ한ไ€→▲𝒜😀", "\u0301", "\u05b0", "\u0e31", "\u20dd"]
    assert [char for char in shown if is_hidden(char)] == []


def test_no_assigned_letter_digit_or_symbol_is_hidden_but_those_of_the_table():
    plain = ("Lu", "Ll", "Lo", "Nd", "Sm", "So", "Po", "Mn", "Mc")
    hidden = {point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) in plain} & {
        point for point in range(sys.maxunicode + 1) if is_hidden(chr(point))
    }
    assert hidden <= TABLE


@examples(ci=500, deep=10_000)
@given(nasty.texts_with_surrogates())
@example("\\u{202E}")
@example("\\x80")
@example("\udc80\\\udcff\n\\n\t\r")
@example("a\\")
def test_M_a_line_is_one_line_hides_nothing_and_reads_back_exactly(text):
    line = visible_line(text)
    assert decoded(line) == text
    assert not any(is_hidden(char) or ord(char) in TABLE for char in line)
    assert "\n" not in line
    assert "\t" not in line
    line.encode("utf-8")


@examples(ci=500, deep=10_000)
@given(nasty.texts_with_surrogates())
def test_M_shown_text_keeps_lines_and_tabs_and_hides_nothing(text):
    shown = visible(text)
    assert not any(is_hidden(char) or ord(char) in TABLE for char in shown)
    assert shown.count("\n") == text.count("\n")
    assert shown.count("\t") == text.count("\t")
    assert visible(shown) == shown
    if not any(is_hidden(char) for char in text):
        assert shown == text


@pytest.mark.parametrize(
    ("text", "shown", "line"),
    [
        ("a\u202eb", r"a\u{202E}b", r"a\u{202E}b"),
        ("\x1b[2J", r"\u{1B}[2J", r"\u{1B}[2J"),
        ("a\rb", r"a\u{D}b", r"a\rb"),
        ("a\\b", "a\\b", "a\\\\b"),
        ("a\tb\n", "a\tb\n", r"a\tb\n"),
        ("caf\udce9", r"caf\xE9", r"caf\xE9"),
        ("\ud83d", r"\u{D83D}", r"\u{D83D}"),
        ("\ufeffx", r"\u{FEFF}x", r"\u{FEFF}x"),
        ("a\xa0b", r"a\u{A0}b", r"a\u{A0}b"),
        ("\U000e0041", r"\u{E0041}", r"\u{E0041}"),
        ("é漢😀", "é漢😀", "é漢😀"),
    ],
)
def test_how_it_looks(text, shown, line):
    assert visible(text) == shown
    assert visible_line(text) == line


def test_hidden_characters_are_counted():
    assert count_hidden("plain\n\t") == 0
    assert count_hidden("\ufeffa\u200b\r\n") == 3
