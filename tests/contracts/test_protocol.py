"""The contract with front ends: what goes over the wire, and the page that describes it."""

import importlib.util
import json
import re
import subprocess
import sys
from typing import Any

import msgspec

from rio_core import protocol
from rio_core.protocol import EVENTS, OPS
from rio_core.protocol.errors import CODES
from support import golden
from support.repository import ROOT


def without_words(schema: Any) -> Any:
    """A schema without its descriptions: better words change no contract."""
    if isinstance(schema, dict):
        return {name: without_words(member) for name, member in schema.items() if name not in ("description", "title")}
    return [without_words(member) for member in schema] if isinstance(schema, list) else schema


def test_the_wire_is_the_one_that_is_written_down(request):
    types = [kind for op in OPS.values() for kind in (op.params, op.result)] + list(EVENTS.values())
    schemas, components = msgspec.json.schema_components(types, ref_template="{name}")
    of = dict(zip(types, schemas, strict=True))
    wire = {
        "protocol": protocol.PROTOCOL,
        "line_cap": protocol.LINE_CAP,
        "kinds": list(protocol.Kind.__args__),
        "codes": CODES,
        "ops": {
            name: {"params": of[op.params]["$ref"], "result": of[op.result]["$ref"], "decides": op.decides}
            for name, op in OPS.items()
        },
        "events": {name: of[event]["$ref"] for name, event in EVENTS.items()},
        "types": without_words(components),
    }
    golden.check("protocol.json", json.dumps(wire, indent=1, sort_keys=True) + "\n", request)


def test_the_page_is_what_the_types_say():
    spec = importlib.util.spec_from_file_location("protocol_reference", ROOT / "tools" / "protocol_reference.py")
    tool = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tool
    try:
        spec.loader.exec_module(tool)
        page = tool.reference()
    finally:
        del sys.modules[spec.name]
    written = (ROOT / "docs" / "protocol.md").read_text("utf-8")
    assert written == page, "run `python tools/protocol_reference.py` and look at what it changed"


def test_the_page_names_everything_and_its_links_lead_somewhere():
    page = (ROOT / "docs" / "protocol.md").read_text("utf-8")
    for name in [*OPS, *EVENTS]:
        assert f"#### `{name}`" in page
    for kind in protocol.Kind.__args__:
        assert f"| `{kind}` |" in page
    headings = [line.lstrip("# ").lower() for line in page.splitlines() if line.startswith("#")]
    links = set(re.findall(r"\]\(#([^)]*)\)", page))
    assert [link for link in links if headings.count(link) != 1] == []


def test_every_op_and_event_is_described():
    bases = {"Nothing", "Done"}
    for op in OPS.values():
        assert op.does or op.params.__name__ not in bases, op.name
        assert op.params.__doc__, op.name
        assert op.result.__doc__, op.name
    for event in EVENTS.values():
        assert event.__doc__, event.NAME


def test_the_protocol_needs_nothing_but_msgspec():
    code = (
        "import sys, msgspec; before = set(sys.modules); import rio_core.protocol, rio_core.protocol.messages\n"
        "print(*(name for name in set(sys.modules) - before"
        " if 'site-packages' in (getattr(sys.modules[name], '__file__', None) or '')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in done.stdout.split()} <= {"rio_core"}
