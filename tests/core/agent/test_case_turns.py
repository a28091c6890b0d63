"""Faults of tool calls and of replayed histories in other agents (cases T, R and P of agent.md)."""

import json

import anyio
import pytest

from rio_core.api import Delta, Done, Failure, Native, Opaque, Text, Thinking, Thought, ToolCall, ToolUse
from support.strict import faults
from support.work import Scripted, at_work, create, decision_on, edit, texts, tool

MADE_UP = "made_up"


def calls_of(request):
    return [block for message in request.messages for block in message.blocks if isinstance(block, ToolUse)]


# -- T: tool calls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["", " \n", {}, "{}"])
async def test_T1_a_call_without_input_has_an_empty_object(tmp_path, given):
    provider = Scripted([ToolCall("c", "fs_list", given), Done("tool_use")], [Delta("seen"), Done("end_turn")])
    async with at_work(tmp_path, {"f.txt": b""}, provider) as work:
        assert (await work.play("list")).NAME == "agent.message"
        (result,) = work.told()
        assert not result.is_error
        assert "f.txt" in result.text
        assert calls_of(work.requests[-1])[0].input == {}


@pytest.mark.parametrize("given", ['{"path": "a.py"', '{"path": "a.py", "text": "half', '{"path":"a.py"}', "nonsense"])
@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "tool_use"])
async def test_T2_T4_a_call_that_was_cut_off_proposes_nothing(tmp_path, given, stop):
    provider = Scripted([ToolCall("c", "propose_create", given), Done(stop)], [Delta("."), Done("end_turn")])
    async with at_work(tmp_path, {"f.txt": b""}, provider) as work:
        end = await work.play("create it")
        assert not work.journal.all("agent.propose")
        assert not (work.project / "a.py").exists()
        (result,) = work.results()
        assert not result.ok
        if stop == "tool_use":
            assert "nothing was run" in result.text
            assert work.told()[0].is_error
        else:
            assert end.NAME == "agent.message"
            assert (end.stop, bool(end.detail)) == (stop, True)
            assert "cut off by its length limit" in result.text


async def test_T2_a_whole_call_in_a_reply_that_was_cut_off_is_not_run_either(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        end = await work.play("/say I change it", edit("f.txt", "one", "two"), "/stop max_tokens")
        assert "cut off" in end.detail
        assert end.text == "I change it"
        assert not work.journal.all("agent.propose")
        await work.play("go on")
        assert faults(work.requests[-1].messages) == []


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ('{"pattern": "a\\ud99cb"}', "a\ufffdb"),
        ('{"pattern": "a\\ud83c\\udf4bb"}', "a\U0001f34bb"),
        ({"pattern": "a\ud99cb"}, "a\ufffdb"),
        ({"pattern": "a\ud83c\udf4bb"}, "a\U0001f34bb"),
    ],
)
async def test_T5_half_a_character_in_an_input_is_replaced_before_it_is_stored(tmp_path, given, stored):
    provider = Scripted([ToolCall("c", "fs_search", given), Done("tool_use")], [Delta("."), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        await work.play("x")
        assert calls_of(work.requests[-1])[0].input == {"pattern": stored}
        assert b"d99c" not in work.log.read_bytes()


@pytest.mark.parametrize("given", ['{"text": "\\ud99c", "path": "g.txt"}', '{"text": "x\\udc00", "path": "\\ud800"}'])
async def test_T5_half_a_character_in_a_proposal_harms_nobody(tmp_path, given):
    provider = Scripted([ToolCall("c", "propose_create", given), Done("tool_use")], [Delta("."), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        (shown,) = await work.proposed("x")
        assert (await work.decide(shown)).outcome == "applied"
        assert (await work.journal.end_of_turn()).NAME == "agent.message"
        assert "\ufffd" in (work.project / shown.path).read_text()


@pytest.mark.parametrize("given", ['{"a": NaN}', '{"a": 1e999}', "[" * 5000, '{"a":' * 900 + "1" + "}" * 900, "[]", "1"])
async def test_T5_what_is_no_json_object_is_an_error_that_the_model_can_read(tmp_path, given):
    provider = Scripted([ToolCall("c", "fs_list", given), Done("tool_use")], [Delta("."), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        assert (await work.play("x")).NAME == "agent.message"
        assert "not a JSON object" in work.told()[0].text
        await work.restart()
        provider.answers = [[Delta("."), Done("end_turn")]]
        await work.play("again")
        assert not faults(work.requests[-1].messages)


async def test_T5_own_cutting_never_halves_a_character(tmp_path):
    line = "\U0001f34b" * 5000
    async with at_work(tmp_path, {"f.txt": f"{line}\n".encode() * 30}) as work:
        await work.play(tool("fs_read", path="f.txt"), tool("fs_search", pattern="\U0001f34b"))
        for result in work.told():
            assert result.text.encode().decode() == result.text
            assert len(result.text) < 130_000


async def test_T6_a_name_that_is_no_utf8_is_listed_read_and_changed(tmp_path):
    async with at_work(tmp_path) as work:
        path = bytes(work.project) + b"/caf\xe9"
        with open(path, "wb") as file:
            file.write(b"black\n")
        await work.play(tool("fs_list"))
        listed = next(line for line in work.told()[0].text.split("\n") if line.startswith("caf"))
        name = listed.split("  ")[0]
        assert name == r"caf\xE9"
        await work.play(tool("fs_read", path=name))
        assert "black" in work.told()[0].text
        (shown,) = await work.proposed(edit(name, "black", "white"))
        done = await work.decide(shown)
        assert done.message == r"Applied to caf\xE9 and saved."
        await work.journal.end_of_turn()
        with open(path, "rb") as file:
            assert file.read() == b"white\n"
        await work.restart()
        await work.play("go on")
        assert not faults(work.requests[-1].messages)


@pytest.mark.parametrize("restarted", [False, True])
async def test_T8_an_id_that_occurs_again_is_sent_once_only(tmp_path, restarted):
    twice = [ToolCall("same", "fs_list", {}), Native({"id": "same"}), ToolCall("same", "buffer_list", {}), Native({})]
    provider = Scripted([*twice, Done("tool_use")], [*twice, Done("tool_use")], [Delta("."), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        await work.play("x")
        if restarted:
            await work.restart()
        provider.answers = [[Delta("."), Done("end_turn")]]
        await work.play("y")
        calls = calls_of(work.requests[-1])
        assert len({call.id for call in calls}) == len(calls) == 4
        # A native form holds the id that was not taken: it would bring it back.
        assert [call.native for call in calls] == [{"id": "same"}, None, None, None]


@pytest.mark.parametrize("name", ["", " \t"])
async def test_T8_a_call_without_a_name_or_id_is_answered_and_never_sent_back_so(tmp_path, name):
    provider = Scripted([ToolCall("", name, {}), Done("tool_use")], [Delta("."), Done("end_turn")])
    async with at_work(tmp_path, {}, provider) as work:
        assert (await work.play("x")).NAME == "agent.message"
        assert "There is no tool" in work.told()[0].text


async def test_T10_parallel_calls_are_answered_in_one_message(tmp_path):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        shown = await work.proposed(
            tool("fs_list"), edit("f.txt", "one", "1"), tool("no_such_tool"), create("g.txt", ""), count=2
        )
        await work.decide(shown[1], "reject", reason="no")
        await work.decide(shown[0])
        await work.journal.end_of_turn()
        uses = calls_of(work.requests[-1])
        told = work.told()
        assert [use.id for use in uses] == [result.id for result in told]
        assert [result.is_error for result in told] == [False, False, True, True]


# -- R: histories ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["stop", "send"])
async def test_R1_P4_an_interruption_answers_what_was_called(tmp_path, how):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        await work.proposed("/say I begin", tool("fs_list"), edit("f.txt", "one", "1"), edit("f.txt", "one", "2"), count=2)
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
            Thinking("I\u2028"), Thinking("think"), Native(NATIVE), Native(REDACTED, alone=True), Thinking(""), Native(TEXTLESS),
            Delta("Look:"), Native({"type": "text"}), ToolCall("c", "fs_list", {}), Native({"type": "tool_use"}), Done("tool_use"),
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
    files = {"wide.txt": b"x" * 3_000_000, "long.txt": b"line\n" * 1_000_000, "far.txt": b"\n" * 9_000_000}
    files |= {f"many/{'n' * 200}{number}": b"" for number in range(600)}
    async with at_work(tmp_path, files) as work:
        steps = [tool("fs_read", path=name) for name in ("wide.txt", "long.txt", "far.txt")]
        steps += [tool("fs_list", path="many"), tool("fs_search", pattern="line"), tool("fs_search", pattern="x")]
        await work.play(*steps)
        for result in work.told():
            assert not result.is_error
            assert len(result.text) <= 61_000
        assert "cut: 3000000 characters" in work.told()[0].text
        assert "of 1000001" in work.told()[1].text
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


# -- P: approvals and the queue --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["stop", "send", "reset", "decided"])
async def test_P3_a_decision_that_comes_too_late_does_nothing(tmp_path, how):
    async with at_work(tmp_path, {"f.txt": b"one\n"}) as work:
        (shown,) = await work.proposed(edit("f.txt", "one", "two"))
        if how == "stop":
            await work.call("agent.stop")
        elif how == "send":
            await work.send("another")
        elif how == "reset":
            await work.call("agent.reset")
        else:
            await work.decide(shown, "reject")
        for decision in ("approve", "reject"):
            assert (await work.refused("agent.approve", **decision_on(shown, decision))).kind == "not_found"
        assert (await work.refused("agent.proposal", turn=shown.turn, proposal=shown.proposal)).kind == "not_found"
        assert (await work.call("agent.status")).waiting == 0
        assert work.read("f.txt") == b"one\n"


@pytest.mark.parametrize("how", ["stop", "error"])
async def test_P7_queued_messages_are_handed_back_when_the_turn_does_not_end_well(tmp_path, how):
    async with at_work(tmp_path) as work:
        await work.send("/say one", "/pause 0.3", "/fail network gone")
        await work.journal.kind("agent.delta")
        first = await work.call("agent.send", text="two", queue=True)
        second = await work.call("agent.send", text="three", queue=True)
        shown = await work.call("agent.history")
        assert [(one.queued, one.text) for one in shown.queued] == [(first.queued, "two"), (second.queued, "three")]
        assert (await work.call("agent.status")).queued == 2
        if how == "stop":
            stopped = await work.call("agent.stop")
            assert (stopped.stopped, stopped.queued) == (1, ["two", "three"])
        else:
            assert (await work.journal.kind("agent.error")).queued == ["two", "three"]
        await anyio.sleep(0.05)
        status = await work.call("agent.status")
        assert (status.queued, status.running) == (0, None)
        assert len(work.requests) == 1


async def test_P7_queued_messages_are_sent_in_order_when_the_turn_ends_well(tmp_path):
    async with at_work(tmp_path) as work:
        await work.send("/pause 0.1")
        queued = [await work.call("agent.send", text=text, queue=True) for text in ("two", "gone", "three")]
        assert all(one.queued for one in queued)
        assert (await work.call("agent.unqueue", queued=queued[1].queued)).text == "gone"
        assert (await work.refused("agent.unqueue", queued=queued[1].queued)).kind == "not_found"
        ends = [await work.journal.end_of_turn() for _ in range(3)]
        assert [end.NAME for end in ends] == ["agent.message"] * 3
        assert [event.text for event in work.journal.all("agent.started")[1:]] == ["two", "three"]
        assert [event.text for event in work.journal.all("agent.queued")] == ["two", "gone", "three"]
        said = [block.text for message in work.requests[-1].messages for block in message.blocks]
        assert said.count("two") == said.count("three") == 1
        assert "gone" not in said


async def test_P7_queued_with_nothing_running_is_sent_at_once(tmp_path):
    async with at_work(tmp_path) as work:
        assert (await work.call("agent.send", text="now", queue=True)).turn
        assert (await work.journal.end_of_turn()).text == "echo: now"


async def test_P7_a_message_that_is_sent_at_once_passes_the_queue_and_loses_nothing_of_it(tmp_path):
    async with at_work(tmp_path) as work:
        await work.send("/pause 30")
        await work.call("agent.send", text="queued", queue=True)
        await work.send("at once")
        ends = [await work.journal.end_of_turn() for _ in range(3)]
        assert [end.NAME for end in ends] == ["agent.stopped", "agent.message", "agent.message"]
        assert [event.text for event in work.journal.all("agent.started")[1:]] == ["at once", "queued"]


async def test_S10_calls_of_a_reply_that_broke_off_are_neither_run_nor_kept(tmp_path):
    provider = Scripted(
        [Thinking("hm"), Delta("I will"), ToolCall("c", "propose_create", {"path": "f", "text": ""}),
         Failure("network", "The connection ended early.", "Send again.")],
        [Delta("."), Done("end_turn")],
    )  # fmt: skip
    async with at_work(tmp_path, {}, provider) as work:
        end = await work.play("x")
        assert (end.NAME, end.kind, end.message) == ("agent.error", "network", "The connection ended early.")
        assert not work.journal.all("agent.propose")
        await work.play("y")
        assert texts(work.requests[-1].messages) == ["x", "I will", "y"]
