"""What is read from a line, and what is refused."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core.protocol import Request, Response, RioError, parse
from rio_core.protocol.errors import CODES
from rio_core.protocol.messages import ID_CAP, failure, result_of
from support import nasty
from support.profiles import examples

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


def refusal(line: bytes | str) -> RioError:
    with pytest.raises(RioError) as caught:
        parse(line.encode() if isinstance(line, str) else line)
    assert caught.value.kind == "bad_message"
    assert caught.value.action
    assert len(caught.value.message) < 400
    assert caught.value.message.isprintable()
    return caught.value


@examples(ci=300, deep=3000)
@given(
    params=st.dictionaries(nasty.json_texts(3), nasty.json_values(), max_size=4),
    given_id=st.one_of(st.integers(-(2**70), 2**70), nasty.json_texts(5)),
)
def test_a_request_reads_back_with_its_exact_params_and_id(params, given_id):
    line = json.dumps({"jsonrpc": "2.0", "id": given_id, "method": "a.b", "params": params}).encode()
    message = parse(line)
    assert message == Request(id=given_id, method="a.b", params=params)
    assert type(message.id) is type(given_id)


def test_params_and_id_may_be_left_out():
    assert parse(b'{"jsonrpc":"2.0","method":"m"}') == Request(method="m", params={})


def test_space_around_the_message_is_no_part_of_it():
    assert parse(b' \t\r{"jsonrpc":"2.0","method":"m"} \t\r') == Request(method="m", params={})


def test_answers_are_read():
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":null}') == Response(id=1, result=None)
    assert parse(b'{"jsonrpc":"2.0","id":null,"error":{"code":1}}') == Response(id=None, error={"code": 1})


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "{",
        "nonsense",
        '{"jsonrpc":"2.0","method":"m"',
        '{"jsonrpc":"2.0","method":"m"} {}',
        '{"jsonrpc":"2.0","method":"m"}x',
        '\ufeff{"jsonrpc":"2.0","method":"m"}',
        '\u00a0{"jsonrpc":"2.0","method":"m"}',
        '\v{"jsonrpc":"2.0","method":"m"}',
        "{'jsonrpc':'2.0','method':'m'}",
        '{"jsonrpc":"2.0","method":"m",}',
        '{"jsonrpc":"2.0","method":"m\tm"}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":NaN}}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":Infinity}}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":-Infinity}}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":1e999}}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":01}}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":"\\ud8"}}',
        '{"jsonrpc":"2.0","method":"m","params":{"a":' + "9" * 5000 + "}}",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"jsonrpc":"2.0","method":"m","params":{"a":' + "[" * 100_000 + "]" * 100_000 + "}}",
        "POST / HTTP/1.1\r",
    ],
)
def test_what_is_not_json_is_a_parse_error(line):
    assert refusal(line).code == PARSE_ERROR


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"jsonrpc":"2.0","method":"m","method":"n"}', "method"),
        ('{"jsonrpc":"2.0","method":"m","method":"m"}', "method"),
        ('{"jsonrpc":"2.0","method":"m","\\u006dethod":"n"}', "method"),
        ('{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}', "id"),
        ('{"jsonrpc":"2.0","method":"m","params":{"path":"a","path":"b"}}', "path"),
        ('{"jsonrpc":"2.0","method":"m","params":{"a":[[{"b":{"c":1,"d":2,"c":3}}]]}}', "c"),
        ('{"jsonrpc":"2.0","method":"m","params":{"\\ud800":1,"\\ud800":2}}', "\\ud800"),
    ],
)
def test_J05_a_name_that_occurs_twice_is_refused_at_any_depth_and_named(line, name):
    error = refusal(line)
    assert error.code == PARSE_ERROR
    assert f"'{name}' occurs twice" in error.message


def test_J05_a_long_name_that_occurs_twice_makes_no_long_answer_and_no_long_work():
    many = ",".join(f'"{number}":0' for number in range(300_000))
    name = "n" * 1_000_000
    refusal(f'{{"{name}":1,{many},"{name}":2}}')


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","Method":"m"}',
        '{"jsonrpc":"2.0","METHOD":"m","id":1}',
        '{"jsonrpc":"2.0","method ":"m"}',
        '{"jsonrpc":"2.0","metho\\u0501":"m"}',
        '{"jsonrpc":"2.0","method":"m","Method":"n"}',
        '{"jsonrpc":"2.0","method":"m","param\u017f":{}}',
        '{"jsonrpc":"2.0","method":"m","Params":{}}',
        '{"jsonrpc":"2.0","method":"m","ID":1}',
        '{"jsonrpc":"2.0","method":"m","result":1}',
        '{"jsonrpc":"2.0","method":"m","' + "x" * 100_000 + '":1}',
        '{"JSONRPC":"2.0","method":"m"}',
        '{"jsonrpc":"2.0","id":1,"result":1,"Error":{}}',
    ],
)
def test_J05_names_are_exact_and_what_is_not_understood_is_refused(line):
    assert refusal(line).code == INVALID_REQUEST


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '[{"jsonrpc":"2.0","id":1,"method":"m"}]',
        '"core.hello"',
        "1",
        "null",
        "{}",
        '{"method":"m"}',
        '{"jsonrpc":"1.0","method":"m"}',
        '{"jsonrpc":2.0,"method":"m"}',
        '{"jsonrpc":"2.0"}',
        '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":1,"result":1,"error":{}}',
        '{"jsonrpc":"2.0","method":null}',
        '{"jsonrpc":"2.0","method":["m"]}',
        '{"jsonrpc":"2.0","method":1}',
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(line):
    assert refusal(line).code == INVALID_REQUEST


@pytest.mark.parametrize("params", ["[]", "null", '"a"', "1", "true"])
def test_params_that_are_no_object_are_invalid_params_and_the_call_is_named(params):
    error = refusal(f'{{"jsonrpc":"2.0","id":"seven","method":"m","params":{params}}}')
    assert error.code == INVALID_PARAMS
    assert error.args[1] == "seven"


@pytest.mark.parametrize(
    "given_id", ["true", "false", "1.0", "1e0", "null", "[1]", "{}", '"' + "x" * (ID_CAP + 1) + '"', "1" + "0" * ID_CAP]
)
def test_J08_an_id_is_an_integer_or_a_text_of_some_length_and_nothing_like_it(given_id):
    error = refusal(f'{{"jsonrpc":"2.0","id":{given_id},"method":"m"}}')
    assert error.code == INVALID_REQUEST
    assert error.args[1] is None  # no answer may carry such an id


@pytest.mark.parametrize("given_id", [0, -1, 2**64, 10**ID_CAP - 1, "", "1", "x" * ID_CAP])
def test_a_refused_request_names_the_call_by_its_id(given_id):
    error = refusal(json.dumps({"jsonrpc": "2.0", "id": given_id, "method": 1}))
    assert error.args[1] == given_id
    assert type(error.args[1]) is type(given_id)


@pytest.mark.parametrize("data", [*nasty.BROKEN_UTF8, "{}".encode("utf-16")])
def test_bytes_that_are_not_utf8_are_another_kind_of_fault(data):
    with pytest.raises(UnicodeDecodeError):
        parse(b'{"jsonrpc":"2.0","method":"' + data + b'"}')


@pytest.mark.parametrize("text", ["\ud800", "caf\udce9", "\udfff\ud800", "\U0001f600", "\0"])
def test_an_escaped_lone_surrogate_passes_as_it_is(text):
    assert parse(json.dumps({"jsonrpc": "2.0", "method": "m", "params": {"a": text}}).encode()).params == {"a": text}


@examples(ci=500, deep=10_000)
@given(st.one_of(nasty.byte_strings(), nasty.json_values().map(lambda value: json.dumps(value).encode())))
def test_no_line_does_anything_but_be_read_or_be_refused(data):
    try:
        assert isinstance(parse(data), Request | Response)
    except UnicodeDecodeError:
        assert data.decode("utf-8", "replace").encode() != data
    except RioError:
        refusal(data)


@pytest.mark.parametrize(
    ("kind", "code"),
    [("bad_message", -32600), ("unknown_op", -32601), ("internal", -32603), ("not_found", -32000), ("stale", -32000)],
)
def test_an_error_goes_over_the_wire_with_the_code_of_its_kind_and_comes_back_whole(kind, code):
    sent = msgspec.to_builtins(failure(RioError(kind, "what happened", "what to do")))
    assert sent == {
        "code": code,
        "message": "what happened",
        "data": {"kind": kind, "message": "what happened", "action": "what to do"},
    }
    with pytest.raises(RioError) as caught:
        result_of({"error": sent})
    error = caught.value
    assert (error.kind, error.message, error.action, error.code) == (kind, "what happened", "what to do", code)
    assert str(error) == "what happened"


def test_a_code_of_its_own_wins_over_that_of_the_kind():
    assert failure(RioError("bad_message", "m", "a", code=PARSE_ERROR)).code == PARSE_ERROR
    assert CODES["bad_message"] != PARSE_ERROR


def test_the_result_of_an_answer_without_error():
    assert result_of({"result": {"a": 1}}) == {"a": 1}
    assert result_of({"result": None}) is None
