"""Start is a budget: what costs more than a few milliseconds is imported where it is first needed."""

import subprocess
import sys

import pytest

DEAR = {
    "httpx", "httpx_sse", "h2", "mcp", "lsprotocol", "pydantic", "numpy",  # by the measurements: 100 ms and more
    "tomlkit", "importlib_metadata", "importlib.metadata", "pluggy", "markdown_it", "pygments",
    "multiprocessing", "ssl", "email", "http", "urllib.request", "xml", "difflib", "unittest", "pdb", "doctest",
    "rio_provider_echo", "rio_provider_claude", "PySide6",
}  # fmt: skip

STEPS = {
    "the core before its first answer": "import rio_core._engine.server",
    "the command line before it knows the command": "import rio_core._cli.main",
    "a front end": "import rio_core.client",
    "the protocol": "import rio_core.protocol",
}


@pytest.mark.parametrize("step", STEPS)
def test_nothing_dear_is_imported_by(step):
    code = (
        f"import json, sys; before = set(sys.modules); {STEPS[step]}; print(json.dumps([*set(sys.modules) - before]))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert DEAR & set(done.stdout.split()) == set()
