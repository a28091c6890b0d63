"""Server processes on loopback: the strict checker, and the one that others wrote to break clients (llmock)."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

TESTS = Path(__file__).parents[1]


class Strict:
    """`claude.strict_server`, from outside."""

    def __init__(self, url: str) -> None:
        self.url = url

    def answer(self, answer: dict[str, Any]) -> None:
        """Queue an answer."""
        self._post("_answer", answer)

    def refused(self) -> list[str]:
        """Why requests were refused since the last time."""
        return list(httpx.get(f"{self.url}/_refused", trust_env=False).json())

    def reset(self) -> None:
        """Forget answers and refusals."""
        self._post("_reset")

    def _post(self, path: str, data: Any = None) -> None:
        httpx.post(f"{self.url}/{path}", json=data, trust_env=False).raise_for_status()


@contextmanager
def strict_server() -> Iterator[Strict]:
    process = subprocess.Popen(
        [sys.executable, "-m", "claude.strict_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert process.stdin
    assert process.stdout
    try:
        yield Strict(f"http://127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


class Mock:
    """llmock, from outside."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.url = f"{address}/anthropic"

    def script(self, *behaviors: dict[str, Any]) -> None:
        """Queue behaviours."""
        self._post("scenario", {"behaviors": behaviors})

    def requests(self) -> list[dict[str, Any]]:
        """Everything that was asked of it."""
        return list(self._get("requests")["requests"])

    def reset(self) -> None:
        """Forget requests and behaviours."""
        self._post("reset")

    def judge(self) -> None:
        """Fail unless its verdict on the client has nothing against it, not even a warning, and all was played."""
        verdict = self._get("verdict")
        assert verdict["findings"] == []
        assert verdict["calls"]
        assert self._get("scenario")["pending"] == []

    def _post(self, path: str, data: Any = None) -> None:
        httpx.post(f"{self._address}/_llmock/{path}", json=data, trust_env=False).raise_for_status()

    def _get(self, path: str) -> Any:
        return httpx.get(f"{self._address}/_llmock/{path}", trust_env=False).json()


@contextmanager
def llmock_server() -> Iterator[Mock]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Slow enough for it to notice, before it has sent all, that its client is gone.
    options = ["--port", str(port), "--log-level", "error", "--stream-chunk-delay-ms", "20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "llmock.cli", "serve", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"{address}/health", trust_env=False)
                break
            except httpx.TransportError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield Mock(address)
    finally:
        process.terminate()
        process.wait(30)
