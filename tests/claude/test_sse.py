"""Bytes to events."""

import pytest

from rio_provider_claude.inference import sse
from rio_provider_claude.inference.sse import Events, TooLongError


def test_S2_only_cr_lf_and_crlf_end_a_line() -> None:
    odd = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    assert Events().feed(f"data: {odd}\n\n".encode()) == [odd]


def test_S1_a_character_cut_in_the_middle_is_whole_again() -> None:
    events, body = Events(), "data: 🌊\n\n".encode()
    assert [data for byte in body for data in events.feed(bytes([byte]))] == ["🌊"]


def test_S5_comments_the_optional_space_and_several_data_lines() -> None:
    assert Events().feed(b": hello\ndata:{\n:\ndata: 1\ndata\ndata:  2}\nid: 4\nretry: x\nodd\n\n") == ["{\n1\n\n 2}"]


def test_S6_an_event_without_data_is_none() -> None:
    assert Events().feed(b"event: ping\n\nevent: ping\ndata:\n\nevent: ping\ndata: \n\n\n\n") == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_S3_an_event_is_given_as_soon_as_its_blank_line_is_there(end: bytes) -> None:
    events = Events()
    assert events.feed(b"data: 1" + end) == []
    assert events.feed(end) == ["1"]
    assert events.feed(b"data: 2" + end + end) == ["2"]


def test_crlf_cut_between_cr_and_lf_is_one_line_end() -> None:
    events = Events()
    assert events.feed(b"data: 1\r") == []
    assert events.feed(b"") == []
    assert events.feed(b"\n") == []
    assert events.feed(b"data: 2\r") == []
    assert events.feed(b"\ndata: 3\r") == []
    assert events.feed(b"\n\r") == ["1\n2\n3"]
    assert events.feed(b"\n\r\n") == []


def test_a_byte_order_mark_is_for_the_beginning_only() -> None:
    events = Events()
    assert events.feed(b"\xef\xbb") == []
    assert events.feed(b"\xbfdata: 1\n\n") == ["1"]
    assert events.feed(b"\xef\xbb\xbfdata: 2\n\n") == []


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert Events().feed(b"data: a\xffb\n\n") == ["a\ufffdb"]


def test_an_event_without_its_blank_line_is_not_given() -> None:
    assert Events().feed(b"data: 1\n") == []


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 100, b"data: " + b"x" * 40 + b"\n", b"data\n" * 20, b"x" * 64])
def test_an_event_without_end_is_refused(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LIMIT", 1000)

    def forever() -> None:
        events = Events()
        for _ in range(100):
            events.feed(piece)

    with pytest.raises(TooLongError):
        forever()


def test_what_was_given_does_not_count_towards_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LIMIT", 100)
    events = Events()
    assert all(events.feed(b"data: " + b"x" * 60 + b"\n\n") for _ in range(100))
