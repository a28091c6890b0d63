"""Conversations of every kind against a server that keeps the rules of the API: none earns a 400."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude import strict_rules
from claude.rig import Posts, asked, setup
from claude.servers import Strict, strict_server
from rio_core.api import (
    Block,
    Delta,
    Done,
    Message,
    Native,
    Opaque,
    Text,
    Thinking,
    Thought,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolUse,
)  # fmt: skip
from rio_provider_claude.provider import Claude
from support.profiles import examples

TOOLS = tuple(
    ToolSpec(name, f"Does {name}.", {"type": "object", "properties": {"path": {"type": "string"}}})
    for name in ("fs_read", "fs_list", "run_command")
)
SYSTEMS: tuple[tuple[str, ...], ...] = (("You are rio.",), ("You are rio.", "Answer in verse."), ())


@pytest.fixture(scope="module")
def server() -> Iterator[Strict]:
    with strict_server() as running:
        yield running


@dataclass
class Core:
    """What rio's core promises a provider, in small: blocks are kept, and thoughts handed to their own context only."""

    context: tuple[Any, ...] = ()
    record: list[tuple[str, tuple[Any, ...], list[Block]]] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.record.append(("user", (), [Text(text)]))

    def messages(self) -> tuple[Message, ...]:
        merged: list[tuple[Any, list[Block]]] = []
        for role, context, blocks in self.record:
            kept = [block for block in blocks if context == self.context or not isinstance(block, Thought | Opaque)]
            if not kept:
                continue
            if merged and merged[-1][0] == role:
                merged[-1][1].extend(kept)
            else:
                merged.append((role, kept))
        return tuple(Message(role, tuple(blocks)) for role, blocks in merged)

    def keep(self, posts: Posts) -> list[str]:
        """Store an answer; the ids of its calls."""
        blocks: list[Block] = []
        kind: type[Text | Thought] | None = None
        run = ""

        def close(native: Any = None) -> None:
            nonlocal kind, run
            if kind is Thought or (kind is Text and run.strip()):
                blocks.append(kind(run, native))
            kind, run = None, ""

        for post in posts:
            match post:
                case Delta(text) | Thinking(text):
                    now: type[Text | Thought] = Text if isinstance(post, Delta) else Thought
                    if kind is not now:
                        close()
                    kind, run = now, run + text
                case ToolCall(id=name, name=tool, input=given):
                    close()
                    blocks.append(ToolUse(name, tool, given if not isinstance(given, str) else {}))
                case Native(data, alone=True):
                    close()
                    blocks.append(Opaque(data))
                case Native(data) if kind is None:
                    last = blocks[-1]
                    assert isinstance(last, ToolUse)
                    blocks[-1] = ToolUse(last.id, last.name, last.input, data)
                case Native(data):
                    close(data)
                case _:
                    close()
        self.record.append(("assistant", self.context, blocks))
        return [block.id for block in blocks if isinstance(block, ToolUse)]


WORDS = st.sampled_from(["Hm.", "Look here.", "\n\n", " ", "", "漢字 🌊", 'quote " and \\'])


def answers(turn: str) -> st.SearchStrategy[dict[str, Any]]:
    text = st.builds(lambda words: {"type": "text", "text": words}, WORDS)
    thinking = st.builds(lambda words: {"type": "thinking", "thinking": words}, WORDS)
    redacted = st.just({"type": "redacted_thinking"})
    given = st.sampled_from(
        [{}, {"path": "a.py"}, {"path": "é 🌊", "deep": [1, {"x": None}]}, '{"path":"cut', "[1]", ""]
    )
    call = st.builds(
        lambda given: {"type": "tool_use", "name": "fs_read", "input": given, "caller": {"type": "direct"}}, given
    )
    server = st.just({"type": "server_tool_use", "name": "web_search", "input": {"query": "tides"}})

    def numbered(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = []
        for place, block in enumerate(blocks):
            calls = block["type"] in ("tool_use", "server_tool_use")
            made.append({**block, "id": f"{block['type']}_{turn}_{place}"} if calls else block)
        return made

    def stopped(blocks: list[dict[str, Any]], cut: bool) -> dict[str, Any]:
        kinds = {block["type"] for block in blocks}
        if cut:
            reason = "max_tokens"
        elif "tool_use" in kinds:
            reason = "tool_use"
        else:
            reason = "pause_turn" if "server_tool_use" in kinds else "end_turn"
        return {"blocks": numbered(blocks), "stop": reason}

    blocks = st.lists(st.one_of(text, thinking, redacted, call, call, server), max_size=5)
    return st.builds(stopped, blocks, st.booleans() if turn.endswith("0") else st.just(False))


MODELS = st.sampled_from(sorted(strict_rules.MODELS))
SETTINGS = st.fixed_dictionaries(
    {
        "effort": st.sampled_from(["default", "low", "medium", "high", "xhigh", "max"]),
        "thinking": st.sampled_from(["summarized", "omitted", "off"]),
        "max_tokens": st.sampled_from([0, 0, 1, 4000, 100_000, 1_000_000]),
        "api_version": st.sampled_from(["2026-10-21", "2023-06-01"]),
    }
)


async def converse(server: Strict, data: st.DataObject) -> None:
    server.reset()
    core, provider = Core(), Claude()
    settings: dict[str, Any]
    model, settings, system, tools = "claude-opus-5-5", data.draw(SETTINGS), SYSTEMS[0], TOOLS
    steps = 0
    for turn in range(data.draw(st.integers(1, 5))):
        if data.draw(st.booleans()):
            model = data.draw(MODELS)
            settings = data.draw(SETTINGS)
        if data.draw(st.integers(0, 3)) == 0:
            system, tools = data.draw(st.sampled_from(SYSTEMS)), data.draw(st.sampled_from([TOOLS, TOOLS[:1], ()]))
        if model == "claude-unlisted-1":
            settings = {**settings, "max_tokens": min(settings["max_tokens"], 8_192)}
        core.context = (model, system, tools)
        core.say(data.draw(st.sampled_from(["Go on.", "What is this? 🌊", "```\ncode\n```"])))
        for step in range(4):
            answer = data.draw(answers(f"{turn}{step}"))
            server.answer(answer)
            posts = Posts()
            request = asked(setup(server.url, model=model, **settings), *core.messages(), tools=tools, system=system)
            await provider.respond(request, posts)
            assert server.refused() == []
            end = posts[-1]
            assert isinstance(end, Done)
            assert end.stop == answer["stop"]
            steps += 1
            calls = core.keep(posts)
            if calls:
                results = [
                    ToolResult(name, data.draw(st.sampled_from(["1: x", "", "\n", "no"])), data.draw(st.booleans()))
                    for name in calls
                ]
                core.record.append(("user", (), list(results)))
                if end.stop != "tool_use":
                    break
            elif end.stop != "pause_turn" or not core.record[-1][2]:
                break
    assert steps


@examples(ci=60, deep=2000)
@given(data=st.data())
def test_no_conversation_is_refused(server: Strict, data: st.DataObject) -> None:
    anyio.run(converse, server, data)
