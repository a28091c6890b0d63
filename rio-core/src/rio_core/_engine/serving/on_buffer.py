"""The ops of `buffer`."""

from collections.abc import Sequence

from msgspec import UNSET

from rio_core._engine.documents.buffer import Applied, Buffer, Undone
from rio_core._engine.documents.edits import Edit, Position
from rio_core._engine.serving.handlers import Call, Handlers
from rio_core._engine.serving.pages import ANSWER, cut, fitting
from rio_core.protocol.errors import INVALID_PARAMS, RioError
from rio_core.protocol.events import BufferClosed
from rio_core.protocol.framing import encode
from rio_core.protocol.ops import Done, Nothing
from rio_core.protocol.ops import buffer as ops
from rio_core.protocol.values import Edit as WireEdit

handlers = Handlers()


def _shown(buffer: Buffer) -> ops.BufferResult:
    form = buffer.format
    return ops.BufferResult(
        buffer=buffer.id,
        revision=buffer.revision,
        path=buffer.path,
        lines=buffer.lines,
        encoding=form.encoding,
        bom=form.bom,
        clean=form.clean,
        line_ending=buffer.line_ending,
        dirty=buffer.dirty,
        read_only=buffer.read_only,
    )


def _edited(applied: Applied) -> ops.EditResult:
    edits = [WireEdit(start=edit.start, end=edit.end, text=edit.text) for edit in applied.edits]
    # A character takes at most 12 bytes on the wire: what is surely short need not be measured.
    if sum(len(edit.text) + 8 for edit in edits) > ANSWER // 12 and len(encode(edits)) > ANSWER:
        return ops.EditResult(revision=applied.revision, edits=[], reset=True)
    return ops.EditResult(revision=applied.revision, edits=edits)


def _undone(undone: Undone) -> ops.UndoResult:
    return ops.UndoResult(
        revision=undone.revision, changed=undone.changed, dirty=undone.dirty, selection=undone.selection
    )


def _edits(given: Sequence[WireEdit]) -> list[Edit]:
    return [Edit(Position(*edit.start), Position(*edit.end), edit.text) for edit in given]


@handlers.op("buffer.new")
def new(call: Call, params: ops.NewParams) -> ops.BufferResult:
    """Begin a document without a file."""
    return _shown(call.core.documents.new(params.text))


@handlers.op("buffer.open")
async def open_(call: Call, params: ops.OpenParams) -> ops.BufferResult:
    """Open a file."""
    documents = call.core.documents
    path = call.core.document_path(params.path)
    known = {buffer.id for buffer in documents.all()}
    buffer = await documents.open(path)
    if params.encoding is not None:
        try:
            await documents.reopen_with(buffer.id, params.encoding, origin="reload", request=call.id)
        except RioError:
            if buffer.id not in known:
                await documents.close(buffer.id)
            raise
    return _shown(buffer)


@handlers.op("buffer.list")
def list_(call: Call, params: Nothing) -> ops.ListResult:
    """List open documents."""
    return ops.ListResult(buffers=[_shown(buffer) for buffer in call.core.documents.all()])


@handlers.op("buffer.text")
def text(call: Call, params: ops.TextParams) -> ops.TextResult:
    """Give a piece of the text."""
    buffer = call.core.documents.get(params.buffer)
    if params.first < 0 or params.limit < 1:
        raise _bad_page()
    piece = buffer.text.slice(params.first, params.first + min(params.limit, 131_072))
    piece, _ = cut(piece, 0, len(piece))
    after = params.first + len(piece)
    return ops.TextResult(
        revision=buffer.revision, text=piece, next=after if after < len(buffer.text) and piece else UNSET
    )


@handlers.op("buffer.lines")
def lines(call: Call, params: ops.LinesParams) -> ops.LinesResult:
    """Give lines, or columns of them, without their ends."""
    buffer = call.core.documents.get(params.buffer)
    if params.first < 0 or params.count < 0:
        raise _bad_page()
    first_column, last_column = params.columns or (0, None)
    if first_column < 0 or (last_column is not None and last_column < first_column):
        raise _bad_page()
    spans = buffer.text.line_spans(params.first, min(params.count, 10_000))
    pieces = fitting(
        buffer.text.slice(
            min(start + first_column, end), min(end, start + (131_072 if last_column is None else last_column))
        )
        for start, end, _ in spans
    )
    shown = list(pieces)
    return ops.LinesResult(
        revision=buffer.revision,
        first=params.first,
        lines=shown,
        lengths=[end - start for start, end, _ in spans[: len(shown)]],
        total=buffer.lines,
    )


def _bad_page() -> RioError:
    return RioError(
        "bad_message",
        "A first place must not be negative, nor a range end before it begins.",
        "Ask for a part that is there.",
        code=INVALID_PARAMS,
    )


@handlers.op("buffer.edit")
def edit(call: Call, params: ops.EditParams) -> ops.EditResult:
    """Change a document."""
    selection = params.selection
    applied = call.core.documents.get(params.buffer).edit(
        params.revision,
        _edits(params.edits),
        origin="client",
        request=call.id,
        group=params.group,
        selection=(Position(*selection[0]), Position(*selection[1])) if selection else None,
    )
    return _edited(applied)


@handlers.op("buffer.replace")
def replace(call: Call, params: ops.ReplaceParams) -> ops.EditResult:
    """Change a document in one place, as a step of its own."""
    change = Edit(Position(*params.start), Position(*params.end), params.text)
    applied = call.core.documents.get(params.buffer).edit(params.revision, [change], origin="client", request=call.id)
    return _edited(applied)


@handlers.op("buffer.undo")
def undo(call: Call, params: ops.BufferParams) -> ops.UndoResult:
    """Take the last step back."""
    return _undone(call.core.documents.get(params.buffer).undo(origin="undo", request=call.id))


@handlers.op("buffer.redo")
def redo(call: Call, params: ops.BufferParams) -> ops.UndoResult:
    """Do it again."""
    return _undone(call.core.documents.get(params.buffer).redo(origin="redo", request=call.id))


@handlers.op("buffer.save")
async def save(call: Call, params: ops.SaveParams) -> ops.SaveResult:
    """Write a document to its file."""
    saved = await call.core.documents.save(params.buffer, force=params.force)
    return ops.SaveResult(revision=saved.revision, bytes=saved.bytes)


@handlers.op("buffer.save_as")
async def save_as(call: Call, params: ops.SaveAsParams) -> ops.BufferResult:
    """Write a document to another file."""
    documents = call.core.documents
    await documents.save_as(params.buffer, call.core.document_path(params.path), force=params.force)
    return _shown(documents.get(params.buffer))


@handlers.op("buffer.reload")
async def reload(call: Call, params: ops.ReloadParams) -> ops.BufferResult:
    """Read the file again."""
    documents = call.core.documents
    if params.encoding is None:
        await documents.reload(params.buffer, origin="reload", request=call.id, discard=params.discard)
    else:
        await documents.reopen_with(
            params.buffer, params.encoding, origin="reload", request=call.id, discard=params.discard
        )
    return _shown(documents.get(params.buffer))


@handlers.op("buffer.close")
async def close(call: Call, params: ops.CloseParams) -> Done:
    """Close a document."""
    await call.core.documents.close(params.buffer, discard=params.discard)
    call.core.bus.publish(BufferClosed(buffer=params.buffer))
    return Done()


@handlers.op("buffer.set_encoding")
def set_encoding(call: Call, params: ops.EncodingParams) -> ops.BufferResult:
    """Choose the encoding of the next save."""
    buffer = call.core.documents.get(params.buffer)
    buffer.set_encoding(params.encoding, bom=params.bom, origin="client", request=call.id)
    return _shown(buffer)


@handlers.op("buffer.set_line_ending")
def set_line_ending(call: Call, params: ops.LineEndingParams) -> ops.BufferResult:
    """Make all line ends the same."""
    buffer = call.core.documents.get(params.buffer)
    buffer.set_line_ending(params.line_ending, origin="client", request=call.id)
    return _shown(buffer)
