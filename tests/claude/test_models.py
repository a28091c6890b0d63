"""The list of models, and what each takes."""

import json
from typing import Any

import pytest

from claude.rig import HELLO, JSON, Play, Seen, asked, error, respond, rig, setup
from rio_core.api import Done
from rio_provider_claude.inference.capability import Capability, told
from rio_provider_claude.inference.table import table
from rio_provider_claude.provider import Claude


def leaf(*names: str, of: tuple[str, ...]) -> dict[str, Any]:
    return {"supported": bool(names), **{name: {"supported": name in names} for name in of}}


def entry(
    name: str, *, efforts: tuple[str, ...] = (), thinking: tuple[str, ...] = (), tokens: int | None = 32_000
) -> Any:
    return {
        "id": name, "type": "model", "display_name": f"The {name}", "created_at": "2026-11-01T00:00:00Z",
        "max_input_tokens": 500_000, "max_tokens": tokens, "lifecycle": "active", "deprecated_at": None,
        "retires_at": None, "line": "opus",
        "capabilities": {
            "batch": {"supported": True},
            "effort": leaf(*efforts, of=("low", "medium", "high", "xhigh", "max")),
            "thinking": {
                "supported": bool(thinking),
                "types": leaf(*thinking, of=("adaptive", "between_tools", "disabled", "enabled")),
            },
        },
    }  # fmt: skip


def page(*entries: Any, more: bool = False) -> Play:
    data = {"data": entries, "has_more": more, "first_id": None, "last_id": entries[-1]["id"] if entries else None}
    return Play([json.dumps(data).encode()], headers=JSON)


async def test_the_list_is_read_page_by_page_with_the_default_first() -> None:
    pages = {None: page(entry("claude-next-9"), entry("b"), more=True), "b": page(entry("claude-opus-5-5"))}

    def served(seen: Seen) -> Play:
        query = dict(part.split("=") for part in seen.target.partition("?")[2].split("&"))
        assert query["limit"] == "1000"
        return pages[query.get("after_id")]

    async with rig(by=served) as server:
        models = await Claude().models(setup(server.url + "/v1"))
    assert [model.id for model in models] == ["claude-opus-5-5", "claude-next-9", "b"]
    assert [seen.target.partition("?")[0] for seen in server.seen] == ["/v1/models", "/v1/models"]
    assert all(seen.header("x-api-key") for seen in server.seen)
    assert models[0].title == "The claude-opus-5-5"
    detail = models[0].detail
    assert detail is not None
    assert detail["price"] == "$4 in, $20 out a million tokens (2026-12-01)"
    assert (detail["window"], detail["max_output"]) == (500_000, 32_000)
    assert detail["source"] == "the service's list"
    assert "price" not in (models[1].detail or {})
    json.dumps([model.detail for model in models])


async def test_a_list_without_end_is_not_read_for_ever() -> None:
    async with rig(page(entry("a"), more=True)) as server:
        await Claude().models(setup(server.url))
    assert len(server.seen) == 20


async def test_what_the_service_tells_decides_what_is_sent() -> None:
    def served(seen: Seen) -> Play:
        return (
            Play([HELLO]) if seen.method == "POST" else page(entry("claude-opus-5-5", efforts=("low",), tokens=7_000))
        )

    async with rig(by=served) as server:
        provider, given = Claude(), setup(server.url, model="claude-opus-5-5", effort="max")
        await respond(asked(given), provider)
        await provider.models(given)
        await respond(asked(given), provider)
    before, after = (seen.json for seen in server.posts)
    assert (before["max_tokens"], before["output_config"]["effort"]) == (64_000, "max")
    assert before["thinking"]["type"] == "adaptive"
    assert (after["max_tokens"], after["output_config"]["effort"]) == (7_000, "low")
    assert "thinking" not in after


async def test_one_endpoint_does_not_tell_for_another() -> None:
    async with rig(page(entry("claude-opus-5-5", tokens=7_000))) as one, rig(Play([HELLO])) as other:
        provider = Claude()
        await provider.models(setup(one.url))
        await respond(asked(setup(other.url)), provider)
    assert other.posts[0].json["max_tokens"] == 64_000


async def test_a_model_that_the_table_lacks_is_asked_for_once() -> None:
    def served(seen: Seen) -> Play:
        if seen.method == "POST":
            return Play([HELLO])
        assert seen.target == "/v1/models/claude%2Fodd%20one"
        return Play([json.dumps(entry("canonical", thinking=("adaptive",), efforts=("high",))).encode()], headers=JSON)

    async with rig(by=served) as server:
        provider, given = Claude(), setup(server.url, model="claude/odd one", effort="max")
        for _ in range(2):
            await respond(asked(given), provider)
    assert [seen.method for seen in server.seen] == ["GET", "POST", "POST"]
    body = server.posts[0].json
    assert (body["model"], body["max_tokens"], body["output_config"]) == ("claude/odd one", 32_000, {"effort": "high"})
    assert body["thinking"]["type"] == "adaptive"


@pytest.mark.parametrize(
    "answer", [Play([error("not_found_error", "?")], 404, JSON), Play([b"[]"], headers=JSON), Play(end="abort")]
)
async def test_a_model_that_nobody_knows_is_sent_with_nothing_it_could_refuse(answer: Play) -> None:
    async with rig(by=lambda seen: Play([HELLO]) if seen.method == "POST" else answer) as server:
        posts = await respond(asked(setup(server.url, model="claude-typed-in", effort="max", thinking="off")))
    assert isinstance(posts[-1], Done)
    body = server.posts[0].json
    assert set(body) == {"model", "max_tokens", "stream", "system", "messages"}
    assert (body["model"], body["max_tokens"]) == ("claude-typed-in", 8_192)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Play([error("authentication_error", "invalid x-api-key")], 401, JSON), "401 authentication_error"),
        (Play([b"<html>"], headers={"content-type": "text/html"}), "not JSON"),
        (Play([b"[]"], headers=JSON), "not JSON"),
        (Play(status=302, headers={"location": "http://127.0.0.1:1/"}), "points to http://127.0.0.1:1"),
        (Play(end="abort"), "broke"),
        (Play(end="silent"), "nothing for too long"),
    ],
)
async def test_the_shipped_table_stands_in_and_says_why(answer: Play, reason: str) -> None:
    async with rig(answer) as server:
        models = await Claude().models(setup(server.url, timeout_idle=0.3))
    assert models[0].id == "claude-opus-5-5"
    assert len(models) == len(table().models)
    source = (models[0].detail or {})["source"]
    assert source.startswith("the table of 2026-12-01 that comes with this provider: ")
    assert reason in source


async def test_without_a_key_there_is_still_a_list() -> None:
    models = await Claude().models(setup("http://127.0.0.1:1", key=None))
    assert "There is no API key for Claude." in (models[0].detail or {})["source"]


async def test_entries_that_make_no_sense_are_passed_over() -> None:
    odd = [
        None,
        3,
        {},
        {"id": 4},
        {"id": "bare"},
        {"id": "odd", "capabilities": {"effort": 3, "thinking": {"types": []}}},
    ]
    data = {"data": odd, "has_more": True, "last_id": None}
    async with rig(Play([json.dumps(data).encode()], headers=JSON)) as server:
        models = await Claude().models(setup(server.url))
    assert [model.id for model in models] == ["bare", "odd"]
    assert len(server.seen) == 1


def test_capabilities_are_read_leaf_by_leaf() -> None:
    assert told(entry("m", efforts=("low", "max"), thinking=("adaptive", "enabled"), tokens=None)) == Capability(
        "m", "The m", 500_000, None, ("low", "max"), ("adaptive", "enabled")
    )
    assert told({"id": "m"}) is None
    assert told({"id": "m", "capabilities": {}, "max_tokens": "9"}) == Capability("m", "m")


def test_the_table_names_its_default_and_every_alias() -> None:
    assert table().default in table().models
    assert next(iter(table().models)) == table().default
    assert table().model("claude-haiku-4-5") == Capability(
        "claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, (), ("disabled", "enabled")
    )
    assert table().price("claude-haiku-4-5") == table().price("claude-haiku-4-5-20251001")
    assert not set(table().aliases) & set(table().models)
