"""The Claude provider in a real core process, found through its entry point, against llmock."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from claude.rig import HELLO, KEY, Play, rig
from claude.servers import Mock, llmock_server
from rio_core.client import Client, start_core
from rio_provider_claude.options import ENTER_KEY
from support.living import Journal


@pytest.fixture(scope="module")
def server() -> Iterator[Mock]:
    with llmock_server() as running:
        yield running


@pytest.fixture
def mock(server: Mock) -> Mock:
    server.reset()
    return server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    return folder


@asynccontextmanager
async def talking(
    project: Path, endpoint: str, key: str | None = KEY, **settings: Any
) -> AsyncIterator[tuple[Client, Journal]]:
    async with start_core(project=str(project)) as client:
        journal = Journal(client)
        await client.call("provider.select", name="claude")
        for name, value in {"endpoint": endpoint, **settings}.items():
            await client.call("settings.set", key=f"provider.claude.{name}", value=value)
        if key is not None:
            await client.call("secret.set", provider="claude", name="api_key", value=key)
        yield client, journal
        journal.close()


def calls(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "reply", "text": "I look.", "tool_calls": [{"name": name, "arguments": given}]}


async def test_a_loop_with_an_approval_changes_the_approved_bytes(mock: Mock, project: Path) -> None:
    mock.script(
        calls("fs_read", path="a.txt"),
        calls("propose_edit", path="a.txt", old="two", new="zwei"),
        {"type": "reply", "text": "It is German now."},
    )
    async with talking(project, mock.url) as (client, journal):
        await client.call("agent.send", text="Translate a.txt, please.")
        shown = await journal.kind("agent.propose")
        assert (project / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
        await client.call(
            "agent.approve", turn=shown.turn, proposal=shown.proposal, digest=shown.digest, decision="approve"
        )
        end: Any = await journal.end_of_turn()
    assert (project / "a.txt").read_bytes() == b"one\r\nzwei\r\n"
    assert end.stop == "end_turn"
    assert end.text.endswith("It is German now.")
    assert end.usage.input > 0
    assert end.usage.estimate == "list prices of 2026-12-01"
    assert [event.ok for event in journal.all("agent.tool_result")] == [True, True]
    assert len(mock.requests()) == 3
    mock.judge()


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_call_that_makes_no_sense_is_told_to_the_model(mock: Mock, project: Path, kind: str) -> None:
    mock.script({"type": "tool_fault", "kind": kind})
    async with talking(project, mock.url) as (client, journal):
        await client.call("agent.send", text="Do something.")
        end: Any = await journal.end_of_turn()
    assert end.NAME == "agent.message"
    assert [event.ok for event in journal.all("agent.tool_result")] == [False]
    mock.judge()


async def test_N1_a_wait_is_counted_down_and_stopping_ends_it(mock: Mock, project: Path) -> None:
    mock.script({"type": "fail", "status": 429, "retry_after": 30})
    async with talking(project, mock.url) as (client, journal):
        await client.call("agent.send", text="Hello.")
        waiting = await journal.kind("agent.waiting")
        assert waiting.seconds >= 30
        assert "429" in waiting.reason
        begun = monotonic()
        await client.call("agent.stop")
        await journal.kind("agent.stopped")
        assert monotonic() - begun < 1
        assert len(mock.requests()) == 1


@pytest.mark.parametrize(
    ("fault", "kind"), [("disconnect", "network"), ("truncate", "network"), ("malformed", "unexpected_response")]
)
async def test_S10_what_came_before_the_break_is_kept_and_one_can_go_on(
    mock: Mock, project: Path, fault: str, kind: str
) -> None:
    mock.script(
        {"type": "reply", "text": "One two three four five six."},
        {"type": "stream_fault", "kind": fault, "after_chunks": 5},
    )
    async with talking(project, mock.url) as (client, journal):
        await client.call("agent.send", text="Count.")
        failed: Any = await journal.kind("agent.error")
        assert (failed.kind, failed.action) == (kind, "Send again.")
        mock.script({"type": "reply", "text": "Seven."})
        await client.call("agent.send", text="Go on.")
        end: Any = await journal.end_of_turn()
    assert end.text == "Seven."
    assert "".join(event.text for event in journal.all("agent.delta")).startswith("One ")


async def test_the_end_of_an_outage(mock: Mock, project: Path) -> None:
    mock.script({"type": "fail", "status": 529, "times": 2})
    async with talking(project, mock.url) as (client, journal):
        await client.call("agent.send", text="Hello.")
        end: Any = await journal.end_of_turn()
    assert end.NAME == "agent.message"
    assert len(journal.all("agent.waiting")) == 2
    mock.judge()


async def test_without_a_key(project: Path) -> None:
    async with talking(project, "http://127.0.0.1:1", key=None) as (client, journal):
        await client.call("agent.send", text="Hello.")
        failed: Any = await journal.kind("agent.error")
    assert failed.kind == "not_configured"
    assert failed.message == "Claude needs a secret that is not set: API key."


async def test_N2_with_a_wrong_key(mock: Mock, project: Path) -> None:
    mock.script({"type": "fail", "status": 401, "message": "invalid x-api-key"})
    async with talking(project, mock.url) as (client, journal):
        await client.call("agent.send", text="Hello.")
        failed: Any = await journal.kind("agent.error")
        assert (await client.call("agent.history")).messages[0].blocks[0]["text"] == "Hello."
    assert (failed.kind, failed.action) == ("authentication", ENTER_KEY)
    assert "401 authentication_error: “invalid x-api-key”" in failed.message
    mock.judge()


async def test_without_a_network(project: Path) -> None:
    async with rig(Play([HELLO])) as server:
        gone = server.url
    async with talking(project, gone, retries=1) as (client, journal):
        await client.call("agent.send", text="Hello.")
        failed: Any = await journal.kind("agent.error")
    assert failed.kind == "network"
    assert "cannot be reached" in failed.message
    assert len(journal.all("agent.waiting")) == 1


async def test_a_key_of_the_environment_is_used_and_shown_as_such(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{KEY}\r\n")
    async with rig(Play([HELLO])) as server, talking(project, server.url, key=None) as (client, journal):
        status = await client.call("secret.status", provider="claude", name="api_key")
        await client.call("agent.send", text="Hello.")
        assert (await journal.end_of_turn()).NAME == "agent.message"
        assert server.seen[0].header("x-api-key") == KEY
    assert "environment" in repr(status)
    assert KEY not in repr(status)


async def test_S04_the_canary_is_in_its_file_and_in_nothing_else_that_was_written_or_said(
    mock: Mock, project: Path
) -> None:
    mock.script(
        calls("fs_list"),
        {"type": "reply", "text": "Well."},
        {"type": "fail", "status": 401, "message": f"your key {KEY} is wrong"},
        {"type": "stream_fault", "kind": "malformed", "after_chunks": 3},
    )
    async with talking(project, mock.url) as (client, journal):
        for text in ("One.", "Two.", "Three."):
            await client.call("agent.send", text=text)
            await journal.end_of_turn()
        answers = [await client.call(op) for op in ("agent.history", "provider.list", "plugin.list", "settings.get")]
    said = repr([*journal.seen, *answers])
    home = Path(os.environ["RIO_HOME"])
    files = [path for folder in (home, project) for path in folder.rglob("*") if path.is_file()]
    holding = [path for path in files if KEY.encode() in path.read_bytes()]
    assert [(path.name, oct(path.stat().st_mode & 0o777)) for path in holding] == [("claude.json", "0o600")]
    for part in (KEY, KEY[13:29], KEY[-12:]):
        assert part not in said
        assert not [path for path in files if path not in holding and part.encode() in path.read_bytes()]


async def test_the_models_are_those_of_the_service(mock: Mock, project: Path) -> None:
    async with talking(project, mock.url) as (client, _):
        models = (await client.call("provider.models", name="claude")).models
        assert "claude-opus-4-6" in [model.id for model in models]
        await client.call("provider.select", name="claude", model="claude-typed-in-by-hand")
        assert (await client.call("provider.list")).providers
