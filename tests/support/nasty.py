"""Hypothesis strategies for the text, bytes and names that break editors."""

from hypothesis import strategies as st

LINE_ENDS = ("\n", "\r\n", "\r")

LOOK_ALIKE_ENDS = ("\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""What `str.splitlines` takes for a line end, and rio does not."""

CONTROLS = ("\0", "\a", "\b", "\x1b[2J", "\x1b]0;x\a", "\x7f", "\x9b1A")
MARKS = ("\ufeff", "\u200b", "\u200d", "\u202e", "\u2066", "\u2069", "\u200f", "\u00ad", "\ufe0f", "\U000e0041")
LETTERS = ("a", "Z", "0", " ", "\t", "é", "e\u0301", "ſ", "ß", "İ", "Ω", "漢", "\U0001f600", "\U0010ffff", "\ufffd")
REPLACEMENTS = ("$&", "$$", r"\1", r"\g<0>", r"\n", "%s", "{0}", "\\", "'", '"', "`")
"""What a careless replace takes for something else than text."""

_PIECES = LINE_ENDS + LOOK_ALIKE_ENDS + CONTROLS + MARKS + LETTERS + REPLACEMENTS

BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff")
BROKEN_UTF8 = (
    b"\xff", b"\xc3", b"\x80", b"\xc0\xaf", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"\xa9", b"\xe9",
)  # fmt: skip
"""A stray byte, a cut sequence, an overlong form, half a pair, a point past the last; and letters of Latin-1."""


def texts(max_pieces: int = 30) -> st.SearchStrategy[str]:
    """Text without lone surrogates, biased to line ends and to what looks like them."""
    piece = st.one_of(
        st.sampled_from(LINE_ENDS),
        st.sampled_from(_PIECES),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    )
    return st.lists(piece, max_size=max_pieces).map("".join)


def texts_with_surrogates(max_pieces: int = 30) -> st.SearchStrategy[str]:
    """Any text that a str can hold; half of a pair may stand alone."""
    piece = st.one_of(
        st.sampled_from(_PIECES),
        st.sampled_from(("\ud800", "\udfff", "\udce9", "\ud83d", "\ude00")),
        st.text(st.characters(), max_size=8),
    )
    return st.lists(piece, max_size=max_pieces).map("".join)


def lines(max_size: int = 20) -> st.SearchStrategy[str]:
    """One line without its end."""
    return texts(max_size).map(lambda text: text.replace("\n", "").replace("\r", ""))


def byte_strings(max_pieces: int = 30) -> st.SearchStrategy[bytes]:
    """Contents of a file: perhaps a mark, then text, line ends and broken UTF-8 in any mixture, at times UTF-16."""
    piece = st.one_of(
        st.sampled_from((b"\n", b"\r\n", b"\r")),
        st.sampled_from(_PIECES).map(str.encode),
        st.sampled_from(BROKEN_UTF8),
        st.binary(max_size=6),
    )
    mark = st.one_of(st.just(b""), st.just(b""), st.sampled_from(BOMS))
    body = st.lists(piece, max_size=max_pieces).map(b"".join)
    clean = texts(max_pieces).map(str.encode)
    wide = st.builds(str.encode, texts(max_pieces), st.sampled_from(("utf-16", "utf-16-be", "utf-32")))
    return st.one_of(st.tuples(mark, st.one_of(body, clean)).map(b"".join), wide)


def file_names() -> st.SearchStrategy[str]:
    """Names that Linux takes, as Python spells them: any bytes but `/` and NUL, of at most 255."""
    named = st.sampled_from(
        (
            "$(touch M)",
            "; touch M #.txt",
            "--output=M",
            "-rf",
            "a\nb",
            "a\x1b[2Jb",
            "\u202egnp.exe",
            " a ",
            "a\\b",
            "...",
        )
    )
    raw = st.binary(min_size=1, max_size=255)
    spelled = texts(6).map(lambda text: text.encode()[:255])
    return st.one_of(named, st.one_of(raw, spelled).map(lambda name: name.decode("utf-8", "surrogateescape"))).filter(
        lambda name: name not in ("", ".", "..") and "/" not in name and "\0" not in name
    )


def json_texts(max_pieces: int = 30) -> st.SearchStrategy[str]:
    """Text that JSON can carry: halves of a pair side by side are one character there."""
    return texts_with_surrogates(max_pieces).map(
        lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    )


def json_values() -> st.SearchStrategy[object]:
    """Any JSON value, texts with lone surrogates included."""
    leaf = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        json_texts(5),
    )
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(json_texts(3), inner, max_size=4),
        max_leaves=15,
    )
