"""A whole round of work on a real source tree, over real processes: only the bytes that were approved have changed."""

import itertools
import json
import os
import random
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import anyio
import pytest

from rio_core.client import Client, start_core
from support.living import Journal
from support.tree import TreeSnapshot

BOM = b"\xef\xbb\xbf"
LONG_AGO = 981_173_106_123_456_789  # 2001-02-03, with nanoseconds that a careless copy loses


def le(text: str) -> bytes:
    return b"\xff\xfe" + text.encode("utf-16-le")


def be(text: str) -> bytes:
    return b"\xfe\xff" + text.encode("utf-16-be")


@dataclass
class Plan:
    """One proposal, what its user decides, and the bytes that must come of it, worked out without rio."""

    path: str
    old: str
    new: str
    was: bytes
    """Bytes of the file that occur once in it."""
    becomes: bytes | None
    """What takes their place, None for nothing."""
    decision: dict[str, Any] = field(default_factory=lambda: {"decision": "approve"})
    file: str = ""
    """The file that changes, where it is not `path`."""
    outcome: str = "applied"
    asked: str = ""
    """How the model spells `path`, where that differs."""

    def step(self) -> str:
        given = {"path": self.asked or self.path, "old": self.old, "new": self.new}
        return f"/tool propose_edit {json.dumps(given)}"


REJECT = {"decision": "reject", "reason": "not this one"}


def hunk(number: int) -> dict[str, Any]:
    return {"decision": "approve", "hunks": [number]}


def text(changed: str) -> dict[str, Any]:
    return {"decision": "approve", "text": changed}


# name, bytes, old, new, bytes afterwards (None: unchanged), decision
MIXED: list[tuple[str, bytes, str, str, bytes | None, dict[str, Any] | None]] = [
    ("utf8.txt", "Nadel größe\nzwei\n".encode(), "zwei\n", "Zwei €\n", "Nadel größe\nZwei €\n".encode(), None),
    ("bom.txt", BOM + b"Nadel\nzwei\n", "Nadel", "Faden", BOM + b"Faden\nzwei\n", None),
    ("le.txt", le("Nadel\r\nzwei\r\n"), "zwei", "ZWEI 国\ndrei", le("Nadel\r\nZWEI 国\r\ndrei\r\n"), None),
    ("be.txt", be("Nadel\nzwei"), "zwei", "zwei\ndrei", be("Nadel\nzwei\ndrei"), None),
    ("latin.txt", b"Nadel caf\xe9\nna\xefve\n", "naïve", "naïf ü", b"Nadel caf\xe9\nna\xeff \xfc\n", None),
    ("A01.txt", b"Nadel\na\xffb\xc3\nend", "end", "END\n", b"Nadel\na\xffb\xc3\nEND\n", None),
    ("crlf.txt", b"Nadel\r\ntwo\r\n3\r\n", "two\n", "two\n2.5\n", b"Nadel\r\ntwo\r\n2.5\r\n3\r\n", None),
    ("A06.txt", b"Nadel\rtwo\r3\r", "two\n", "two\n2.5\n", b"Nadel\rtwo\r2.5\r3\r", None),
    ("cr changed.txt", b"Nadel\rtwo\r3\r", "two\n", "2\n", b"Nadel\rmy\rown\r3\r", text("my\nown\n")),
    ("A05.txt", b"Nadel\r\nb\nc\rd\r\n", "Nadel\nb\nc\nd\n", "Nadel\nB\nc\nD\nE\n", b"Nadel\r\nB\nc\rD\r\nE\r\n", None),
    ("by hunk.txt", b"Nadel\r\nb\nc\rd\r\n", "b\nc\nd\n", "B\nc\nD\nE\n", b"Nadel\r\nb\nc\rD\r\nE\r\n", hunk(1)),
    ("rejected.txt", b"Nadel\r\nb\nc\rd", "b\nc\nd", "b", None, REJECT),
    ("S06.txt", b"Nadel\nlast", "Nadel\nlast", "Nadel\nlast\nmore", b"Nadel\nlast\nmore", None),
    ("A04.txt", b"Nadel \0def\nghi\n", "ghi", "GHI", b"Nadel \0def\nGHI\n", None),
    ("A07.txt", "Nadel\f\x85\u2028\v\x1c.\nb".encode(), "\u2028\v", "\x85", "Nadel\f\x85\x85\x1c.\nb".encode(), None),
    ("empty.txt", b"", "", "first\n", b"first\n", None),
    ("only a mark.txt", BOM, "", "x", BOM + b"x", None),
    (" two  spaces .txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("naïve – 国.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("-rf", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("$(touch M).txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("bad\udcff.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("new\nline.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("deep/er/and/deeper.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("A09.sh", b"#!/bin/sh\necho Nadel\n", "echo", "exec echo", b"#!/bin/sh\nexec echo Nadel\n", None),
    ("private.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("xattr.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
    ("A11.txt", b"Nadel 1\n", "1", "2", b"Nadel 2\n", None),
]
MODES = {"A09.sh": 0o755, "private.txt": 0o600, "latin.txt": 0o664, "locked.txt": 0o444}
UNTOUCHED = {
    "locked.txt": b"Nadel 1\n",
    "twice.txt": b"Nadel 1\n1\n",
    "target.txt": b"Nadel through a link\n",
    "every byte.bin": bytes(range(256)),
    "fs/inside.txt": b"Nadel\n",
}
# path, old, new, what the model is told
REFUSED = [
    ("mixed/locked.txt", "1", "2", "read-only"),
    ("mixed/twice.txt", "1", "2", "several times"),
    ("mixed/twice.txt", "gone", "2", "not in"),
    ("mixed/latin.txt", "caf", "国", "cannot hold"),
    ("mixed/out.txt", "1", "2", "out of the project"),
    ("mixed/../../outside.txt", "1", "2", "out of the project"),
    ("mixed/fs", "1", "2", "not a regular file"),
    ("mixed/nothing.txt", "1", "2", "nothing.txt"),
    (".git/config", "1", "2", "belongs to git"),
]


def write_tree(root: Path) -> None:
    """Pygments as pip has installed it, and beside it everything that is not like that."""
    package = distribution("pygments")
    assert package.files is not None
    for file in package.files:
        if file.suffix != ".pyc" and not file.parts[0].startswith(".."):
            target = root / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file.locate(), target)
    mixed = root / "mixed"
    contents = {name: data for name, data, *_ in MIXED} | UNTOUCHED
    for name, data in contents.items():
        path = mixed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(MODES.get(name, 0o644))
    with suppress(OSError):  # a file system without them has none to lose
        os.setxattr(mixed / "xattr.txt", "user.rio", b"\0kept")
    os.link(mixed / "A11.txt", mixed / "A11 too.txt")
    (mixed / "link.txt").symlink_to("target.txt")
    (mixed / "link to a folder").symlink_to("deep/er")
    (mixed / "broken link").symlink_to("nowhere")
    (root.parent / "outside.txt").write_bytes(b"Nadel 1\n")
    (mixed / "out.txt").symlink_to("../../outside.txt")
    os.mkfifo(mixed / "pipe")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("[core]\n\tbare = 1\n")
    for name in contents:
        os.utime(mixed / name, ns=(LONG_AGO, LONG_AGO))


def create(path: str, given: str) -> str:
    return f"/tool propose_create {json.dumps({'path': path, 'text': given})}"


def mixed_plans() -> list[Plan]:
    plans = []
    for name, data, old, new, becomes, decision in MIXED:
        plan = Plan(f"mixed/{name}", old, new, data, becomes, asked=f"mixed/{name}".replace("\udcff", r"\xFF"))
        plan.decision = decision or plan.decision
        plan.outcome = "rejected" if decision is REJECT else "applied"
        plans.append(plan)
    target = UNTOUCHED["target.txt"]
    plans.append(Plan("mixed/link.txt", "through", "behind", target, target.replace(b"through", b"behind"),
                      file="mixed/target.txt"))  # fmt: skip
    return plans


def occurs_once(data: bytes, part: bytes) -> bool:
    return data.find(part) == data.rfind(part) >= 0


def place(data: bytes, fraction: float) -> tuple[list[str], bytes]:
    """Five lines that are in the data once, from about there on."""
    rows = data.decode().split("\n")
    for first in itertools.chain(range(int(fraction * len(rows)), len(rows) - 6), range(len(rows) - 6)):
        part = rows[first : first + 5]
        joined = "".join(row + "\n" for row in part)
        if part[0].strip() and part[4].strip() and occurs_once(data, joined.encode()):
            return part, joined.encode()
    raise AssertionError("no five lines that occur once")


def plan(root: Path, path: str, fraction: float, how: str) -> Plan:
    """A proposal with two hunks: its first and its last line are changed."""
    rows, was = place((root / path).read_bytes(), fraction)

    def with_remarks(first: str, last: str) -> str:
        return "".join(row + "\n" for row in (rows[0] + first, *rows[1:4], rows[4] + last))

    made = Plan(path, was.decode(), with_remarks("  # first", "  # last"), was, None)
    match how:
        case "approve":
            made.becomes = made.new.encode()
        case "reject":
            made.decision, made.outcome = REJECT, "rejected"
        case "first hunk":
            made.decision, made.becomes = hunk(0), with_remarks("  # first", "").encode()
        case "last hunk":
            made.decision, made.becomes = hunk(1), with_remarks("", "  # last").encode()
        case "text":
            mine = with_remarks("", "") + "# größer\n"
            made.decision, made.becomes = text(mine), mine.encode()
    return made


class Work:
    """A user at a front end, with what each file must hold."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client = client
        self.root = root
        self.journal = Journal(client)
        self.before = TreeSnapshot.take(root)
        self.written: dict[str, bytes] = {}

    def data(self, path: str) -> bytes:
        return self.written[path] if path in self.written else self.before[path].data or b""

    async def ask(self, *steps: str) -> None:
        await self.client.call("agent.send", text="\n".join(steps))

    async def results(self) -> list[dict[str, Any]]:
        """The results of the calls of the last turn, as the model has them."""
        await self.journal.end_of_turn()
        shown = await self.client.call("agent.history", limit=3)
        return [block for message in shown.messages for block in message.blocks if block["type"] == "tool_result"]

    async def proposed(self, plans: Sequence[Plan]) -> list[tuple[Plan, Any]]:
        """Have the changes proposed, all of one answer; nothing is written for it."""
        there = TreeSnapshot.take(self.root)
        await self.ask(*(plan.step() for plan in plans))
        events = [await self.journal.kind("agent.propose", "agent.message") for _ in plans]
        assert [getattr(event, "path", event) for event in events] == [plan.path for plan in plans]
        assert there.changes(TreeSnapshot.take(self.root)) == []
        return list(zip(plans, events, strict=True))

    async def decide(self, plan: Plan, event: Any) -> None:
        answer = await self.client.call(
            "agent.approve", turn=event.turn, proposal=event.proposal, digest=event.digest, **plan.decision
        )
        assert answer.outcome == plan.outcome, (plan.path, answer.message)
        if plan.outcome == "applied" and plan.becomes is not None:
            file = plan.file or plan.path
            assert occurs_once(self.data(file), plan.was) or not plan.was
            self.written[file] = self.data(file).replace(plan.was, plan.becomes, 1)
            if file == "mixed/A11.txt":
                self.written["mixed/A11 too.txt"] = self.written[file]

    async def type(self, path: str, *words: str) -> Any:
        """Type words at the beginning of a file, in the order in which they are read afterwards."""
        buffer = await self.client.call("buffer.open", path=path)
        done, column = buffer, 0
        for word in words:
            edit = {"start": [0, column], "end": [0, column], "text": word}
            done = await self.client.call(
                "buffer.edit", buffer=buffer.buffer, revision=done.revision, edits=[edit], group="typing"
            )
            column += len(word)
        self.written[path] = "".join(words).encode() + self.data(path)
        return buffer

    async def save(self, path: str, *, deciding: bool = False) -> None:
        buffer = await self.client.call("buffer.open", path=path)
        saved = await self.client.call("buffer.save", buffer=buffer.buffer)
        # While decisions are made, one may land between the save and its answer.
        assert deciding or saved.bytes == len(self.written[path])

    def check(self) -> None:
        """The whole tree holds what was approved and what the user saved, and nothing else has changed."""
        assert self.before.unexplained(TreeSnapshot.take(self.root), self.written) == []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    write_tree(root)
    return root


@pytest.fixture
async def work(root: Path) -> AsyncIterator[Work]:
    async with start_core(project=str(root)) as client:
        work = Work(client, root)
        assert len(work.before) > 400
        yield work
        work.journal.close()


def sources(root: Path) -> Iterator[str]:
    """Files of the package that are long enough to have several places."""
    found = []
    for path in sorted((root / "pygments").rglob("*.py")):
        data = path.read_bytes()
        if data.count(b"\n") > 60 and b"\r" not in data:
            found.append(str(path.relative_to(root)))
    assert len(found) > 200
    return iter(found[::4])


async def test_the_agent_reads_lists_and_searches_what_is_there(work):
    await work.ask(
        '/tool fs_list {"path": "pygments/lexers"}',
        '/tool fs_list {"path": "mixed"}',
        '/tool fs_search {"pattern": "Nadel"}',
        '/tool fs_search {"pattern": "def analyse_text"}',
    )
    lexers, mixed, needles, real = [block["text"] for block in await work.results()]
    names = os.listdir(work.root / "pygments/lexers")
    assert {line.split("  ")[0] for line in lexers.split("\n")[1:]} == set(names)
    assert mixed.startswith(f"mixed: {len(os.listdir(work.root / 'mixed'))} entries")

    def hits(text: str) -> set[str]:
        return {line for line in text.split("\n")[1:] if not line.startswith("  ")}

    empty_or_binary = {"empty.txt", "only a mark.txt", "A04.txt", "every byte.bin"}
    odd = {"bad\udcff.txt": r"bad\xFF.txt", "new\nline.txt": r"new\nline.txt"}
    wanted = {name for name, *_ in MIXED} | UNTOUCHED.keys() | {"A11 too.txt"}
    assert hits(needles) == {f"mixed/{odd.get(name, name)}" for name in wanted - empty_or_binary}
    holding = {path for path, entry in work.before.items() if b"def analyse_text" in (entry.data or b"")}
    assert len(holding) > 40
    assert hits(real) == holding
    assert work.before.changes(TreeSnapshot.take(work.root)) == []


async def test_what_is_read_is_what_is_in_the_file(work):
    names = [name for name, *_ in MIXED if "\udcff" not in name]
    await work.ask(*(f"/tool fs_read {json.dumps({'path': f'mixed/{name}'})}" for name in names))
    texts = [block["text"] for block in await work.results()]
    read = {name: [line.partition("\t")[2] for line in text.split("\n") if "\t" in line]
            for name, text in zip(names, texts, strict=True)}  # fmt: skip
    assert read["le.txt"] == ["Nadel", "zwei", ""]
    assert read["latin.txt"] == ["Nadel café", "naïve", ""]
    assert read["A01.txt"] == ["Nadel", "aÿbÃ", "end"]
    assert read["A05.txt"] == ["Nadel", "b", "c", "d", ""]
    assert read["A06.txt"] == ["Nadel", "two", "3", ""]
    assert read["A07.txt"] == ["Nadel\f\x85\u2028\v\x1c.", "b"]
    assert work.before.changes(TreeSnapshot.take(work.root)) == []


async def test_what_cannot_be_proposed_is_refused_in_words_and_nothing_changes(work):
    steps = [Plan(path, old, new, b"", None).step() for path, old, new, _ in REFUSED]
    creates = ["mixed/utf8.txt", "mixed/link.txt", "../made.txt", ".git/hooks/post-commit"]
    await work.ask(*steps, *(create(path, "x") for path in creates))
    results = await work.results()
    assert [block["ok"] for block in results] == [False] * len(results)
    for (path, *_, told), block in zip(REFUSED, results, strict=False):
        assert told in block["text"], path
    assert work.before.changes(TreeSnapshot.take(work.root)) == []
    assert not (work.root.parent / "made.txt").exists()
    assert (work.root.parent / "outside.txt").read_bytes() == b"Nadel 1\n"


async def files_of_every_kind(work: Work, chance: random.Random) -> None:
    waiting = await work.proposed(mixed_plans())
    chance.shuffle(waiting)
    for one in waiting:
        await work.decide(*one)
    await work.journal.end_of_turn()
    work.check()
    after = TreeSnapshot.take(work.root)
    assert after["mixed/A11.txt"].inode == after["mixed/A11 too.txt"].inode == work.before["mixed/A11.txt"].inode


async def many_files(work: Work, files: Iterator[str], chance: random.Random) -> list[str]:
    """Decisions on many files and on several places of one, while the user types. Gives files with one approval."""
    ways = itertools.cycle(["approve", "reject", "first hunk", "last hunk", "text"])
    plans = [plan(work.root, path, chance.random(), next(ways)) for path in itertools.islice(files, 40)]
    alone = [one.path for one in plans if one.becomes is not None]
    several = list(itertools.islice(files, 4))
    for path in several:
        plans += [plan(work.root, path, at, how) for at, how in ((0.1, "last hunk"), (0.5, "reject"), (0.8, "approve"))]
    waiting = await work.proposed(plans)
    chance.shuffle(waiting)
    words = [f"# w{number} " for number in range(40)]

    async def type_on() -> None:
        for first in range(0, 40, 10):
            await work.type(several[0], *words[first : first + 10])
            await work.save(several[0], deciding=True)

    async with anyio.create_task_group() as user:
        user.start_soon(type_on)
        for one in waiting:
            await work.decide(*one)
    await work.save(several[0])
    other = next(files)
    await work.type(other, "# mine\n")
    await work.save(other)
    await work.journal.end_of_turn()
    work.check()
    return alone


async def text_that_is_not_saved(work: Work, files: Iterator[str]) -> None:
    """Decisions on files that the user has changed meanwhile: unsaved, saved, and over the very text."""
    unsaved, saved, over, left = itertools.islice(files, 4)
    plans = [plan(work.root, path, 0.5, "approve") for path in (unsaved, saved, over)]
    plans[2].outcome, plans[2].becomes = "refused", None
    waiting = await work.proposed(plans)
    await work.type(unsaved, "# not saved yet\n")
    await work.type(saved, "# saved\n")
    await work.save(saved)
    buffer = await work.client.call("buffer.open", path=over)
    event = waiting[2][1]
    line = (await work.client.call("agent.proposal", turn=event.turn, proposal=event.proposal)).at[0]
    edit = {"start": [line + 1, 0], "end": [line + 1, 0], "text": "#"}
    await work.client.call("buffer.edit", buffer=buffer.buffer, revision=buffer.revision, edits=[edit])
    lost = await work.type(left, "# never saved\n")
    del work.written[left]
    await work.client.call("buffer.close", buffer=lost.buffer, discard=True)
    for one in waiting:
        await work.decide(*one)
    await work.journal.end_of_turn()
    assert (work.root / unsaved).read_bytes() == work.before[unsaved].data
    await work.save(unsaved)
    await work.client.call("buffer.undo", buffer=buffer.buffer)
    work.check()


async def new_files(work: Work) -> None:
    cases: list[tuple[str, str, dict[str, Any], bytes | None, str]] = [
        ("made/by/agent.txt", "new\n", {"decision": "approve"}, b"new\n", "applied"),
        ("made/changed.txt", "1\n", text("zwei €"), "zwei €".encode(), "applied"),
        ("made/never.txt", "x", REJECT, None, "rejected"),
        ("made/taken.txt", "x", {"decision": "approve"}, b"", "refused"),
    ]
    await work.ask(*(create(path, given) for path, given, *_ in cases))
    events = [await work.journal.kind("agent.propose") for _ in cases]
    await work.client.call("fs.create", path="made/taken.txt")
    for event, (path, _, decision, data, outcome) in zip(events, cases, strict=True):
        decided = {"turn": event.turn, "proposal": event.proposal, "digest": event.digest, **decision}
        assert (await work.client.call("agent.approve", **decided)).outcome == outcome, path
        if data is not None:
            work.written[path] = data
    await work.journal.end_of_turn()
    work.check()


async def undo_everything(work: Work) -> dict[str, int]:
    """Take every step of every document back, and save it. Gives the number of steps by path."""
    steps: dict[str, int] = {}
    for buffer in (await work.client.call("buffer.list")).buffers:
        steps[buffer.path] = 0
        while (undone := await work.client.call("buffer.undo", buffer=buffer.buffer)).changed:
            steps[buffer.path] += 1
        if undone.dirty:
            await work.client.call("buffer.save", buffer=buffer.buffer)
    return steps


async def test_exactly_the_approved_bytes_change_and_undo_brings_all_of_them_back(work):
    chance = random.Random(5)  # noqa: S311  an order, no secret
    files = sources(work.root)
    await files_of_every_kind(work, chance)
    alone = await many_files(work, files, chance)
    await text_that_is_not_saved(work, files)
    await new_files(work)
    assert len(work.written) > 70

    steps = await undo_everything(work)
    assert {steps[path] for path in alone} == {1}
    for path in ("made/by/agent.txt", "made/changed.txt", "made/taken.txt", "made/by", "made"):
        await work.client.call("fs.delete", path=path)
    saved = {path: work.before[path].data or b"" for path in work.written if path in work.before}
    assert work.before.unexplained(TreeSnapshot.take(work.root), saved) == []
