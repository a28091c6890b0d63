"""Nothing from outside reaches the terminal unescaped, however it is cut, styled or placed."""

import io
import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._cli.writer import Screen
from rio_core.protocol.visible import is_hidden
from support.profiles import examples

SGR = re.compile(r"\x1b\[[0-9;]*m")
STYLES = ["plain", "dim", "bold", "mark", "removed", "added", "hunk", "warning", "error"]
HOSTILE = {
    "ESC": ("\x1b[2K\x1b[1A\r", r"\u{1B}[2K\u{1B}[1A\u{D}"),
    "OSC 8": ("\x1b]8;;http://x\x1b\\y", r"\u{1B}]8;;http://x\u{1B}\y"),
    "OSC 52": ("\x1b]52;c;QQ==\x07", r"\u{1B}]52;c;QQ==\u{7}"),
    "C1 CSI": ("\x9b31m", r"\u{9B}31m"),
    "bidi": ("a\u202eb\u2066c\u2069", r"a\u{202E}b\u{2066}c\u{2069}"),
    "tags": ("\U000e0041\U000e007f", r"\u{E0041}\u{E007F}"),
    "zero width": ("a\u200bb\u200dc\ufeff", r"a\u{200B}b\u{200D}c\u{FEFF}"),
    "no-break space": ("a\u00a0b", r"a\u{A0}b"),
    "soft hyphen": ("a\u00adb", r"a\u{AD}b"),
    "backspace": ("approve\b\b\b\b\b\b\breject", r"approve\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}reject"),
    "file name byte": ("caf\udce9", r"caf\xE9"),
    "delete": ("\x7f", r"\u{7F}"),
}


def screens() -> list[tuple[io.StringIO, Screen]]:
    made = []
    for attributes, colours in ((False, False), (True, False), (True, True)):
        stream = io.StringIO()
        made.append((stream, Screen(stream, attributes=attributes, colours=colours)))
    return made


@pytest.mark.parametrize("name", HOSTILE)
def test_U10_M06_hidden_characters_are_drawn_as_escapes(name):
    text, drawn = HOSTILE[name]
    for stream, screen in screens():
        screen.line((text, "bold"), text)
        assert SGR.sub("", stream.getvalue()) == f"{drawn}{drawn}\n"


def test_an_escape_is_in_reverse_video_and_a_text_that_reads_like_one_is_not():
    stream = io.StringIO()
    Screen(stream, attributes=True, colours=True).write("\x1b \\u{1B}", "added")
    assert stream.getvalue() == "\x1b[32m\x1b[0m\x1b[7m\\u{1B}\x1b[0m\x1b[32m \\u{1B}\x1b[0m"


@examples(ci=300, deep=3000)
@given(text=st.text(), cuts=st.lists(st.integers(0, 40)), style=st.sampled_from(STYLES))
def test_any_split_of_any_text_draws_the_same_and_lets_nothing_through(text, cuts, style):
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    for stream, screen in screens():
        whole = io.StringIO()
        Screen(whole).write(text)
        for start, end in itertools.pairwise(places):
            screen.write(text[start:end], style)
        plain = SGR.sub("", stream.getvalue())
        assert plain == whole.getvalue()
        assert not [char for char in plain if is_hidden(char)]


@examples(ci=200, deep=2000)
@given(text=st.text(), style=st.sampled_from(STYLES))
def test_a_style_never_outlives_its_line(text, style):
    stream = io.StringIO()
    Screen(stream, attributes=True, colours=True).write(text, style)
    for line in stream.getvalue().split("\n"):
        codes = SGR.findall(line)
        assert not codes or codes[-1] == "\x1b[0m"


def test_a_line_begins_on_a_new_line_and_only_then():
    stream = io.StringIO()
    screen = Screen(stream)
    screen.write("half")
    screen.line("next")
    screen.line("more")
    screen.write("q? ")
    screen.typed()
    screen.line("after the typed line")
    assert stream.getvalue() == "half\nnext\nmore\nq? after the typed line\n"


def test_an_error_is_a_line_and_its_action_another():
    stream = io.StringIO()
    Screen(stream).error("a\nb\x1b[31m", "do\nthis")
    assert stream.getvalue() == "error: a b\\u{1B}[31m\n  do this\n"


def test_json_lines_hold_no_character_that_a_terminal_obeys_and_read_back():
    stream = io.StringIO()
    message = {"text": "".join(text for text, _ in HOSTILE.values()) + "\n\u2028"}
    Screen(stream).json(message)
    assert json.loads(stream.getvalue()) == message
    assert all(" " <= char <= "~" for char in stream.getvalue()[:-1])
    assert stream.getvalue().count("\n") == 1


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "colour", "attribute"),
    [
        (Tty(), {"TERM": "xterm"}, True, True),
        (Tty(), {"TERM": "xterm", "NO_COLOR": "1"}, False, True),
        (Tty(), {"TERM": "xterm", "NO_COLOR": ""}, True, True),  # https://no-color.org: present and not empty
        (Tty(), {"TERM": "dumb"}, False, False),
        (Tty(), {}, False, False),
        (io.StringIO(), {"TERM": "xterm"}, False, False),
    ],
)
def test_colours_only_where_they_are_wanted(stream, environment, colour, attribute):
    screen = Screen.on(stream, environment)
    screen.line(("x", "removed"), ("y", "mark"))
    assert ("\x1b[31m" in stream.getvalue()) is colour
    assert ("\x1b[7m" in stream.getvalue()) is attribute
