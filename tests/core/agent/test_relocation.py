"""An approved edit lands where its text is at that moment, or is refused; it never lands elsewhere."""

from pathlib import Path

import anyio
from hypothesis import assume, given
from hypothesis import strategies as st

from rio_core._engine.agent.desk import Desk
from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.documents.store import Documents
from rio_core._engine.tools.toolbox import Draft
from rio_core._engine.workspace.confine import Root
from rio_core.protocol.errors import RioError
from support.profiles import examples

# Few letters, so that the quoted text occurs again by chance, touches itself and loses its place.
PIECES = st.lists(st.sampled_from(["a", "b", "ab", "\n", "\r\n", "\r", "aa\n", "b\r\n", "é", "🍋"]), max_size=14)
TEXTS = PIECES.map("".join)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), TEXTS), max_size=4)


def units(text: str) -> list[str]:
    """Characters, each line end as one unit `\\n`: the reading in which line ends of all kinds are equal."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("\r\n", at):
            found.append("\n")
            at += 2
        else:
            found.append("\n" if text[at] in "\r\n" else text[at])
            at += 1
    return found


def places(text: list[str], wanted: list[str]) -> list[int]:
    return [at for at in range(len(text) - len(wanted) + 1) if text[at : at + len(wanted)] == wanted]


def lf(text: str) -> str:
    return "".join(units(text))


async def relocate(
    folder: Path, text: str, cut: tuple[float, float], new: str, edits: list[tuple[float, float, str]]
) -> None:
    (folder / "f.txt").write_bytes(text.encode())
    with Root.open(str(folder)) as root:
        documents = Documents(root.place, recovery=str(folder / "rec"), changed=lambda _: None)
        desk = Desk(documents, root, saves=lambda: False)
        whole = units(text)
        first, last = sorted(int(part * len(whole)) for part in cut)
        old = "".join(whole[first:last])
        try:
            proposal = await desk.propose("t", "c", Draft(kind="edit", path="f.txt", old=old, new=new))
        except RioError:
            assert old == lf(new) or (not old and whole) or len(places(whole, units(old))) != 1
            return
        assert not old or len(places(whole, units(old))) == 1
        buffer = await documents.open("f.txt")
        for start, end, typed in edits:
            lines = [line for line, _ in buffer.text.lines(0, buffer.lines)]
            a, b = sorted(min(int(part * len(lines)), len(lines) - 1) for part in (start, end))
            begin = Position(a, int(start * len(lines[a])))
            stop = Position(b, int(end * len(lines[b])))
            if stop < begin:
                begin, stop = stop, begin
            buffer.edit(buffer.revision, [Edit(begin, stop, typed)], origin="client")
        before = str(buffer.text)
        there = units(before)
        applied = await desk.apply(proposal.record, proposal.record.new)
        after = str(buffer.text)
        hits = places(there, units(old)) if old else ([0] if not there else [])
        if len(hits) != 1:
            assert not applied.done
            assert after == before
            return
        assert applied.done
        at = hits[0]
        assert units(after) == there[:at] + units(lf(new)) + there[at + len(units(old)) :]
        # Outside of the place the very bytes are kept, whatever ends their lines have.
        head = raw_prefix(before, at)
        tail = raw_suffix(before, len(there) - at - len(units(old)))
        assert after.startswith(head[:-1] if head.endswith("\r") else head)
        assert after.endswith(tail[1:] if tail.startswith("\n") else tail)
        buffer.undo(origin="undo")
        assert str(buffer.text) == before


def raw_prefix(text: str, count: int) -> str:
    at = 0
    for _ in range(count):
        at += 2 if text.startswith("\r\n", at) else 1
    return text[:at]


def raw_suffix(text: str, count: int) -> str:
    return text[len(raw_prefix(text, len(units(text)) - count)) :]


@examples(ci=1000, deep=10_000)
@given(text=TEXTS, cut=st.tuples(st.floats(0, 1), st.floats(0, 1)), new=TEXTS, edits=EDITS)
def test_an_approved_edit_lands_where_its_text_is_or_nowhere(tmp_path_factory, text, cut, new, edits):
    assume(text)
    folder = tmp_path_factory.mktemp("relocation")
    anyio.run(relocate, folder, text, cut, new, edits)
