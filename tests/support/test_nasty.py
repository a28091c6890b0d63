"""The strategies reach what they are for."""

import pytest
from hypothesis import find
from hypothesis.errors import NoSuchExample

from support import nasty


def is_not_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        (nasty.texts(), lambda text: "\r\n" in text and "\u2028" in text),
        (nasty.texts_with_surrogates(), lambda text: any("\ud800" <= char <= "\udfff" for char in text)),
        (nasty.byte_strings(), lambda data: data.startswith(b"\xef\xbb\xbf") and is_not_utf8(data)),
        (nasty.byte_strings(), lambda data: b"\r" in data and b"\r\n" in data),
        (nasty.file_names(), lambda name: any("\udc80" <= char <= "\udcff" for char in name)),
    ],
)
def test_strategies_find_their_kind(strategy, wanted):
    assert wanted(find(strategy, wanted))


@pytest.mark.parametrize(
    ("strategy", "unwanted"),
    [
        (nasty.texts(), lambda text: any("\ud800" <= char <= "\udfff" for char in text)),
        (nasty.lines(), lambda text: "\n" in text or "\r" in text),
        (nasty.file_names(), lambda name: "/" in name or not 0 < len(name.encode("utf-8", "surrogateescape")) < 256),
    ],
)
def test_strategies_never_give_what_they_exclude(strategy, unwanted):
    with pytest.raises(NoSuchExample):
        find(strategy, unwanted)
