"""Bytes to lines, and messages to bytes."""

import json
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rio_core.protocol import LINE_CAP, Lines, LineTooLongError, Notification, encode
from support import nasty
from support.profiles import examples


def fed(lines: Lines, pieces: list[bytes]) -> list[bytes]:
    return [line for piece in pieces for line in lines.feed(piece)]


@examples(ci=300, deep=3000)
@given(data=nasty.byte_strings(), cuts=st.lists(st.integers(0, 200)))
def test_any_split_of_the_bytes_gives_the_same_lines(data, cuts):
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(places)]
    *whole, rest = data.split(b"\n")
    lines = Lines()
    assert fed(lines, pieces) == whole
    assert lines.pending == len(rest)
    one_by_one = Lines()
    assert fed(one_by_one, [data[index : index + 1] for index in range(len(data))]) == whole


def test_only_lf_ends_a_line():
    line = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\0".encode()
    assert Lines().feed(line + b"\n") == [line]


@pytest.mark.parametrize("pieces", [[b"123456789\n"], [b"12345", b"6789\n"], [b"123456789", b"\n"]])
def test_a_line_of_exactly_the_cap_is_whole(pieces):
    lines = Lines(cap=9)
    assert fed(lines, pieces) == [b"123456789"]
    assert fed(lines, pieces) == [b"123456789"]


@pytest.mark.parametrize("pieces", [[b"1234567890\n"], [b"1234567890"], [b"12345", b"67890"], [b"123456789", b"0\n"]])
def test_a_line_over_the_cap_is_refused_whether_or_not_it_ends(pieces):
    with pytest.raises(LineTooLongError):
        fed(Lines(cap=9), pieces)


def test_lines_before_the_one_that_is_too_long_are_not_lost():
    lines = Lines(cap=4)
    lines.feed(b"on")
    with pytest.raises(LineTooLongError) as caught:
        lines.feed(b"e\ntwo\n12345\nfour\n")
    assert caught.value.args[0] == [b"one", b"two"]


def test_J03_memory_is_bounded_by_the_cap_however_small_the_pieces_are():
    cap = 1024 * 1024
    lines = Lines(cap=cap)
    tracemalloc.start()
    try:
        with pytest.raises(LineTooLongError):  # noqa: PT012 - the size is only reached by the loop
            for index in range(cap):
                lines.feed(index.to_bytes(3, "big").replace(b"\n", b"\0"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * cap


def test_the_cap_is_that_of_the_contract():
    assert LINE_CAP == 64 * 1024 * 1024


@examples(ci=300, deep=3000)
@given(nasty.json_values())
@example("\u2028\x85\r\n")
@example("caf\udce9")
def test_a_message_is_one_line_of_ascii_and_reads_back_the_same(value):
    data = encode({"value": value})
    assert data.isascii()
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert b"\r" not in data
    assert json.loads(data) == {"value": value}


def test_a_struct_is_written_without_what_is_unset():
    assert encode(Notification(method="m", params={"a": [1, None]})) == (
        b'{"jsonrpc":"2.0","method":"m","params":{"a":[1,null]}}\n'
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_json_is_never_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"number": number})
