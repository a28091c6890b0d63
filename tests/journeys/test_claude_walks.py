"""The agent with the Claude provider against a server that keeps the rules of the API, in any order of events."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rio_provider_claude
from claude import strict_rules
from claude.rig import KEY
from claude.servers import Strict, strict_server
from rio_core.protocol import RioError
from support.living import working
from support.profiles import examples

Step = tuple[str, Any]

WORDS = st.sampled_from(["Hm.", "Look here.", "\n\n", " ", "", "漢字 🌊", 'quote " and \\'])
INPUTS = st.sampled_from(
    [{}, {"path": "a.txt"}, {"path": "../x"}, {"odd": [1, {"x": None}]}, '{"path":"cut', "[1]", ""]
)
EDITS = st.builds(
    lambda old, new: {"path": "a.txt", "old": old, "new": new}, st.sampled_from("abcd"), st.sampled_from("xyz")
)
BLOCKS = st.one_of(
    st.builds(lambda words: {"type": "text", "text": words}, WORDS),
    st.builds(lambda words: {"type": "thinking", "thinking": words}, WORDS),
    st.just({"type": "redacted_thinking"}),
    st.builds(
        lambda name, given: {"type": "tool_use", "name": name, "input": given},
        st.sampled_from(["fs_read", "fs_list", "no_such_tool"]),
        INPUTS,
    ),
    st.builds(lambda given: {"type": "tool_use", "name": "propose_edit", "input": given}, EDITS),
    st.just({"type": "server_tool_use", "name": "web_search", "input": {"query": "tides"}}),
)


def _answer(blocks: list[dict[str, Any]], odd: str | None) -> dict[str, Any]:
    kinds = {block["type"] for block in blocks}
    usual = "tool_use" if "tool_use" in kinds else "pause_turn" if "server_tool_use" in kinds else "end_turn"
    return {"blocks": blocks, "stop": None if odd == "broken" else odd or usual}


ODD = st.sampled_from([None] * 6 + ["max_tokens", "refusal", "model_context_window_exceeded", "made_up", "broken"])
ANSWERS = st.lists(st.builds(_answer, st.lists(BLOCKS, max_size=4), ODD), max_size=4)
PROPOSING = st.builds(
    lambda given, rest: [
        {
            "blocks": [
                {"type": "thinking", "thinking": "A change."},
                {"type": "tool_use", "name": "propose_edit", "input": given},
            ],
            "stop": "tool_use",
        },
        *rest,
    ],
    EDITS,
    ANSWERS,
)
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(st.just("send"), ANSWERS),
        st.tuples(st.just("send"), PROPOSING),
        st.tuples(st.just("queue"), ANSWERS),
        st.tuples(st.just("decide"), st.sampled_from(["approve", "reject"])),
        st.tuples(st.just("decide"), st.just("approve")),
        st.tuples(st.just("stop"), st.none()),
        st.tuples(st.just("model"), st.sampled_from(sorted(strict_rules.MODELS))),
        st.tuples(st.just("effort"), st.sampled_from(["default", "low", "max"])),
        st.tuples(st.just("thinking"), st.sampled_from(["summarized", "omitted", "off"])),
        st.tuples(st.just("system"), st.booleans()),
        st.tuples(st.just("restart"), st.none()),
    ),
    min_size=4,
    max_size=14,
)


# A model that is chosen while a proposal waits counts from the next turn: what was thought before is the first one's.
CHANGE = {"type": "tool_use", "name": "propose_edit", "input": {"path": "a.txt", "old": "a", "new": "x"}}
CHOSEN_MEANWHILE: list[Step] = [
    ("send", [{"blocks": [{"type": "thinking", "thinking": "A change."}, CHANGE], "stop": "tool_use"}]),
    ("model", "claude-haiku-4-5"),
    ("decide", "approve"),
    ("send", []),
]


class Walk:
    """A core with the provider, and what is done to it."""

    def __init__(self, server: Strict, base: Path) -> None:
        self._server = server
        self._home = base / "home"
        self._project = base / "project"
        self._stack = AsyncExitStack()
        self._calls = 0
        self.done: Counter[str] = Counter()
        self._project.mkdir()
        (self._project / "a.txt").write_text("a\nb\nc\nd\n")
        (self._project / "AGENTS.md").write_text("Answer in verse.\n")

    async def start(self) -> None:
        entered = working(self._home, self._project, rio_provider_claude)
        self._core, self._client, self._journal = await self._stack.enter_async_context(entered)
        await self._core.plugins.loaded.wait()
        await self._client.call("settings.set", key="provider.claude.endpoint", value=self._server.url)
        await self._client.call("secret.set", provider="claude", name="api_key", value=KEY)

    async def stop(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()

    async def take(self, steps: Sequence[Step]) -> None:
        for kind, value in steps:
            self.done[kind] += 1
            match kind:
                case "send" | "queue":
                    await self._send(value, queue=kind == "queue")
                case "decide":
                    await self._decide(value)
                case "stop":
                    await self._client.call("agent.stop")
                case "model":
                    await self._client.call("provider.select", name="claude", model=value)
                case "system":
                    await self._client.call("project.trust", path=str(self._project), trusted=value)
                case "restart":
                    await self.stop()
                    await self.start()
                case setting:
                    await self._client.call("settings.set", key=f"provider.claude.{setting}", value=value)
            await self._settle()
            assert self._server.refused() == []

    async def _send(self, answers: Sequence[dict[str, Any]], *, queue: bool) -> None:
        for answer in answers:
            self._server.answer({**answer, "blocks": [self._numbered(block) for block in answer["blocks"]]})
        await self._client.call("agent.send", text="Go on.", queue=queue)

    def _numbered(self, block: dict[str, Any]) -> dict[str, Any]:
        self._calls += 1
        return {**block, "id": f"{block['type']}_{self._calls}"} if block["type"].endswith("tool_use") else block

    async def _decide(self, decision: str) -> None:
        waiting = (await self._client.call("agent.history")).proposals
        if waiting:
            self.done["decided"] += 1
            shown = waiting[0]
            try:
                await self._client.call(
                    "agent.approve", turn=shown.turn, proposal=shown.proposal, digest=shown.digest, decision=decision
                )
            except RioError:
                self.done["stale"] += 1

    async def _settle(self) -> None:
        """Wait until the turn is over or waits for its user."""
        with anyio.fail_after(20):
            while True:
                history = await self._client.call("agent.history")
                if history.running is None or history.proposals:
                    return
                await anyio.sleep(0.005)


@pytest.fixture(scope="module")
def server() -> Iterator[Strict]:
    with strict_server() as running:
        yield running


async def walk(server: Strict, base: Path, steps: Sequence[Step]) -> Counter[str]:
    server.reset()
    taken = Walk(server, base)
    await taken.start()
    try:
        await taken.take(steps)
    finally:
        await taken.stop()
    return taken.done


def test_no_walk_earns_a_refusal(server: Strict, tmp_path_factory: pytest.TempPathFactory) -> None:
    counts: Counter[str] = Counter()

    @examples(ci=60, deep=2000)
    @given(steps=STEPS)
    @example(steps=CHOSEN_MEANWHILE)
    def walks(steps: list[Step]) -> None:
        counts.update(anyio.run(walk, server, tmp_path_factory.mktemp("walk"), steps))

    walks()
    # A walk that decides nothing and changes nothing proves nothing.
    assert min(counts[name] for name in ("decided", "restart", "model", "system")) > 5, counts
