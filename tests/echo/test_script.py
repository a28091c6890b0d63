import re
from pathlib import Path
from typing import Any, get_args

import pytest

from rio_core.api import FailureKind
from rio_provider_echo import script
from rio_provider_echo.script import Call, Fail, Flood, Pause, Raise, Say, ScriptError, Silent, Stop, Think, parse

README = (Path(__file__).parents[2] / "rio-provider-echo/README.md").read_text()


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("/say Hello  there ", Say("Hello  there ")),
        ("/say  two spaces", Say(" two spaces")),
        ("/think Hm.", Think("Hm.")),
        ('/tool fs_read {"path": "a b", "first": 1}', Call("fs_read", {"path": "a b", "first": 1})),
        ("/tool fs_list {}", Call("fs_list", {})),
        ("/raw-tool fs_read {broken", Call("fs_read", "{broken")),
        ("/raw-tool fs_read", Call("fs_read", "")),
        ("/pause 0", Pause(0.0)),
        ("/pause 1.25", Pause(1.25)),
        ("/pause 86400", Pause(86400.0)),
        ("/flood 0", Flood(0)),
        ("/flood 1000000", Flood(1_000_000)),
        ("/stop max_tokens", Stop("max_tokens")),
        ("/stop something_new", Stop("something_new")),
        ("/raise Boom.", Raise("Boom.")),
        ("/silent", Silent()),
        *((f"/fail {kind} What happened", Fail(kind, "What happened")) for kind in get_args(FailureKind)),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_each_step(line: str, step: script.Step, end: str):
    assert parse(line + end) == [[step]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/", "no step /;"),
        ("/sya x", "no step /sya"),
        ("/Say x", "no step /Say"),
        ("/say", "TEXT"),
        ("/say  ", "TEXT"),
        ("/think", "TEXT"),
        ("/tool", "NAME"),
        ("/tool fs_list", "JSON object"),
        ("/tool fs_list {", "not JSON"),
        ("/tool fs_list []", "no object"),
        ("/tool fs_list 7", "no object"),
        ('/tool fs_list {"a": NaN}', "NaN"),
        ("/tool fs_list " + "[" * 100_000, "nested"),
        ('/tool fs_list {"a": ' + "1" * 5000 + "}", "not JSON"),
        ("/raw-tool", "NAME"),
        *(
            (f"/pause {bad}", "SECONDS")
            for bad in ("", "x", "-1", "nan", "inf", "1e3", "1_0", "٣", "86401", "1.", ".5")
        ),
        *((f"/flood {bad}", "whole number") for bad in ("", "x", "-1", "1.5", "1000001", "9" * 10, "٣")),
        ("/fail", "KIND"),
        ("/fail server", "KIND"),
        ("/fail oops text", "rate_limited"),
        ("/stop", "REASON"),
        ("/stop two words", "one word"),
        ("/raise", "TEXT"),
        ("/silent please", "alone"),
        ("/then what", "alone"),
        ("no slash", "begins with"),
        (" /say x", "begins with"),
    ],
)
def test_each_mistake_is_named_with_its_line(line: str, says: str):
    with pytest.raises(ScriptError, match=f"line 3: .*{re.escape(says)}"):
        parse(f"/say first\n\n{line}\n/say last")


@pytest.mark.parametrize("last", ["/fail server x", "/stop end_turn", "/raise x", "/silent"])
def test_nothing_but_then_follows_the_end_of_an_answer(last: str):
    with pytest.raises(ScriptError, match=r"line 2: .*/then"):
        parse(f"{last}\n/say more")
    assert len(parse(f"{last}\n\n/then\n/say more")) == 2


def test_then_begins_the_next_answer():
    assert parse("/say a\n/tool t {}\n\n/then\n/say b\n/then") == [[Say("a"), Call("t", {})], [Say("b")], []]


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ("/say x", True),
        ("hello\n/say x", True),
        ("hello", False),
        ("a /say x", False),
        (" /say x", False),
        ("\n/", True),
        ("", False),
    ],
)
def test_a_line_that_begins_with_a_slash_makes_a_script(message: str, is_one: bool):
    assert script.is_script(message) is is_one


def test_only_lf_ends_a_line():
    assert parse("/say a\u2028/b\x0c/c\u0085/d") == [[Say("a\u2028/b\x0c/c\u0085/d")]]


def test_the_readme_names_exactly_the_steps_the_kinds_and_the_limits():
    table: Any = re.findall(r"^\| `/([a-z-]+)", README, re.MULTILINE)
    assert sorted(table) == sorted([*script.STEPS, "then"])
    paragraph = README[README.index("KIND is one of") :].split("\n\n")[0]
    assert re.findall(r"`(\w+)`", paragraph) == list(get_args(FailureKind))
    assert f"0 to {script.MOST_FLOOD}" in README
    assert f"0 to {script.LONGEST_PAUSE}" in README


def test_the_example_of_the_readme_is_a_script():
    example = README[README.index("### Example") :].split("```\n")[1]
    assert len(parse(example)) == 3
