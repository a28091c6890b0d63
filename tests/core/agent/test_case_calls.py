"""Faults of tool calls in other agents (cases T and S10 of agent.md)."""

import os

import pytest

from rio_core.api import Delta, Done, Failure, Native, Thinking, ToolCall, ToolUse
from support.strict import faults
from support.work import Scripted, at_work, create, edit, texts, tool

MADE_UP = "made_up"


def calls_of(request):
    return [block for message in request.messages for block in message.blocks if isinstance(block, ToolUse)]


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


@pytest.mark.parametrize(
    "given", ['{"a": NaN}', '{"a": 1e999}', "[" * 5000, '{"a":' * 900 + "1" + "}" * 900, "[]", "1"]
)
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
        path = work.project / os.fsdecode(b"caf\xe9")
        path.write_bytes(b"black\n")
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
        assert path.read_bytes() == b"white\n"
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
