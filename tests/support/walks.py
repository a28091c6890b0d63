"""Walks through everything that can happen to an agent, with a plain model of what must be true after each step."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio
from hypothesis import strategies as st

from rio_core._engine.agent import history
from rio_core._engine.agent.records import Answer, Record
from rio_core.protocol import RioError
from support.strict import faults

FILES = {
    "a.txt": b"one\ntwo\nthree\none more\n",
    "b.txt": b"alpha\r\nbeta\r\ngamma\r\n",
    "c.txt": b"caf\xe9\nlast line",
    "sub/d.txt": b"\xef\xbb\xbfmark\rlone\r",
}
ENCODINGS = {"a.txt": "utf-8", "b.txt": "utf-8", "c.txt": "latin-1", "sub/d.txt": "utf-8-sig"}
OTHERS = {"untouched.bin": bytes(range(256)), "sub/other.txt": b"nobody asks\n"}

QUOTES = [
    ("a.txt", "two\nthree"),
    ("a.txt", "two"),
    ("a.txt", "three"),
    ("a.txt", "one"),  # twice
    ("b.txt", "alpha"),
    ("b.txt", "beta\r\ngamma"),
    ("c.txt", "last line"),
    ("sub/d.txt", "mark"),
    ("sub/d.txt", "missing"),
]
NEWS = st.sampled_from(["ONE", "", "x\ny", "two", "\n", r"\1 $& \g<0>", "t\u200bhidden"])
PATHS = st.sampled_from(["a.txt", "a.txt", *sorted(FILES)])


def _tool(name: str, **given: Any) -> str:
    return f"/tool {name} {json.dumps(given)}"


EDITS = st.builds(
    lambda quote, new: _tool("propose_edit", path=quote[0], old=quote[1], new=new), st.sampled_from(QUOTES), NEWS
)
PROPOSALS = st.one_of(
    EDITS,
    EDITS,
    # One text wanted twice: whichever is decided first, the other one finds it gone.
    st.builds(lambda edit: f"{edit}\n{edit}", EDITS),
    st.builds(
        lambda number, text: _tool("propose_create", path=f"made/{number}.txt", text=text), st.integers(0, 5), NEWS
    ),
)
OTHER_LINES = st.one_of(
    st.sampled_from(
        [
            "/say some words here",
            "/say ",
            "/think a thought",
            "/tool fs_list {}",
            "/tool buffer_list {}",
            "/tool no_such_tool {}",
            '/tool fs_read {"path": "../x"}',
            '/tool fs_read {"path": 5}',
            "/raw-tool propose_edit {not json",
            "/raw-tool fs_list ",
            "/pause 0.02",
            "/flood 20",
        ]
    ),
    st.builds(lambda path: _tool("fs_read", path=path), PATHS),
)
ENDS = st.one_of(
    st.sampled_from(["", "/then", "/then\n/say after"]),
    st.sampled_from(["", "/then\n/think more\n/say after", "/then\n/tool buffer_list {}"]),
    st.sampled_from(
        [
            "/pause 30",
            "/then\n/pause 30",
            "/fail network the line is cut",
            "/fail authentication no",
            "/stop max_tokens",
            "/stop refusal",
            "/stop pause_turn",
            "/stop made_up",
            "/raise boom",
            "/silent",
        ]
    ),
)
SCRIPTS = st.one_of(
    st.sampled_from(["hello", "two\nlines", "a lone \ud800 half", "   padded   "]),
    st.builds(
        lambda lines, end: "\n".join([*lines, *([end] if end else [])]) or "/say x",
        st.lists(st.one_of(PROPOSALS, PROPOSALS, OTHER_LINES), min_size=1, max_size=4),
        ENDS,
    ),
)


@dataclass(frozen=True)
class Step:
    """What happens next. `pick` chooses among what is there by remainder; `more` is a path, or a script."""

    kind: str
    text: str = ""
    pick: int = 0
    more: str = ""


PICK = st.integers(0, 7)
# What a decision asks for first, where nothing waits.
ASKED = st.lists(PROPOSALS, min_size=1, max_size=3).map("\n".join)
OFTEN = st.one_of(
    st.builds(Step, st.just("send"), SCRIPTS),
    st.builds(Step, st.just("approve"), pick=PICK, more=ASKED),
    st.builds(Step, st.just("approve"), pick=PICK, more=ASKED),
    st.builds(Step, st.just("type"), NEWS, PICK, PATHS),
    st.builds(Step, st.just("other program"), NEWS, PICK, PATHS),
)
SELDOM = st.one_of(
    st.builds(Step, st.just("queue"), SCRIPTS),
    st.builds(Step, st.just("stop")),
    st.builds(Step, st.just("settle")),
    st.builds(Step, st.just("approve hunk"), pick=PICK, more=ASKED),
    st.builds(Step, st.just("approve changed"), NEWS, PICK, ASKED),
    st.builds(Step, st.just("reject"), st.sampled_from(["", "not so", "\ud800"]), PICK, ASKED),
    st.builds(Step, st.just("wrong digest"), pick=PICK),
    st.builds(Step, st.just("save"), st.just(""), PICK, PATHS),
    st.builds(Step, st.just("restart")),
    st.builds(Step, st.just("reset")),
    st.builds(Step, st.just("nothing")),
)
STEPS = st.one_of(OFTEN, OFTEN, SELDOM)
WALKS = st.lists(STEPS, min_size=40, max_size=40)


class Subject(Protocol):
    """A core, in this process or behind a pipe."""

    async def call(self, op: str, /, **params: Any) -> Any: ...
    async def restart(self) -> None: ...
    def records(self) -> Sequence[Record]: ...


def write_project(folder: Path) -> None:
    """The project that walks work on."""
    for name, data in {**FILES, **OTHERS}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Walk:
    """Takes steps, and knows what the files and the buffers must be after each of them."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.subject = subject
        self.folder = folder
        self.disk: dict[str, bytes] = {**FILES, **OTHERS}
        self.buffers: dict[str, str] = {}
        self.outside: set[str] = set()  # changed by another program since the buffer was read
        self.foreign: Counter[str] = Counter()  # writes of another program, by path
        self.shown: dict[str, int] = {}  # how many of them there were when a proposal was seen first
        self.applied = self.refused = self.stale = 0

    async def take(self, steps: Iterable[Step]) -> None:
        for step in steps:
            await self._observe()
            await getattr(self, "_" + step.kind.replace(" ", "_"))(step)
            await self.check()

    async def _observe(self) -> None:
        for one in (await self.subject.call("agent.history", limit=1)).proposals:
            self.shown.setdefault(one.proposal, self.foreign[one.path])

    async def check(self) -> None:
        there = {
            str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()
        }
        assert there == self.disk
        shown = await self.subject.call("agent.history", limit=1)
        records = self.subject.records()
        open_calls = [call for _, call in history.unanswered(records)]
        if shown.running is None:
            assert not open_calls
            assert not shown.proposals
        assert {one.call for one in shown.proposals} <= set(open_calls)
        contexts = {record.context for record in records if isinstance(record, Answer)} | {""}
        for context in contexts:
            assert not faults(history.messages(records, "echo", context))
        for buffer in (await self.subject.call("buffer.list")).buffers:
            text = await self.subject.call("buffer.text", buffer=buffer.buffer)
            if buffer.path in self.outside and not buffer.dirty and text.text == self._decoded(buffer.path):
                self._followed(buffer.path, dirty=False)
            assert text.text == self.buffers.setdefault(buffer.path, text.text), buffer.path
            if not buffer.dirty and buffer.path not in self.outside:
                assert self._decoded(buffer.path) == text.text

    def _decoded(self, path: str) -> str:
        return self.disk[path].decode(ENCODINGS.get(path, "utf-8"))

    async def _try(self, op: str, **params: Any) -> Any:
        try:
            return await self.subject.call(op, **params)
        except RioError as error:
            refusal = error
        assert refusal.kind != "internal", refusal.message
        assert refusal.message
        assert refusal.action
        return refusal

    # -- steps -------------------------------------------------------------------------------------------------

    async def _nothing(self, step: Step) -> None:
        pass

    async def _send(self, step: Step) -> None:
        await self.subject.call("agent.send", text=step.text)

    async def _queue(self, step: Step) -> None:
        await self.subject.call("agent.send", text=step.text, queue=True)

    async def _stop(self, step: Step) -> None:
        await self.subject.call("agent.stop")

    async def _reset(self, step: Step) -> None:
        await self.subject.call("agent.reset")

    async def _restart(self, step: Step) -> None:
        before = await self.subject.call("agent.history")
        await self.subject.restart()
        self.buffers.clear()
        self.outside.clear()
        self.shown.clear()
        after = await self.subject.call("agent.history")
        if before.proposals:
            assert {(one.turn, one.proposal, one.digest) for one in after.proposals} >= {
                (one.turn, one.proposal, one.digest) for one in before.proposals
            }

    async def _settle(self, step: Step) -> None:
        """Wait until the turn is over, or waits, or at most a moment."""
        for _ in range(25):
            shown = await self.subject.call("agent.history", limit=1)
            if shown.running is None or shown.proposals:
                return
            await anyio.sleep(0.002)

    async def _open(self, path: str) -> tuple[Any, str]:
        buffer = await self.subject.call("buffer.open", path=path)
        text = (await self.subject.call("buffer.text", buffer=buffer.buffer)).text
        if path in self.outside and not buffer.dirty and text == self._decoded(path):
            self._followed(path, dirty=False)
        assert text == self.buffers.setdefault(path, text)
        return buffer, text

    async def _type(self, step: Step) -> None:
        path = await self._where(step)
        buffer, text = await self._open(path)
        edit = {"start": [0, 0], "end": [0, 0], "text": step.text}
        done = await self._try("buffer.edit", buffer=buffer.buffer, revision=buffer.revision, edits=[edit])
        assert not isinstance(done, RioError)
        self.buffers[path] = step.text + text

    async def _save(self, step: Step) -> None:
        path = step.more
        buffer, text = await self._open(path)
        saved = await self._try("buffer.save", buffer=buffer.buffer)
        if isinstance(saved, RioError):
            assert saved.kind == "encoding" or (saved.kind == "changed_on_disk" and path in self.outside)
            return
        assert path not in self.outside
        self.disk[path] = text.encode(ENCODINGS[path])

    async def _where(self, step: Step) -> str:
        """The path of the step, or of a proposal that waits: there it matters."""
        waiting = [
            one.path for one in (await self.subject.call("agent.history", limit=1)).proposals if one.kind == "edit"
        ]
        return waiting[step.pick % len(waiting)] if waiting and step.pick < 6 else step.more

    async def _other_program(self, step: Step) -> None:
        path = await self._where(step)
        addition = lf(step.text).encode("ascii", "ignore") + b"other\n"
        self.disk[path] += addition
        # In one go: a core that looks in the middle of a write sees, rightly, what is there then.
        new = anyio.Path(self.folder.parent / "new")
        await new.write_bytes(self.disk[path])
        await new.replace(self.folder / path)
        self.foreign[path] += 1
        self.outside.add(path)  # the core may be opening it at this moment
        # A proposal that was made while the file was written may have seen either.
        for one in (await self.subject.call("agent.history", limit=1)).proposals:
            self.shown.setdefault(one.proposal, self.foreign[path])

    async def _approve(self, step: Step) -> None:
        await self._decide(step, lambda proposal: {})

    async def _approve_hunk(self, step: Step) -> None:
        def one_hunk(proposal: Any) -> dict[str, Any]:
            return {"hunks": [proposal.hunks[step.pick % len(proposal.hunks)].id]} if proposal.hunks else {}

        await self._decide(step, one_hunk)

    async def _approve_changed(self, step: Step) -> None:
        await self._decide(step, lambda proposal: {"text": step.text})

    async def _reject(self, step: Step) -> None:
        one = await self._pick(step)
        if one is not None:
            done = await self.subject.call(
                "agent.approve",
                turn=one.turn,
                proposal=one.proposal,
                digest=one.digest,
                decision="reject",
                reason=step.text,
            )
            assert done.outcome == "rejected"

    async def _wrong_digest(self, step: Step) -> None:
        one = await self._pick(step)
        if one is not None:
            done = await self._try(
                "agent.approve", turn=one.turn, proposal=one.proposal, digest="0" * 64, decision="approve"
            )
            assert isinstance(done, RioError)
            assert done.kind == "stale"

    async def _pick(self, step: Step) -> Any:
        await self._settle(step)
        waiting = (await self.subject.call("agent.history", limit=1)).proposals
        if not waiting and step.more:
            await self.subject.call("agent.send", text=step.more)
            await self._settle(step)
            waiting = (await self.subject.call("agent.history", limit=1)).proposals
        return waiting[step.pick % len(waiting)] if waiting else None

    async def _decide(self, step: Step, more: Callable[[Any], dict[str, Any]]) -> None:
        one = await self._pick(step)
        if one is None:
            return
        dirty = one.kind == "edit" and (await self._open(one.path))[0].dirty
        if one.kind == "edit" and self.foreign[one.path] > self.shown.get(one.proposal, self.foreign[one.path]):
            # Another program has changed it since it was shown: that decision must not count.
            done = await self._try(
                "agent.approve", turn=one.turn, proposal=one.proposal, digest=one.digest, decision="approve"
            )
            assert isinstance(done, RioError)
            assert done.kind == "stale"
            self.stale += 1
            self.shown[one.proposal] = self.foreign[one.path]
            self._followed(one.path, dirty=dirty)
        proposal = await self.subject.call("agent.proposal", turn=one.turn, proposal=one.proposal)
        self._followed(one.path, dirty=dirty)
        choice = more(proposal)
        done = await self._try(
            "agent.approve", turn=one.turn, proposal=one.proposal, digest=proposal.digest, decision="approve", **choice
        )
        if isinstance(done, RioError):
            assert done.kind in ("encoding", "bad_message"), done.message
            return
        if one.kind == "create":
            self._created(one.path, proposal, choice, done)
        else:
            await self._edited(one.path, proposal, choice, done, dirty=dirty)

    def _followed(self, path: str, *, dirty: bool) -> None:
        """A clean buffer follows the file when its proposal is looked at."""
        if path in self.outside and not dirty:
            self.buffers[path] = self._decoded(path)
            self.outside.discard(path)

    def _created(self, path: str, proposal: Any, choice: dict[str, Any], done: Any) -> None:
        if path in self.disk:
            assert done.outcome == "refused"
            self.refused += 1
            return
        assert done.outcome == "applied"
        self.applied += 1
        self.disk[path] = lf(choice.get("text", proposal.new)).encode()
        self.buffers[path] = self.disk[path].decode()

    async def _edited(self, path: str, proposal: Any, choice: dict[str, Any], done: Any, *, dirty: bool) -> None:
        before = lf(self.buffers[path])
        count = sum(before.startswith(proposal.old, at) for at in range(len(before)))
        if count != 1:
            assert done.outcome == "refused"
            self.refused += 1
            return
        assert done.outcome == "applied"
        self.applied += 1
        wanted = lf(choice["text"]) if "text" in choice else proposal.new
        if "hunks" in choice and len(proposal.hunks) > 1:
            wanted = with_hunk(proposal, choice["hunks"][0])
        expected = before.replace(proposal.old, wanted)
        buffer = await self.subject.call("buffer.open", path=path)
        text = (await self.subject.call("buffer.text", buffer=buffer.buffer)).text
        assert lf(text) == expected
        self.buffers[path] = text
        if not dirty and path not in self.outside:
            assert not buffer.dirty, done.message
            self.disk[path] = text.encode(ENCODINGS.get(path, "utf-8"))
        else:
            assert buffer.dirty


def with_hunk(proposal: Any, number: int) -> str:
    """`old` with one hunk of the proposal, worked out from the lines that the hunk names."""
    old, new = proposal.old.splitlines(keepends=True), proposal.new.splitlines(keepends=True)
    hunk = next(hunk for hunk in proposal.hunks if hunk.id == number)
    taken = new[hunk.new_start : hunk.new_start + hunk.new_lines]
    return "".join([*old[: hunk.old_start], *taken, *old[hunk.old_start + hunk.old_lines :]])
