"""The one way in which the core runs a program."""

import os
import re
import sys
from pathlib import Path

import rio_core
from rio_core._engine.workspace.process import run

SOURCE = Path(rio_core.__file__).parent


async def test_S03_a_child_gets_a_path_and_nothing_that_the_core_was_given(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-0123456789")
    monkeypatch.setenv("RIO_CANARY", "sk-canary-0123456789")
    monkeypatch.setenv("LD_PRELOAD", "")
    told = bytearray()

    def take(block: bytes) -> bool:
        told.extend(block)
        return True

    outcome = await run([sys.executable, "-I", "-c", "import os; print(sorted(os.environ))"], take)
    assert outcome.code == 0, outcome.errors
    assert bytes(told).decode().strip() == str(["LC_ALL", "PATH"])
    assert "RIO_CANARY" in os.environ


def test_S03_the_engine_starts_no_program_in_another_way():
    ways = re.compile(r"\bsubprocess\b|open_process|run_process|os\.(system|popen|spawn|exec|posix_spawn|fork)")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "_engine").rglob("*.py")
        if ways.search(path.read_text("utf-8"))
    }
    assert found == {"_engine/workspace/process.py"}
