"""Makes docs/protocol.md from the types in `rio_core.protocol`, the prose beside this file and the example session.

python tools/protocol_reference.py            write docs/protocol.md
python tools/protocol_reference.py --check    exit with 1 when it is not what would be written
"""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Final

import msgspec

from rio_core.protocol import EVENTS, LINE_CAP, OPS, PROTOCOL, errors, events, messages, ops, values
from rio_core.protocol.errors import CODES, OTHER_CODE

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "protocol.md"
SESSION = ROOT / "docs" / "protocol-session.txt"
PROSE = Path(__file__).with_suffix(".md")

MODULES: tuple[ModuleType, ...] = (
    values,
    events,
    ops.core,
    ops.project,
    ops.buffer,
    ops.search,
    ops.agent,
    ops.plugins,
)
BASES = {"Params", "Result", "Struct", "Event", "AgentEvent"}
PLAIN = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "Any": "any value",
}

KINDS: Final = {
    "bad_message": ("not JSON-RPC, or not what the op takes", "a fault of the front end: report it, do not repeat it"),
    "unknown_op": ("there is no op of that name", "do without it"),
    "not_found": ("the file, buffer, proposal or other thing is not there", "show it; look again at what there is"),
    "exists": ("something of that name is there already", "ask its user before calling again with `force`"),
    "outside": ("the path leads out of the project", "show it"),
    "protected": ("refused to everybody but the user at an editor", "show it; never retry by itself"),
    "unsupported": ("not a regular file, binary, or too large for this op", "show it; offer another way to open it"),
    "stale": ("the text, revision or proposal is no longer the one that was meant", "take the present one, then again"),
    "changed_on_disk": ("another program changed the file", "ask its user: reload, or call again with `force`"),
    "dirty": ("unsaved text would be lost", "ask its user: save, or call again with `discard`"),
    "read_only": ("the file or buffer may not be written", "ask its user before calling again with `force`"),
    "encoding": ("a character that the encoding cannot hold, or bytes that it cannot read", "offer UTF-8"),
    "io": ("the system refused: full disk, no right, broken device", "show it; the text is still in the core"),
    "forbidden": ("this connection or plugin may not do that", "show it; decisions belong to one connection"),
    "no_project": ("no project is open", "open one"),
    "conflict": ("not possible in the present state", "show it"),
    "internal": ("a fault of rio", "show it, and ask for a report"),
}
"""What each kind of error means, and what it asks of a front end."""


@dataclass(frozen=True)
class Field:
    """One member of a struct.

    `absent`: its sender leaves it out when there is nothing to say. `default`, of parameters only: what is taken when
    it is left out. (A default of a result is no matter of the reader: the core always sends the member.)
    """

    name: str
    type: ast.expr
    absent: bool
    default: ast.expr | None
    doc: str


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    page = reference()
    if arguments == ["--check"]:
        return int(PAGE.read_text("utf-8") != page)
    PAGE.write_text(page, "utf-8")
    return 0


def reference() -> str:
    """The whole page."""
    if KINDS.keys() != set(_literals(errors.Kind)):
        raise SystemExit("KINDS in this file must explain exactly the kinds of rio_core.protocol.errors")
    return Template(PROSE.read_text("utf-8")).substitute(
        protocol=PROTOCOL,
        line_cap=f"{LINE_CAP:,}",
        id_cap=messages.ID_CAP,
        errors=_errors(),
        ops="\n".join(_ops()),
        events="\n".join(_events()),
        types="\n".join(_types()),
        session=SESSION.read_text("utf-8").rstrip("\n"),
    )


def _literals(alias: object) -> tuple[str, ...]:
    return tuple(getattr(alias, "__args__", ()))


def _errors() -> str:
    rows = ["| kind | code | what it means | what a front end does |", "|---|---|---|---|"]
    for kind, (meaning, reaction) in KINDS.items():
        rows.append(f"| `{kind}` | {CODES.get(kind, OTHER_CODE)} | {meaning} | {reaction} |")
    return "\n".join(rows)


def _ops() -> Iterator[str]:
    namespace = ""
    for name, op in OPS.items():
        if name.partition(".")[0] != namespace:
            namespace = name.partition(".")[0]
            yield f"### Ops of `{namespace}`\n"
        yield f"#### `{name}`\n"
        fields = _fields(op.params)
        yield (op.does or _doc(op.params)) + "\n"
        if op.decides:
            yield "Only for the connection that owns decisions.\n"
        yield from _table("parameter", fields)
        fields = _fields(op.result)
        if op.result in _shared():
            yield f"Result: [{op.result.__name__}](#{op.result.__name__.lower()}).\n" if fields else "Result: `{}`.\n"
            continue
        yield f"Result: {_doc(op.result)}\n"
        yield from _table("field", fields)


@cache
def _shared() -> set[type[msgspec.Struct]]:
    """Results that several ops have."""
    results = [op.result for op in OPS.values()]
    return {result for result in results if results.count(result) > 1}


def _events() -> Iterator[str]:
    for name, event in EVENTS.items():
        yield f"#### `{name}`\n"
        yield _doc(event) + "\n"
        yield from _table("parameter", _fields(event))


def _types() -> Iterator[str]:
    """Structs that are parts of others, and named choices, by name."""
    parts: dict[str, str] = {}
    elsewhere = {op.params for op in OPS.values()} | {op.result for op in OPS.values()} | set(EVENTS.values())
    elsewhere -= _shared()
    for module in MODULES:
        for node in _tree(module).body:
            text = ""
            match node:
                case ast.ClassDef(name=name) if name not in BASES:
                    struct: type[msgspec.Struct] = getattr(module, name)
                    if struct in elsewhere:
                        continue
                    text = "\n".join((_doc(struct) + "\n", *_table("field", _fields(struct))))
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in ("OPS", "__all__"):
                    text = _written(value)
                    following = _module_docs(module).get(name)
                    text = f"{text}. {following}\n" if following else f"{text}\n"
                case _:
                    continue
            if name in parts:
                raise SystemExit(f"two types of the protocol are called {name}")
            parts[name] = text
    for name in sorted(parts):
        yield f"#### {name}\n"
        yield parts[name]


def _table(head: str, fields: list[Field]) -> Iterator[str]:
    if not fields:
        return
    notes = [_notes(field) for field in fields]
    yield f"| {head} | type |" + (" |" if any(notes) else "")
    yield "|---|---|" + ("---|" if any(notes) else "")
    for field, note in zip(fields, notes, strict=True):
        mark = "?" if field.absent or field.default is not None else ""
        yield f"| `{field.name}`{mark} | {_written(field.type)} |" + (f" {note} |" if any(notes) else "")
    yield ""


def _notes(field: Field) -> str:
    notes = [f"default `{json.dumps(ast.literal_eval(field.default))}`"] if field.default is not None else []
    return "; ".join(notes + [field.doc] * bool(field.doc))


def _doc(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "")


def _fields(struct: type) -> list[Field]:
    """Members in the order of the wire, those of bases first."""
    found: list[Field] = []
    for kind in reversed(struct.__mro__):
        if not kind.__module__.startswith("rio_core."):
            continue
        body = _class(kind).body
        for node, following in zip(body, [*body[1:], None], strict=True):
            match node:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=default):
                    if not ast.unparse(annotation).startswith("ClassVar"):
                        absent = "UnsetType" in ast.unparse(annotation)
                        taken = default if issubclass(struct, values.Params) and not absent else None
                        found.append(Field(name, annotation, absent, taken, _text(following)))
    return found


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _class(kind: type) -> ast.ClassDef:
    nodes = ast.walk(_tree(sys.modules[kind.__module__]))
    return next(node for node in nodes if isinstance(node, ast.ClassDef) and node.name == kind.__name__)


def _module_docs(module: ModuleType) -> dict[str, str]:
    """The text that stands under each assignment of a module."""
    body = _tree(module).body
    return {
        node.targets[0].id: _text(following)
        for node, following in zip(body, [*body[1:], None], strict=True)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _text(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(inspect.cleandoc(text).split())
    return ""


def _written(node: ast.expr) -> str:
    """A type as a reader of JSON would say it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return PLAIN.get(name) or f"[{name}](#{name.lower()})"
        case ast.Constant(value=None):
            return "null"
        case ast.BinOp():
            sides = (_written(side) for side in (node.left, node.right) if ast.unparse(side) != "UnsetType")
            return " or ".join(sides)
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return f"list of {_written(inner)}"
        case ast.Subscript(value=ast.Name(id="dict")):
            return "object"
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=elements)):
            return f"list of {len(elements)}: {', '.join(map(_written, elements))}"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            elements = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            *most, last = (f"`{ast.literal_eval(element)}`" for element in elements)
            return f"{', '.join(most)} or {last}" if most else last
    raise SystemExit(f"this type cannot be described yet: {ast.unparse(node)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
