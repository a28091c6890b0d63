"""The ops of `search`."""

from collections.abc import Awaitable, Coroutine
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import anyio

from rio_core._engine.documents.buffer import Buffer
from rio_core._engine.documents.edits import Edit, Position, Span, carried, stale
from rio_core._engine.documents.lines import Ending
from rio_core._engine.documents.text import Text
from rio_core._engine.find.finder import find, positions, replacements
from rio_core._engine.find.pattern import Wanted
from rio_core._engine.serving.connection import Connection
from rio_core._engine.serving.handlers import Call, Handlers
from rio_core._engine.serving.pages import ANSWER
from rio_core.protocol.errors import INVALID_PARAMS, RioError
from rio_core.protocol.framing import encode
from rio_core.protocol.ops import Done
from rio_core.protocol.ops import search as ops

handlers = Handlers()

T = TypeVar("T")
Range = tuple[tuple[int, int], tuple[int, int]] | None

_PAGE: Final = 2000

_running: "WeakKeyDictionary[Connection, dict[str, anyio.CancelScope]]" = WeakKeyDictionary()


async def _stoppable(call: Call, token: str | None, work: Coroutine[Any, Any, T]) -> T:
    """Do the work unless it is stopped by its token."""
    if token is None:
        return await work
    running = _running.setdefault(call.connection, {})
    if token in running:
        running[token].cancel()
    with anyio.CancelScope() as scope:
        running[token] = scope
        try:
            return await work
        finally:
            if running.get(token) is scope:
                del running[token]
    raise RioError("conflict", "The search was stopped.", "Search again if it is still wanted.")


@handlers.op("search.stop")
def stop(call: Call, params: ops.StopParams) -> Done:
    """Stop a search."""
    if (scope := _running.get(call.connection, {}).get(params.token)) is not None:
        scope.cancel()
    return Done()


def _offsets(text: Text, within: Range) -> tuple[int, int]:
    if within is None:
        return 0, len(text)
    low, high = text.offsets(Position(*within[0]), Position(*within[1]))
    if high < low:
        raise RioError(
            "bad_message", "The range ends before it begins.", "Send start and end in this order.", code=INVALID_PARAMS
        )
    return low, high


def _ending(buffer: Buffer) -> Ending:
    ending = buffer.line_ending
    return buffer.default_ending if ending == "mixed" else ending


# The text is taken when the request comes, not when its turn comes: edits that are sent later are not seen.


@handlers.op("search.buffer")
def buffer_(call: Call, params: ops.FindParams) -> Awaitable[ops.FindResult]:
    """Find in a document."""
    if min(params.back, params.limit) < 0:
        raise RioError(
            "bad_message", "`back` and `limit` must not be negative.", "Ask for a page.", code=INVALID_PARAMS
        )
    buffer = call.core.documents.get(params.buffer)
    text = buffer.text.snapshot()
    low, high = _offsets(text, params.within)
    first = (0 if params.limit else len(text)) if params.first is None else text.offset(Position(*params.first))
    return _stoppable(call, params.token, _find(params, text, buffer.revision, (low, high, first), _ending(buffer)))


async def _find(
    params: ops.FindParams, text: Text, revision: int, where: tuple[int, int, int], ending: Ending
) -> ops.FindResult:
    low, high, first = where
    back = min(params.back, _PAGE)
    found = await find(
        text,
        Wanted(params.pattern, params.regex, params.case, params.word),
        low,
        high,
        first=first,
        back=back,
        limit=min(params.limit, _PAGE - back),
        replacement=params.replacement,
        ending=ending,
    )
    places = positions(text, [offset for hit in found.hits for offset in hit])
    hits: list[tuple[tuple[int, int], tuple[int, int]]] = list(zip(places[::2], places[1::2], strict=True))
    texts = found.texts
    before = found.before
    if texts is not None:
        hits, texts, before = _fitting(hits, texts, before, text.position(first))
    return ops.FindResult(revision=revision, hits=hits, before=before, total=found.total, more=found.more, texts=texts)


def _fitting(
    hits: list[tuple[tuple[int, int], tuple[int, int]]], texts: list[str], before: int, first: tuple[int, int]
) -> tuple[list[tuple[tuple[int, int], tuple[int, int]]], list[str], int]:
    """As many hits as an answer holds with their texts: those from `first` on, then those before it, nearest first."""
    room = ANSWER
    split = next((index for index, hit in enumerate(hits) if hit[0] >= first), len(hits))
    low = high = split
    for index in [*range(split, len(hits)), *range(split - 1, -1, -1)]:
        room -= len(encode((hits[index], texts[index]))) + 2
        if room < 0:
            break
        low, high = min(low, index), max(high, index + 1)
    return hits[low:high], texts[low:high], before + low


@handlers.op("search.replace_all")
def replace_all(call: Call, params: ops.ReplaceAllParams) -> Awaitable[ops.ReplaceAllResult]:
    """Replace in a document."""
    buffer = call.core.documents.get(params.buffer)
    if buffer.revision != params.revision:
        raise stale()
    text = buffer.text.snapshot()
    low, high = _offsets(text, params.within)
    return _stoppable(call, params.token, _replace_all(call, params, buffer, text, (low, high)))


async def _replace_all(
    call: Call, params: ops.ReplaceAllParams, buffer: Buffer, text: Text, where: tuple[int, int]
) -> ops.ReplaceAllResult:
    wanted = Wanted(params.pattern, params.regex, params.case, params.word)
    found, count = await replacements(text, wanted, params.replacement, *where, ending=_ending(buffer))
    if not found:
        return ops.ReplaceAllResult(revision=buffer.revision, count=0, within=params.within)
    places = positions(text, [offset for edit in found for offset in edit[:2]])
    edits = [Edit(start, end, edit.text) for edit, start, end in zip(found, places[::2], places[1::2], strict=True)]
    selection = params.selection
    # From the last to the first, so that no edit moves another one. The buffer may have been closed meanwhile.
    applied = call.core.documents.get(buffer.id).edit(
        params.revision,
        edits[::-1],
        origin="client",
        request=call.id,
        selection=(Position(*selection[0]), Position(*selection[1])) if selection else None,
    )
    within = None
    if params.within is not None and applied.revision == params.revision + 1:
        start, end = Position(*params.within[0]), Position(*params.within[1])
        for edit in applied.edits:
            end = carried(end, Span.of(edit))
        within = (start, end)
    return ops.ReplaceAllResult(revision=applied.revision, count=count, within=within)


@handlers.op("search.files")
async def files(call: Call, params: ops.FilesParams) -> ops.FilesResult:
    """Find in files."""
    return await _stoppable(call, params.token, _files(call, params))


async def _files(call: Call, params: ops.FilesParams) -> ops.FilesResult:
    from rio_core._engine.find.in_files import line_pattern
    from rio_core._engine.workspace.search import search

    project = call.core.need_project()
    unsaved = {
        buffer.path: str(buffer.text)
        for buffer in call.core.documents.all()
        if buffer.dirty and buffer.path is not None and not buffer.path.startswith("/")
    }
    pattern, regex = line_pattern(params.pattern, regex=params.regex, case=params.case, word=params.word)
    found = await search(project.root, pattern, path=params.path or ".", regex=regex, glob=params.glob, texts=unsaved)
    answer = ops.FilesResult(files=[], cut=found.cut)
    room = ANSWER
    for file in found.files:
        hits = [
            ops.LineHit(position=(hit.line - 1, hit.column - 1), text=hit.text, at=hit.at, length=hit.length)
            for hit in file.hits
        ]
        shown = ops.FileHits(path=file.path, hits=hits, more=file.more, unsaved=file.unsaved)
        room -= len(encode(shown)) + 1
        if room < 0:
            answer.cut = "bytes"
            break
        answer.files.append(shown)
    return answer
