"""The example of the protocol page is read and compared as its remarks say."""

import pytest

from rio_core.protocol import EVENTS, OPS
from support.session import SESSION, Line, Names, read


def test_every_message_of_the_example_is_one_of_the_protocol():
    lines = list(read(SESSION.read_text("utf-8")))
    asked = [line.message for line in lines if line.direction == ">"]
    answered = [line.message["id"] for line in lines if line.direction == "<" and "id" in line.message]
    told = [line.message for line in lines if line.direction == "<" and "method" in line.message]
    assert [message["id"] for message in asked] == answered
    assert {message["method"] for message in asked} <= set(OPS)
    assert {message["method"] for message in told} <= set(EVENTS)
    for message in asked:
        assert set(message["params"]) <= set(OPS[message["method"]].params.__struct_fields__)
    for message in told:
        assert set(message["params"]) <= set(EVENTS[message["method"]].__struct_fields__)


def test_what_is_no_message_is_refused():
    assert list(read('# remark\n\n> {"a":1}\n< {}\n')) == [Line(">", {"a": 1}), Line("<", {})]
    with pytest.raises(ValueError, match="neither"):
        list(read('{"a":1}'))


def test_names_are_learned_from_the_core_and_sent_back():
    names = Names({"$root": "/p"})
    expected = {"id": 1, "result": {"turn": "$turn", "at": ["$root"]}}
    assert names.fits(expected, {"id": 1, "result": {"turn": "t1", "at": ["/p"], "more": 2}})
    assert names.filled({"turn": "$turn", "list": ["$root", 1]}) == {"turn": "t1", "list": ["/p", 1]}


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1}, {}),
        ({"a": 1}, []),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": True}),
        ({"a": []}, {"a": [1]}),
        ({"a": "$known"}, {"a": "other"}),
        ({"a": "$new", "b": "$new"}, {"a": "1", "b": "2"}),
    ],
)
def test_another_message_does_not_fit_and_teaches_nothing(expected, actual):
    names = Names({"$known": "value"})
    assert not names.fits(expected, actual)
    assert names.values == {"$known": "value"}
