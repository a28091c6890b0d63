"""The core from outside: real processes over real pipes. Prints a table; see README.md beside this file."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LINE = b"    value = compute(first, second)  # a line of code\n"


class Core:
    """A core process and the plainest client there is: what is measured is the core."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rio_core", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={**os.environ, "RIO_HOME": str(home)},
            bufsize=0,
        )
        self.reader = os.fdopen(os.dup(self.process.stdout.fileno()), "rb", buffering=1024 * 1024)
        self.number = 0

    def call(self, op: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": op, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        while True:
            answer = json.loads(self.reader.readline())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{op}: {answer['error']}")
                return answer["result"]

    def hello(self, project: Path | None = None) -> None:
        self.call("core.hello", protocol=1, client="benchmark", approve=True)
        if project:
            self.call("project.open", path=str(project))

    def memory(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024 / 1e6
        return 0.0

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(20)
        self.reader.close()
        self.process.stdout.close()


def spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"p50 {statistics.median(ordered) * 1e3:7.3f} ms   p99 {p99 * 1e3:7.3f} ms   n {len(ordered)}"


def timed(call: Any, count: int) -> list[float]:
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return taken


def start(home: Path, runs: int) -> None:
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        core = Core(home)
        core.hello()
        taken.append(time.perf_counter() - begin)
        core.close()
    bare = timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), runs)
    print(f"process start to core.hello answered    {spread(taken)}")
    print(f"bare interpreter, start to end          {spread(bare)}")


def ops(home: Path, project: Path, count: int) -> None:
    core = Core(home)
    core.hello(project)
    name = core.call("buffer.new", text="hello\n")["buffer"]
    for _ in range(200):
        core.call("buffer.lines", buffer=name, first=0, count=1)
    taken = timed(lambda: core.call("buffer.lines", buffer=name, first=0, count=1), count)
    print(f"op (buffer.lines, one line)             {spread(taken)}")
    core.close()


def documents(home: Path, project: Path, sizes: list[int], count: int) -> None:
    for size in sizes:
        path = project / f"{size}.txt"
        path.write_bytes(LINE * (size * 1_000_000 // len(LINE)))
        core = Core(home)
        core.hello(project)
        before = core.memory()
        begin = time.perf_counter()
        opened = core.call("buffer.open", path=path.name)
        open_time = time.perf_counter() - begin
        grown = core.memory() - before
        middle = opened["lines"] // 2
        state = {"revision": 0, "column": 0}

        def edit(name: str = opened["buffer"], state: Any = state, line: int = middle, core: Core = core) -> None:
            at = [line, state["column"]]
            answer = core.call(
                "buffer.edit", buffer=name, revision=state["revision"], group="typing",
                edits=[{"start": at, "end": at, "text": "x"}],
            )  # fmt: skip
            state["revision"] = answer["revision"]
            state["column"] += 1

        edit()
        taken = timed(edit, count)
        print(f"{size:4} MB: open {open_time:6.3f} s, memory {grown:6.1f} MB ({grown / size:.2f} of its size)")
        print(f"         edit in the middle              {spread(taken)}")
        core.close()
        path.unlink()


def deltas(home: Path, project: Path, count: int) -> None:
    core = Core(home)
    core.hello(project)
    begin = time.perf_counter()
    core.call("agent.send", text=f"/flood {count}")
    seen = 0
    first = last = 0.0
    while True:
        line = core.reader.readline()
        if b'"agent.delta"' in line:
            seen += 1
            last = time.perf_counter()
            first = first or last
        elif b'"agent.message"' in line or b'"agent.error"' in line:
            break
    rate = (seen - 1) / (last - first) if seen > 1 else 0.0
    wait = (first - begin) * 1e3
    print(f"deltas from echo to a client            {rate:,.0f} a second   ({seen} deltas, first after {wait:.0f} ms)")
    core.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, and no 100 MB")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        project.mkdir()
        start(home, 5 if quick else 21)
        ops(home, project, 500 if quick else 5000)
        documents(home, project, [1, 10] if quick else [1, 10, 100], 200 if quick else 2000)
        deltas(home, project, 10_000 if quick else 100_000)


if __name__ == "__main__":
    main()
