"""Faults of histories that are sent again in other agents (cases R of agent.md)."""

import json

import pytest

from rio_core.api import Delta, Done, Native, Opaque, Text, Thinking, Thought, ToolCall, ToolUse
from support.strict import faults
from support.work import Scripted, at_work, create, edit, texts, tool

MADE_UP = "made_up"


def calls_of(request):
    return [block for message in request.messages for block in message.blocks if isinstance(block, ToolUse)]


@pytest.mark.parametrize("how", ["stop", "send"])
async def test_R1_P4_an_interruption_answers_what_was_called(tmp_path, how):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        await work.proposed(
            "/say I begin", tool("fs_list"), edit("f.txt", "one", "1"), edit("f.txt", "one", "2"), count=2
        )
        if how == "stop":
            assert (await work.call("agent.stop")).stopped == 1
        end = await work.play("go on") if how == "send" else await work.journal.end_of_turn()
        assert end.NAME == "agent.stopped"
        if how == "stop":
            await work.send("go on")
        assert (await work.journal.end_of_turn()).text == "echo: go on"
        (last,) = [request for request in work.requests if "go on" in texts(request.messages)]
        *results, said = last.messages[-1].blocks
        assert said == Text("go on")
        assert [result.is_error for result in results] == [False, True, True]
        assert all("Interrupted" in result.text for result in results[1:])
        resolved = work.journal.all("agent.resolved")
        assert [(one.decision, one.outcome, one.by) for one in resolved] == [("interrupted", "interrupted", "rio")] * 2
        assert work.read("f.txt") == b"one\n"


async def test_R3_blank_text_is_never_sent(tmp_path):
    provider = Scripted(
        [Delta(""), Delta(" \n"), ToolCall("c", "fs_read", {"path": "blank"}), Done("tool_use")],
        [Delta("\n"), Done("end_turn")],
        [Thinking(""), Done("end_turn")],
        [Done("end_turn")],
        [Delta("words"), Done("end_turn")],
    )
    async with at_work(tmp_path, {"blank": b"\n"}, provider) as work:
        for said in ("one", "two", "three"):
            assert (await work.play(said)).NAME == "agent.message"
        assert (await work.refused("agent.send", text="  \n\t ")).kind == "bad_message"
        assert (await work.refused("agent.send", text="")).kind == "bad_message"
        await work.play("four")
        # Each request was looked at by `requests`; what had no words joined what came after.
        last = work.requests[-1].messages
        assert [message.role for message in last] == ["user", "assistant", "user"]
        assert [block.text for block in last[-1].blocks if isinstance(block, Text)] == ["two", "three", "four"]


NATIVE = {"type": "thinking", "thinking": "I\u2028think", "signature": "c2ln", "n": 1, "z": None, "a": [1.5, True]}
REDACTED = {"type": "redacted_thinking", "data": "cmVk"}
TEXTLESS = {"type": "thinking", "thinking": "", "signature": "bm9uZQ=="}


def thinker(name="scripted"):
    return Scripted(
        [
            Thinking("I\u2028"), Thinking("think"), Native(NATIVE), Native(REDACTED, alone=True),
            Thinking(""), Native(TEXTLESS), Delta("Look:"), Native({"type": "text"}),
            ToolCall("c", "fs_list", {}), Native({"type": "tool_use"}), Done("tool_use"),
        ],
        [Delta("seen"), Done("end_turn")],
        [Delta("more"), Done("end_turn")],
        [Delta("other model"), Done("end_turn")],
        name=name,
    )  # fmt: skip


async def test_R5_thoughts_come_back_as_they_were_and_are_dropped_whole_under_another_model(tmp_path):
    provider = thinker()
    async with at_work(tmp_path, {}, provider) as work:
        await work.play("x")
        await work.restart()
        await work.play("y")
        for request in work.requests[1:3]:
            thought, redacted, textless, said, call = request.messages[1].blocks
            assert thought == Thought("I\u2028think", NATIVE)
            assert json.dumps(thought.native) == json.dumps(NATIVE)
            assert redacted == Opaque(REDACTED)
            assert textless.native == TEXTLESS
            assert (said.native, call.native) == ({"type": "text"}, {"type": "tool_use"})
        # An unchanged beginning stays the same.
        assert work.requests[2].messages[:3] == work.requests[1].messages
        await work.call("provider.select", name="scripted", model="another")
        await work.play("z")
        last = work.requests[-1]
        assert last.context != work.requests[0].context
        assert last.setup.model == "another"
        assert last.messages[1].blocks == (Text("Look:"), ToolUse("c", "fs_list", {}))


async def test_R5_another_provider_gets_plain_blocks_only(tmp_path):
    first, second = thinker("first"), Scripted([Delta("."), Done("end_turn")], name="second")
    async with at_work(tmp_path, {}, first, second) as work:
        await work.call("provider.select", name="first")
        await work.play("x")
        await work.call("provider.select", name="second")
        await work.play("y")
        (request,) = second.requests
        assert request.messages[1].blocks == (Text("Look:"), ToolUse("c", "fs_list", {}))
        assert not faults(request.messages)


@pytest.mark.parametrize(
    "blocks", [[], [Thinking("hm"), Native(NATIVE)], [Delta("I would")], [ToolCall("c", "propose_create", {})]]
)
async def test_R8_a_refusal_is_told_with_its_category_and_is_not_sent_again(tmp_path, blocks):
    provider = Scripted([*blocks, Done("refusal", detail="Category: cyber.")], [Delta("fine"), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        end = await work.play("something bad")
        assert (end.NAME, end.kind) == ("agent.error", "request_rejected")
        assert "declined" in end.message
        assert "Category: cyber." in end.message
        assert end.action
        await work.play("something good")
        assert texts(work.requests[-1].messages) == ["something good"]
        shown = await work.call("agent.history")
        # What was said stays readable, and so does what had been answered.
        assert shown.messages[0].blocks[0]["text"] == "something bad"
        assert ("I would" in str(shown.messages[1].blocks)) == (blocks == [Delta("I would")])


async def test_R9_a_pause_is_continued_within_bounds(tmp_path):
    pauses = [[Delta(f"part {number}. "), Done("pause_turn")] for number in range(2)]
    provider = Scripted(*pauses, [Delta("end"), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        end = await work.play("x")
        assert end.text == "part 0. part 1. end"
        assert [message.role for message in work.requests[-1].messages] == ["user", "assistant"]


@pytest.mark.parametrize("text", ["again ", ""])
async def test_R9_a_model_that_only_pauses_is_ended(tmp_path, text):
    provider = Scripted(*[[Delta(text), Done("pause_turn")] for _ in range(30)])
    async with at_work(tmp_path, {}, provider) as work:
        end = await work.play("x")
        assert end.stop == "pause_turn"
        assert "paused" in end.detail
        assert len(work.requests) == 11


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ("max_tokens", "cut off"),
        ("model_context_window_exceeded", "context"),
        (MADE_UP, "does not know"),
        ("", "does not know"),
        ("end_turn", ""),
        ("stop_sequence", ""),
    ],
)
async def test_R9_each_reason_to_stop_is_told_for_what_it_is(tmp_path, stop, said):
    async with at_work(tmp_path, {}, Scripted([Delta("text"), Done(stop)])) as work:
        end = await work.play("x")
        assert (end.text, end.stop) == ("text", stop)
        assert said in end.detail
        assert bool(said) == bool(end.detail)
        shown = await work.call("agent.history")
        assert shown.messages[-1].stop == stop


async def test_R9_calls_in_a_reply_that_stopped_for_an_unknown_reason_are_not_run(tmp_path):
    async with at_work(tmp_path) as work:
        end = await work.play(create("f.txt", "x"), f"/stop {MADE_UP}")
        assert end.stop == MADE_UP
        assert not work.journal.all("agent.propose")
        assert "Not run" in work.results()[0].text


async def test_R10_no_answer_of_a_tool_fills_the_context(tmp_path):
    files = {"wide.txt": b"x" * 300_000, "long.txt": b"line\n" * 100_000, "far.txt": b"\n" * 9_000_000}
    files |= {f"many/{'n' * 200}{number}": b"" for number in range(600)}
    async with at_work(tmp_path, files) as work:
        steps = [tool("fs_read", path=name) for name in ("wide.txt", "long.txt", "far.txt")]
        steps += [tool("fs_list", path="many"), tool("fs_search", pattern="line", path="long.txt")]
        steps += [tool("fs_search", pattern="x", path="wide.txt")]
        await work.play(*steps)
        for result in work.told():
            assert not result.is_error
            assert len(result.text) <= 61_000
        assert "cut: 300000 characters" in work.told()[0].text
        assert "of 100001" in work.told()[1].text
        assert "only the first 8388608 bytes" in work.told()[2].text
        # The way out that needs no request:
        await work.call("agent.reset")
        await work.play("fresh")
        assert texts(work.requests[-1].messages) == ["fresh"]


@pytest.mark.parametrize("cut", [1, 10, 60])
async def test_R11_half_an_entry_at_the_end_is_lost_alone_and_told(tmp_path, cut):
    async with at_work(tmp_path) as work:
        await work.play("one")
        await work.play("two")
        log = work.log
        await work.stop()
        data = log.read_bytes()
        last = data.rstrip(b"\n").rfind(b"\n") + 1
        log.write_bytes(data[: last + cut])
        await work.start()
        shown = await work.call("agent.history")
        assert "1 entry of the conversation could not be read" in shown.notices[0]
        assert [message.blocks[0]["text"] for message in shown.messages] == ["one", "echo: one", "two", "echo: two"]
        await work.play("three")
        assert texts(work.requests[-1].messages)[-1] == "three"
        await work.restart()
        assert (await work.call("agent.history")).total == 6


DAMAGE = [
    b"", b"not json", b"\xff\xfe\x00", b"[]", b"null", b"{}", b'{"record":"answer"}', b'{"record":"newer","a":1}',
    b"\0" * 100, b'{"record":"said","turn":"t","texts":[5]}', b'{"record":"said","turn":"t9","texts":["a\\ud800b"]}',
    b'{"record":"answer","turn":"t9","blocks":[{"type":"tool_call","id":"","name":"x"}],"stop":"","provider":"echo","context":""}',
    b'{"record":"answer","turn":"t9","blocks":[{"type":"tool_call","id":"a","name":"x","input":{"n":NaN}}],"stop":"","provider":"echo","context":""}',
    b'{"record":"answer","turn":"t9","blocks":[{"type":"text","text":" "}],"stop":"","provider":"echo","context":""}',
    b'{"record":"result","turn":"t9","call":"nobody","text":"x","ok":true}',
    b"[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("line", DAMAGE, ids=range(len(DAMAGE)))
@pytest.mark.parametrize("where", [0, 1, -1])
async def test_R11_damage_anywhere_costs_its_own_line_only(tmp_path, line, where):
    async with at_work(tmp_path) as work:
        await work.play(tool("fs_list"), "/then", "/say seen")
        await work.stop()
        (log,) = work.home.rglob("*.jsonl")
        lines = log.read_bytes().splitlines()
        lines.insert(where % len(lines), line)
        log.write_bytes(b"\n".join(lines) + b"\n")
        await work.start()
        await work.play("go on")
        said = texts(work.requests[-1].messages)
        assert said[-1] == "go on"
        assert "seen" in said
        assert work.log == log


async def test_R11_a_file_whose_beginning_is_lost_still_begins_with_the_user(tmp_path):
    async with at_work(tmp_path) as work:
        await work.play(tool("fs_list"))
        await work.stop()
        (log,) = work.home.rglob("*.jsonl")
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for line in lines if b'"said"' not in line))
        await work.start()
        await work.play("go on")
        assert "could not be read" in texts(work.requests[-1].messages)[0]


async def test_R13_a_call_without_a_result_at_the_end_is_answered_at_the_next_start(tmp_path):
    async with at_work(tmp_path) as work:
        await work.play(tool("fs_list"), tool("buffer_list"))
        log = work.log
        await work.stop()
        lines = log.read_bytes().splitlines(keepends=True)
        index = next(number for number, line in enumerate(lines) if b'"result"' in line)
        log.write_bytes(b"".join(lines[:index]))
        await work.start()
        assert (await work.call("agent.status")).running is None
        await work.play("go on")
        *results, said = work.requests[-1].messages[-1].blocks
        assert said == Text("go on")
        assert [result.is_error for result in results] == [True, True]
        # The repair was written when it was made: the next start has nothing to mend.
        size = log.stat().st_size
        await work.restart()
        assert log.stat().st_size == size


async def test_R13_a_decision_whose_result_was_lost_is_told_for_what_it_was(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        done = await work.decide(shown)
        await work.journal.end_of_turn()
        log = work.log
        await work.stop()
        lines = log.read_bytes().splitlines(keepends=True)
        index = next(number for number, line in enumerate(lines) if b'"decided"' in line)
        log.write_bytes(b"".join(lines[: index + 1]))
        await work.start()
        await work.play("go on")
        result = work.requests[-1].messages[-1].blocks[0]
        assert (result.text, result.is_error) == (done.message, False)
