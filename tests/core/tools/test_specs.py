"""The tools as a model sees them: stable, strict and valid JSON Schema."""

import json
import re

import pytest

from rio_core._engine.tools.builtin import toolbox
from rio_core._engine.tools.toolbox import Answered, Draft

TOOLS = {
    "fs_list": {"path"},
    "fs_read": {"path", "first", "count"},
    "fs_search": {"pattern", "path", "regex", "glob"},
    "buffer_list": set(),
    "buffer_text": {"buffer", "first", "count"},
    "propose_edit": {"path", "old", "new"},
    "propose_create": {"path", "text"},
}
REQUIRED = {
    "fs_read": {"path"}, "fs_search": {"pattern"}, "buffer_text": {"buffer"}, "propose_edit": {"path", "old", "new"},
    "propose_create": {"path", "text"},
}  # fmt: skip
KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "description", "default", "minimum", "minLength", "anyOf",
}  # fmt: skip


class NoReads:
    """Nothing that these tests do reads."""


def specs():
    return toolbox(NoReads()).specs()


def test_the_tools_are_those_of_the_contract_in_one_order():
    assert [spec.name for spec in specs()] == list(TOOLS)
    assert specs() == specs()
    assert json.dumps([spec.input_schema for spec in specs()]) == json.dumps([spec.input_schema for spec in specs()])


@pytest.mark.parametrize("spec", specs(), ids=lambda spec: spec.name)
def test_each_schema_is_an_object_that_says_everything_and_takes_nothing_else(spec):
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,63}", spec.name)
    assert spec.description.endswith(".")
    schema = spec.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == TOOLS[spec.name]
    assert set(schema["required"]) == REQUIRED.get(spec.name, set())
    assert set(schema) <= KEYWORDS
    for name, inner in schema["properties"].items():
        assert set(inner) <= KEYWORDS, name
        assert inner["description"].endswith("."), name
        assert inner.get("type", "") in ("string", "integer", "boolean", "")
        assert ("type" in inner) != ("anyOf" in inner)
        assert ("default" in inner) == (name not in schema["required"])
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("fs_read", {}),
        ("fs_read", {"path": 5}),
        ("fs_read", {"path": None}),
        ("fs_read", {"path": "f", "first": 0}),
        ("fs_read", {"path": "f", "first": "1"}),
        ("fs_read", {"path": "f", "first": 1.5}),
        ("fs_read", {"path": "f", "count": True}),
        ("fs_read", {"path": "f", "extra\x1b\u202e": 1}),
        ("fs_search", {"pattern": ""}),
        ("fs_search", {"pattern": "x", "regex": "yes"}),
        ("buffer_list", {"x": 1}),
        ("propose_edit", {"path": "f", "old": "x"}),
        ("propose_create", {"path": "f"}),
        ("propose_create", {"path": "f", "text": ["x"]}),
    ],
)
async def test_an_input_that_does_not_fit_is_an_answer_in_one_harmless_line(name, given):
    answer = await toolbox(NoReads()).call(name, given, "")
    assert isinstance(answer, Answered)
    assert not answer.ok
    assert "does not fit its schema" in answer.text
    assert not set(answer.text) & set("\n\x1b\u202e")


@pytest.mark.parametrize("name", ["nothing", "", "FS_READ", "fs-read", "fs_read ", "x" * 10_000, "a\nb\x1b"])
async def test_a_tool_that_does_not_exist_is_told_with_those_that_do(name):
    answer = await toolbox(NoReads()).call(name, {}, "")
    assert not answer.ok
    assert "fs_read, fs_search" in answer.text
    assert len(answer.text) < 500
    assert not set(answer.text) & set("\n\x1b")


async def test_an_input_that_is_no_json_is_quoted_in_part():
    answer = await toolbox(NoReads()).call("fs_list", {}, '{"path": "\x1b\n' + "x" * 10_000)
    assert not answer.ok
    assert r"{\"path\": " in answer.text or '{"path": ' in answer.text
    assert len(answer.text) < 800
    assert not set(answer.text) & set("\n\x1b")


async def test_a_tool_that_would_write_only_drafts():
    tools = toolbox(NoReads())
    assert await tools.call("propose_edit", {"path": "p", "old": "o", "new": "n"}, "") == Draft("edit", "p", "o", "n")
    assert await tools.call("propose_create", {"path": "p", "text": "t"}, "") == Draft("create", "p", "", "t")
