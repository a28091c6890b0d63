"""Events to what is posted, beyond the samples."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude.rig import HELLO, START, begun, delta, ended, event, stop, text
from claude.test_samples import decoded
from rio_core.api import Delta, Done, Failure, Native, Posted, Thinking, ToolCall, Usage
from rio_provider_claude.inference.decode import Decoder
from rio_provider_claude.inference.usage import Tally
from support.profiles import examples

CALL = {"type": "tool_use", "id": "toolu_1", "name": "fs_read", "input": {}}


def call(*pieces: str, index: int = 0, close: bool = True, name: str = "toolu_1") -> bytes:
    deltas = b"".join(delta(index, "input_json_delta", partial_json=piece) for piece in pieces)
    return begun(index, **{**CALL, "id": name}) + deltas + (ended(index) if close else b"")


def played(*parts: bytes) -> list[Posted]:
    return decoded([START, *parts])


def done(posts: list[Posted]) -> Done:
    assert isinstance(posts[-1], Done), posts
    return posts[-1]


def calls(posts: list[Posted]) -> list[Any]:
    return [post.input for post in posts if isinstance(post, ToolCall)]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
@pytest.mark.parametrize("pieces", [[], [""], ['{"path":"a.py"'], ['{"path":"a.py"', ',"te']])
def test_T2_a_call_that_may_be_half_is_not_posted(reason: str, pieces: list[str]) -> None:
    posts = played(text("Writing.", 0), call(*pieces, index=1), stop(reason))
    assert calls(posts) == []
    assert done(posts).stop == reason
    assert "cut off" in done(posts).detail


def test_T2_a_whole_call_before_the_cut_is_posted() -> None:
    posts = played(
        call(index=0), call('{"path":"a.py"}', index=1, name="toolu_2"), call('{"pa', index=2), stop("max_tokens")
    )
    assert calls(posts) == [{}, {"path": "a.py"}]


def test_T4_the_stop_reason_comes_while_a_call_is_open() -> None:
    posts = played(text("So."), call('{"pa', index=1, close=False), stop("max_tokens"))
    assert [type(post) for post in posts] == [Delta, Native, Done]


def test_a_text_that_is_open_at_the_end_is_kept() -> None:
    posts = played(begun(0, type="text", text=""), delta(0, "text_delta", text="Half"), stop("max_tokens"))
    assert posts[:2] == [Delta("Half"), Native({"type": "text", "text": "Half"})]


def test_a_call_without_end_is_no_answer() -> None:
    posts = played(call('{"pa', close=False), stop("tool_use"))
    assert calls(posts) == []
    assert isinstance(posts[-1], Failure)
    assert posts[-1].kind == "unexpected_response"


@pytest.mark.parametrize(
    "raw", ["{", '{"a":1}}', "[1]", "null", '"x"', "17", '{"a":NaN}', '{"a":1e999}', "[" * 100_000, "9" * 5000]
)
def test_an_input_that_is_no_object_is_posted_as_text(raw: str) -> None:
    posts = played(call(raw), stop("tool_use"))
    assert calls(posts) == [raw]
    assert not [post for post in posts if isinstance(post, Native)]
    assert done(posts).stop == "tool_use"


def test_S10_a_call_that_the_connection_cuts_is_not_posted() -> None:
    for parts in ([call('{"pa', close=False)], [call('{"pa')], [call()]):
        posts = played(*parts)
        assert calls(posts) == []
        assert isinstance(posts[-1], Failure)
        assert "ended early" in posts[-1].message


def test_T5_half_characters() -> None:
    whole = played(
        begun(0, type="text", text=""),
        *(delta(0, "text_delta", text=piece) for piece in ["a\ud83c", "\udf0a", "b\ud99c", "c", "\udc00", "d\ud83c"]),
        ended(0),
        stop("end_turn"),
    )
    told = "a🌊b\ufffdc\ufffdd\ufffd"
    assert "".join(post.text for post in whole if isinstance(post, Delta)) == told
    assert [post.data["text"] for post in whole if isinstance(post, Native)] == [told]
    json.dumps([post.data for post in whole if isinstance(post, Native)], ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"p":"\\ud83c', '\\udf0a \\ud99c"}'],
        ['{"p":"\ud83c', '\udf0a \ud99c"}'],
        ['{"p":"\\ud8', '3c\\udf0a \\ud99c"}'],
    ],
)
def test_T5_half_characters_in_a_call(pieces: list[str]) -> None:
    posts = played(call(*pieces), stop("tool_use"))
    assert calls(posts) == [{"p": "🌊 \ufffd"}]
    assert posts[1] == Native({**CALL, "input": {"p": "🌊 \ufffd"}})


def test_blocks_that_come_mixed_are_posted_one_after_another() -> None:
    posts = played(
        begun(0, type="text", text=""),
        begun(1, type="text", text=""),
        delta(1, "text_delta", text="second"),
        delta(0, "text_delta", text="fi"),
        ended(1),
        call('{"a":1}', index=2),
        delta(0, "text_delta", text="rst"),
        ended(0),
        text("third", 3),
        stop("tool_use"),
    )
    assert posts[:-1] == [
        Delta("fi"), Delta("rst"), Native({"type": "text", "text": "first"}),
        Delta("second"), Native({"type": "text", "text": "second"}),
        ToolCall("toolu_1", "fs_read", {"a": 1}), Native({**CALL, "input": {"a": 1}}),
        Delta("third"), Native({"type": "text", "text": "third"}),
    ]  # fmt: skip


def test_a_text_block_keeps_what_belongs_to_it() -> None:
    posts = played(
        begun(0, type="text", text="So", citations=None, extra=1),
        delta(0, "text_delta", text=" it is."),
        delta(0, "citations_delta", citation={"type": "char_location", "cited_text": "it is"}),
        delta(0, "sparkle_delta", glitter=3),
        ended(0),
        stop("end_turn"),
    )
    native = {
        "type": "text",
        "text": "So it is.",
        "citations": [{"type": "char_location", "cited_text": "it is"}],
        "extra": 1,
    }
    assert posts[:-1] == [Delta("So"), Delta(" it is."), Native(native)]


def test_an_empty_text_block_leaves_no_trace() -> None:
    assert played(begun(0, type="text", text=""), ended(0), stop("end_turn"))[:-1] == []


def test_R5_thinking_is_kept_with_its_signature() -> None:
    posts = played(
        begun(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm."),
        delta(0, "signature_delta", signature="first"),
        delta(0, "signature_delta", signature="c2ln"),
        ended(0),
        begun(1, type="thinking", thinking="", signature=""),
        delta(1, "signature_delta", signature="b25seQ=="),
        ended(1),
        begun(2, type="redacted_thinking", data="b3BhcXVl"),
        ended(2),
        stop("end_turn"),
    )
    assert posts[:-1] == [
        Thinking("Hm."), Native({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
        Thinking(""), Native({"type": "thinking", "thinking": "", "signature": "b25seQ=="}),
        Thinking(""), Native({"type": "redacted_thinking", "data": "b3BhcXVl"}),
    ]  # fmt: skip


@pytest.mark.parametrize("close", [True, False])
def test_thinking_that_was_never_signed_is_shown_only(close: bool) -> None:
    parts = [begun(0, type="thinking", thinking="", signature=""), delta(0, "thinking_delta", thinking="Hm.")]
    posts = played(*parts, *([ended(0)] if close else []), stop("max_tokens"))
    assert posts[:-1] == [Thinking("Hm.")]


@pytest.mark.parametrize(
    "lost",
    [
        call("[1]"),
        begun(0, type="hologram") + delta(0, "hologram_delta", data="half") + ended(0),
        begun(0, type="server_tool_use", id="s", name="n", input={})
        + delta(0, "input_json_delta", partial_json="{")
        + ended(0),
    ],
)
def test_a_thought_behind_what_cannot_be_sent_back_is_shown_only(lost: bytes) -> None:
    redacted = begun(1, type="redacted_thinking", data="b3BhcXVl") + ended(1)
    posts = played(
        lost,
        redacted,
        begun(2, type="thinking", thinking="", signature=""),
        delta(2, "thinking_delta", thinking="Hm."),
        delta(2, "signature_delta", signature="c2ln"),
        ended(2),
        text("So.", 3),
        stop("end_turn"),
    )
    shown = [post for post in posts if not isinstance(post, ToolCall)]
    assert shown[:-1] == [Thinking("Hm."), Delta("So."), Native({"type": "text", "text": "So."})]


def test_what_is_not_known_is_kept_or_skipped() -> None:
    odd = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "x", "deep": [1, None]}]}
    posts = played(
        event("novelty", payload=1),
        begun(0, **odd),
        ended(0),
        begun(1, type="hologram", data=""),
        delta(1, "hologram_delta", data="half"),
        ended(1),
        begun(2, type="server_tool_use", id="srvtoolu_2", name="web_search", input={}),
        delta(2, "input_json_delta", partial_json='{"query":"cut'),
        ended(2),
        stop("max_tokens"),
    )
    assert posts[:-1] == [Native(odd, alone=True)]


@pytest.mark.parametrize(
    ("reason", "shown"), [("made_up", "made_up"), ("a\u202eb\n" + "x" * 90, "a\\u{202E}b " + "x" * 56 + "…")]
)
def test_R9_an_unknown_stop_reason_is_shown(reason: str, shown: str) -> None:
    assert done(played(text("Hi."), stop(reason))).stop == shown


def test_a_null_stop_reason_before_the_last_is_passed_over() -> None:
    early = event("message_delta", delta={"stop_reason": None}, usage={"output_tokens": 3})
    assert done(played(text("Hi."), early, stop("end_turn"))).stop == "end_turn"
    late = event("message_delta", delta={"stop_reason": None}, usage={"output_tokens": 7})
    last = stop("end_turn").split(b"\n\n")
    posts = played(text("Hi."), last[0] + b"\n\n", late, last[1] + b"\n\n")
    assert done(posts).stop == "end_turn"


def test_an_answer_without_any_stop_reason_is_none() -> None:
    posts = played(text("Hi."), event("message_stop"))
    assert isinstance(posts[-1], Failure)
    assert "without a reason" in posts[-1].message


@pytest.mark.parametrize("broken", [None, Failure("network", "x", "y")])
def test_an_answer_that_lacks_only_its_last_event_is_whole(broken: Failure | None) -> None:
    decoder = Decoder("claude-opus-5-5")
    for part in (START, text("Hi."), stop("end_turn")):
        for data in part.decode().split("\n\n")[:-1]:
            if "message_stop" not in data:
                decoder.take(data.partition("data: ")[2])
    decoder.close(broken)
    assert isinstance(decoder.end, Done)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", "server"), ("api_error", "server"), ("timeout_error", "server"), ("brand_new", "server"),
        ("rate_limit_error", "rate_limited"), ("authentication_error", "authentication"),
        ("permission_error", "authentication"), ("invalid_request_error", "request_rejected"),
        ("billing_error", "request_rejected"), ("not_found_error", "request_rejected"),
        ("request_too_large", "request_rejected"),
    ],
)  # fmt: skip
def test_S8_an_error_event_keeps_the_text_and_is_named(kind: str, expected: str) -> None:
    wrong = event("error", error={"type": kind, "message": "Too\u202e busy"}, request_id="req_body")
    posts = decoded([START + begun(0, type="text", text="") + delta(0, "text_delta", text="Partial") + wrong + HELLO])
    assert posts[0] == Delta("Partial")
    assert isinstance(posts[1], Usage)
    end = posts[2]
    assert isinstance(end, Failure)
    assert end.kind == expected
    assert end.message == f"Claude broke the reply off with {kind}: “Too\\u{{202E}} busy” (request req_header)."
    assert end.action
    assert len(posts) == 3


def test_an_error_event_without_words_is_a_failure_too() -> None:
    end = decoded([event("error")])[-1]
    assert isinstance(end, Failure)
    assert (end.kind, end.message) == ("server", "Claude broke the reply off with an error (request req_header).")


@pytest.mark.parametrize(
    "raw",
    [
        "{", "[]", "1", '{"a":1}', '{"type":3}', '{"type":"message_start"}', '{"type":"content_block_start"}',
        '{"type":"content_block_start","index":0,"content_block":{}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"x"}}',
        '{"type":"content_block_start","index":"0","content_block":{"type":"text"}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}',
        '{"type":"content_block_stop","index":4}', '{"type":"message_delta"}',
        '{"type":"message_delta","delta":{"stop_reason":7}}', '{"type":"message_stop"}',
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_failure(raw: str) -> None:
    decoder = Decoder("claude-opus-5-5")
    decoder.take(raw)
    assert isinstance(decoder.end, Failure)
    assert decoder.end.kind == "unexpected_response"


@pytest.mark.parametrize(
    "raw",
    [
        delta(0, "text_delta"), delta(0, "text_delta", text=4), event("content_block_delta", index=0, delta=None),
        begun(0, type="text", text=""), delta(1, "text_delta", text="x"),
        event("content_block_delta", index=[0], delta={}),
    ],
)  # fmt: skip
def test_a_part_that_does_not_fit_is_a_failure(raw: bytes) -> None:
    posts = played(begun(0, type="text", text=""), raw)
    assert isinstance(posts[-1], Failure)
    assert posts[-1].kind == "unexpected_response"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "index", "text", "input"]), inner)
    ),
    max_leaves=6,
)
LINES = [line for line in (HELLO + call('{"a":1}', index=1)).decode().split("\n\n") if line]


@examples(ci=300, deep=5000)
@given(data=st.data())
def test_no_event_makes_the_decoder_raise_and_there_is_one_end(data: st.DataObject) -> None:
    decoder = Decoder("claude-opus-5-5")
    posts: list[Posted] = []
    for _ in range(data.draw(st.integers(1, 12))):
        value = json.loads(data.draw(st.sampled_from(LINES)).partition("data: ")[2])
        if data.draw(st.booleans()):
            target = data.draw(st.sampled_from([value, *(part for part in value.values() if isinstance(part, dict))]))
            target[data.draw(st.sampled_from([*target, "index", "type"]))] = data.draw(JSON_VALUES)
        posts += decoder.take(json.dumps(value))
        if decoder.end:
            break
    else:
        posts += decoder.close()
    assert isinstance(decoder.end, Done | Failure)
    assert not [post for post in posts if isinstance(post, Done | Failure)]
    json.dumps([post.data for post in posts if isinstance(post, Native)], allow_nan=False, ensure_ascii=False).encode()


def tally(**counts: Any) -> Tally:
    made = Tally()
    made.update(counts)
    return made


def test_usage_is_overwritten_and_not_added() -> None:
    made = tally(input_tokens=10, output_tokens=1, cache_read_input_tokens=7)
    made.update({"output_tokens": 5, "input_tokens": None, "cache_read_input_tokens": 9})
    made.update({"output_tokens": 8})
    usage = made.usage("claude-opus-5-5", "m")
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (10, 8, 9, 0)


@pytest.mark.parametrize("odd", [None, 3, {"input_tokens": "7"}, {"input_tokens": -1}, {"output_tokens": 1.5}])
def test_usage_that_makes_no_sense_is_passed_over(odd: Any) -> None:
    made = tally(input_tokens=10, output_tokens=2)
    made.update(odd)
    usage = made.usage("claude-opus-5-5", "m")
    assert (usage.input, usage.output) == (10, 2)


@pytest.mark.parametrize(
    ("model", "counts", "dollars"),
    [
        ("claude-opus-5-5", {"input_tokens": 1_000_000}, 4.0),
        ("claude-opus-5-5", {"output_tokens": 1_000_000}, 20.0),
        ("claude-opus-5-5", {"cache_read_input_tokens": 1_000_000}, 0.4),
        ("claude-opus-5-5", {"cache_creation_input_tokens": 1_000_000}, 5.0),
        (
            "claude-opus-5-5",
            {"cache_creation_input_tokens": 1_000_000, "cache_creation": {"ephemeral_1h_input_tokens": 400_000}},
            6.2,
        ),
        (
            "claude-haiku-5-5",
            {"input_tokens": 60_000, "cache_read_input_tokens": 40_000, "output_tokens": 1000},
            0.0069,
        ),
        (
            "claude-haiku-5-5",
            {"input_tokens": 60_001, "cache_read_input_tokens": 40_000, "output_tokens": 1000},
            0.0345005,
        ),
        ("claude-haiku-4-5", {"input_tokens": 1_000_000}, 1.0),
    ],
)
def test_costs_come_from_the_dated_table(model: str, counts: dict[str, Any], dollars: float) -> None:
    usage = tally(**counts).usage(model, "m")
    assert usage.cost == pytest.approx(dollars)
    assert usage.estimate == "list prices of 2026-12-01"


def test_the_cost_of_an_unknown_model_is_unknown() -> None:
    usage = tally(input_tokens=5).usage("claude-next-9", "m")
    assert (usage.cost, usage.estimate) == (None, "")
