import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.documents import text
from rio_core._engine.documents.encoding import MARKS, Format, decode, decode_as, encode, find_codec
from rio_core._engine.documents.text import Text
from rio_core.protocol.errors import RioError
from support.nasty import byte_strings, texts
from support.profiles import examples

ALL = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def blocks(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def by_hand(data: bytes) -> tuple[str, Format]:
    """What the rules say, with the whole file in the hand."""
    for name in ("utf-8", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        mark = "\ufeff".encode(name)
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(name), Format(name, bom=True)
            except UnicodeDecodeError:
                continue
    try:
        return data.decode("utf-8"), Format("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1"), Format("latin-1", clean=False)


@given(st.one_of(byte_strings(), st.binary(max_size=12)), st.integers(1, 7))
@examples(ci=1000, deep=20_000)
def test_any_bytes_are_read_by_the_rules_and_written_back(data: bytes, size: int):
    found, form = decode(blocks(data, size))
    assert (str(found), form) == by_hand(data)
    assert b"".join(encode(found, form)) == data


@given(texts(), st.sampled_from(ALL), st.booleans(), st.integers(1, 9))
@examples(ci=300, deep=5000)
def test_every_unicode_encoding_with_and_without_a_mark(content: str, name: str, bom: bool, size: int):
    form = Format(name, bom=bom)
    data = b"".join(encode(Text([content]), form))
    assert data == (MARKS[name] if bom else b"") + content.encode(name)
    if bom or not data.startswith(tuple(MARKS.values())):
        again, found = decode_as(blocks(data, size), name)
        assert (str(again), found) == (content, form)


def test_A01_broken_utf8_is_shown_byte_by_byte_and_said_to_be():
    found, form = decode([b"\x61\x0a\x62\xff\x63\x0a"])
    assert (str(found), form) == ("a\nb\xffc\n", Format("latin-1", clean=False))


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xff\xfea\0\x00\xd8b\0", "latin-1"),  # half a pair
        (b"\xff\xfea\0b", "latin-1"),  # an odd byte
        (b"\xff\xfe\0\0\0\0\x11\0", "latin-1"),  # beyond Unicode in UTF-32; in UTF-16 an odd number of NUL: see next
        (b"\xff\xfe\0\0a\0", "utf-16-le"),  # the mark of UTF-32, but UTF-16 that begins with NUL
        (b"\xff\xfe\0\0a\0\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff\0\0\0a", "utf-32-be"),
        (b"\xef\xbb\xbfa\xff", "latin-1"),
        (b"\xef\xbb\xbf", "utf-8"),
        (b"", "utf-8"),
    ],
)
def test_a_mark_that_does_not_keep_its_word_is_not_believed(data: bytes, encoding: str):
    found, form = decode([data])
    if data != b"\xff\xfe\0\0\0\0\x11\0":
        assert form.encoding == encoding
    assert b"".join(encode(found, form)) == data


def test_a_second_mark_is_text():
    found, form = decode([codecs.BOM_UTF8 * 2 + b"a"])
    assert (str(found), form.bom) == ("\ufeffa", True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cp1252", "caf\u00e9 \u20ac\r\n"),
        ("shift_jis", "\u65e5\u672c\n"),
        ("gb18030", "\u56fd\U0001f600\n"),
        ("iso2022_jp", "a\u65e5\u672cb\n"),
        ("iso2022_jp", "\u65e5\u672c"),
        ("big5hkscs", "x\u00ca"),
        ("hz", "a\u56fdb\n"),
        ("big5hkscs", "\u00ca\u0304x\u00ca\n"),
        ("cp037", "abc\r\n"),
        ("koi8-r", "\u043f\u0440\u0438\u0432\u0435\u0442"),
    ],
)
def test_a_chosen_encoding_round_trips_through_any_blocks(name: str, content: str, monkeypatch: pytest.MonkeyPatch):
    data = content.encode(name)
    monkeypatch.setattr(text, "CHUNK", 2)
    for size in (1, 2, 3, 100):
        found, form = decode_as(blocks(data, size), name)
        assert str(found) == content
        assert form.clean
        assert b"".join(encode(found, form)) == data


def test_a_chosen_encoding_that_would_not_give_the_bytes_back_is_refused():
    for data, name in ((b"\x1b(B\x1b(Ba", "iso2022_jp"), (b"\x81", "cp1252"), (b"\xff", "utf-8"), (b"\xe9", "ascii")):
        with pytest.raises(RioError) as caught:
            decode_as([data], name)
        assert caught.value.kind == "encoding"
        assert "utf-8" in caught.value.action


@pytest.mark.parametrize(
    "name",
    ["base64", "hex", "rot13", "zlib", "undefined", "idna", "punycode", "utf-7", "unicode_escape", "x\0y", "no", ""],
)
def test_what_is_no_encoding_of_files_is_refused(name: str):
    with pytest.raises(RioError) as caught:
        find_codec(name)
    assert caught.value.kind == "encoding"
    assert "\0" not in caught.value.message


def test_names_are_one_for_each_encoding():
    assert find_codec("UTF8") == find_codec("utf_8") == ("utf-8", None)
    assert find_codec("latin1") == find_codec("ISO-8859-1") == ("latin-1", None)
    assert find_codec("utf-8-sig") == ("utf-8", True)
    assert find_codec("utf-16") == ("utf-16-le", True)


def test_utf_16_without_a_mark_must_be_said_more_exactly():
    with pytest.raises(RioError, match="no byte-order mark of utf-16"):
        decode_as([b"a\0"], "utf-16")
    assert decode_as([codecs.BOM_UTF16_BE + b"\0a"], "utf-16")[1] == Format("utf-16-be", bom=True)


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("cp1252", "one\r\ntwo \u56fd\r\n", "'\u56fd' (U+56FD) at line 2, column 5"),
        ("latin-1", "a\rb\rc\u202e", "'\\u202e' (U+202E) at line 3, column 2"),
        ("ascii", "\u00e9", "'\u00e9' (U+00E9) at line 1, column 1"),
        ("big5hkscs", "\u00ca\U0001f600", "(U+1F600) at line 1, column 2"),
        ("cp1252", "ab\n" * 50 + "c\u0100", "(U+0100) at line 51, column 2"),
    ],
)
@pytest.mark.parametrize("chunk", [2, 8, 65_536])
def test_A03_the_first_character_that_cannot_be_held_is_named(
    name: str, content: str, named: str, chunk: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(text, "CHUNK", chunk)
    with pytest.raises(RioError) as caught:
        encode(Text([content]), Format(name))
    assert caught.value.kind == "encoding"
    assert named in caught.value.message
    assert "utf-8" in caught.value.action
    assert "\n" not in caught.value.message
