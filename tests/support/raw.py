"""A core process as a peer sees it that speaks no client library: bytes in, lines out."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HELLO = {"protocol": 1, "client": "raw", "approve": True}


class RawCore:
    """`python -P -m rio_core serve` over pipes. Leaves no process behind."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rio_core", "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={**os.environ, **(environment or {})},
        )
        self.events: list[dict[str, Any]] = []
        self._id = 0

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self) -> dict[str, Any] | None:
        """The next message, None at the end."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def answer(self) -> dict[str, Any] | None:
        """The next answer; events before it are kept."""
        while (message := self.line()) is not None:
            if "method" not in message:
                return message
            self.events.append(message)
        return None

    def event(self, *names: str) -> dict[str, Any]:
        """The next event of one of these names that has not been returned."""
        while True:
            for number, event in enumerate(self.events):
                if event["method"] in names:
                    del self.events[: number + 1]
                    return event["params"]
            message = self.line()
            assert message is not None, "the core ended"
            self.events.append(message)

    def send_line(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def send(self, op: str, **params: Any) -> int:
        self._id += 1
        self.send_line({"jsonrpc": "2.0", "id": self._id, "method": op, "params": params})
        return self._id

    def ask(self, op: str, **params: Any) -> dict[str, Any]:
        """Call an op; the whole answer."""
        number = self.send(op, **params)
        answer = self.answer()
        assert answer is not None, f"the core ended: {self.process.stderr.read() if self.process.stderr else b''!r}"
        assert answer["id"] == number
        return answer

    def call(self, op: str, **params: Any) -> dict[str, Any]:
        """Call an op that must succeed; its result."""
        answer = self.ask(op, **params)
        assert "result" in answer, answer
        return answer["result"]

    def refused(self, op: str, **params: Any) -> dict[str, Any]:
        """Call an op that must fail; `data` of its error."""
        answer = self.ask(op, **params)
        assert "error" in answer, answer
        return answer["error"]["data"]

    def hello(self, project: Path | None = None) -> Self:
        self.call("core.hello", **HELLO)
        if project is not None:
            self.call("project.open", path=str(project))
        return self

    def kill(self) -> None:
        """End it without a word, as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self._reap()

    def finish(self) -> int:
        """Close its input and wait for its end; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(20)
        self._reap()
        return code

    def _reap(self) -> None:
        self.process.wait(20)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self._reap()
