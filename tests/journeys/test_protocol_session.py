"""The worked example of the protocol reference, played to a real core."""

from typing import Any

import pytest

from support.raw import RawCore
from support.session import SESSION, Names, read


def test_the_example_of_the_reference_is_what_a_core_says(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "greeting.txt").write_text("Hello\n")
    names = Names({"$root": str(root)})
    with RawCore() as core:
        for line in read(SESSION.read_text("utf-8")):
            if line.direction == ">":
                core.send_line(names.filled(line.message))
            else:
                wait_for(core, names, line.message)
        assert core.process.wait(20) == 0
    assert (root / "greeting.txt").read_text() == "Good morning, world\n"  # the undo was not saved


def wait_for(core: RawCore, names: Names, expected: dict[str, Any]) -> None:
    """The message comes; other events may come between."""
    passed = []
    while (message := core.line()) is not None:
        if names.fits(expected, message):
            return
        passed.append(message)
        if "method" not in message:
            break
    pytest.fail(f"expected {expected}, got {passed}")
