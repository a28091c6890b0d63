"""Finding and replacing in a text, within a time limit and without keeping others waiting."""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint

from rio_core._engine.documents.edits import Position, end_of
from rio_core._engine.documents.lines import Ending, with_ending
from rio_core._engine.documents.text import Text
from rio_core._engine.find.child import job_of
from rio_core._engine.find.hits import MOST, Hit, Page, Replaced, merged
from rio_core._engine.find.literal import windows
from rio_core._engine.find.pattern import MAX_PATTERN, Wanted
from rio_core._engine.workspace.process import run
from rio_core.protocol.errors import RioError
from rio_core.protocol.visible import visible_line

__all__ = ["SECONDS", "Found", "find", "positions", "replacements"]

SECONDS: Final = 5.0
"""How long a search may take."""

LARGEST: Final = 256 * 1024 * 1024
"""Characters of a text in which a regular expression is looked for."""

# Isolated from the user's environment and the working folder, with the modules that this process has.
_CHILD: Final = "import sys; sys.path += sys.argv[1:]; from rio_core._engine.find.child import main; main()"

_NEAR: Final = 65_536


@dataclass(frozen=True, slots=True)
class Found:
    """A page of hits; `before` are in front of it. With `more`, `total` is only as far as was counted.

    `texts` are what would take the place of the hits, where that was asked for.
    """

    hits: list[Hit]
    before: int
    total: int
    more: bool
    texts: list[str] | None = None


async def find(
    text: Text,
    wanted: Wanted,
    low: int,
    high: int,
    *,
    first: int,
    back: int,
    limit: int,
    replacement: str | None = None,
    ending: Ending = "lf",
    seconds: float = SECONDS,
) -> Found:
    """The hits from `low` to `high` around the offset `first`, of a text that does not change meanwhile.

    Raises:
        RioError: `bad_message`, with the reason, for a pattern or replacement that means nothing; `unsupported`, when
            the time is over or the text is too large.

    """
    _check(wanted)
    with anyio.move_on_after(seconds):
        if wanted.regex:
            job = job_of(wanted, low, high, first=first, back=back, limit=limit, replacement=replacement, ending=ending)
            answer = await _in_child(job, text)
            hits = [(start, end) for start, end in answer["hits"]]
            return Found(hits, answer["before"], answer["total"], answer["more"], answer.get("texts"))
        page = Page(first, back, limit)
        for hits in windows(text, wanted, low, high):
            if not all(map(page.take, hits)):
                break
            await checkpoint()
        texts = None if replacement is None else [with_ending(replacement, ending)] * len(page.hits)
        return Found(page.hits, page.before, page.total, page.more, texts)
    raise _too_long(seconds)


async def replacements(
    text: Text,
    wanted: Wanted,
    replacement: str,
    low: int,
    high: int,
    *,
    ending: Ending = "lf",
    seconds: float = SECONDS,
) -> tuple[list[Replaced], int]:
    """Edits in order, none touching the next, that replace every hit from `low` to `high`; and how many hits.

    Raises:
        RioError: as `find` does, and `unsupported` for more than a million hits.

    """
    _check(wanted)
    with anyio.move_on_after(seconds):
        if wanted.regex:
            job = job_of(wanted, low, high, replacement=replacement, ending=ending, all=True)
            answer = await _in_child(job, text)
            if answer.get("many"):
                raise _too_many()
            return [Replaced(*edit) for edit in answer["edits"]], answer["count"]
        put = with_ending(replacement, ending)
        found: list[Replaced] = []
        for hits in windows(text, wanted, low, high):
            found += (Replaced(start, end, put) for start, end in hits)
            if len(found) > MOST:
                raise _too_many()
            await checkpoint()
        return merged(found, len(found), text.slice), len(found)
    raise _too_long(seconds)


def positions(text: Text, offsets: Iterable[int]) -> list[Position]:
    """The positions of offsets in rising order, each found from the one before where that is near."""
    found: list[Position] = []
    at = 0
    place = Position(0, 0)
    for offset in offsets:
        near = 0 <= offset - at < _NEAR
        place = end_of(place, text.slice(at, offset)) if near else text.position(offset)
        at = offset
        found.append(place)
    return found


async def _in_child(job: dict[str, Any], text: Text) -> dict[str, Any]:
    if len(text) > LARGEST:
        raise RioError(
            "unsupported",
            f"The text is too large for a regular expression: more than {LARGEST} characters.",
            "Search for plain text.",
        )
    output = bytearray()

    def take(block: bytes) -> bool:
        output.extend(block)
        return True

    def feed() -> bytes:
        pieces = (piece.encode("utf-8", "surrogatepass") for piece in text.chunks())
        return b"".join((json.dumps(job).encode(), b"\n", *pieces))

    places = filter(os.path.isabs, sys.path)
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _CHILD, *places]
    outcome = await run(command, take, feed=await to_thread.run_sync(feed))
    if outcome.code != 0:
        raise RuntimeError(f"the search process ended with {outcome.code}: {outcome.errors}")
    answer: dict[str, Any] = await to_thread.run_sync(json.loads, output)
    if "error" in answer:
        reason = visible_line(answer["error"])
        raise RioError("bad_message", f"This cannot be searched for: {reason}.", "Mend the pattern or replacement.")
    return answer


def _check(wanted: Wanted) -> None:
    if not 0 < len(wanted.pattern) <= MAX_PATTERN:
        raise RioError(
            "bad_message",
            f"A pattern has from 1 to {MAX_PATTERN} characters, this one {len(wanted.pattern)}.",
            "Give another one.",
        )


def _too_long(seconds: float) -> RioError:
    return RioError(
        "unsupported",
        f"The search was stopped because it took longer than {seconds:g} seconds. Nothing was changed.",
        "Make the pattern simpler, or search in a part of the text.",
    )


def _too_many() -> RioError:
    return RioError(
        "unsupported",
        f"There are more than {MOST} places to replace. Nothing was changed.",
        "Replace in a part of the text at a time.",
    )
