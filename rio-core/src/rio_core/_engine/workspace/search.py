"""Searching the project for a text or a regular expression."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import anyio
from anyio import to_thread

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.hits import FileHits, Found, Hit, Limits, hits_of, lines_of, searchable_lines
from rio_core._engine.workspace.ignore import Ignore
from rio_core._engine.workspace.paths import render
from rio_core._engine.workspace.process import run
from rio_core._engine.workspace.query import Names, Query, Scope
from rio_core._engine.workspace.ripgrep import MAX_NAMES, candidates, find_ripgrep, match
from rio_core._engine.workspace.scan import job_of
from rio_core.protocol.errors import RioError
from rio_core.protocol.visible import visible_line

__all__ = ["Engine", "search"]

Engine = Literal["rg", "python"]

_BATCH: Final = 4 * 1024 * 1024
"""Characters of text that are matched in one run of ripgrep."""
_DEFAULT: Final = Limits()

# Isolated from the user's environment and the working folder, with the modules that this process has.
_CHILD: Final = "import sys; sys.path += sys.argv[2:]; from rio_core._engine.workspace.scan import main; main()"

_Text = tuple[Names, list[str], bool]


async def search(
    root: Root,
    pattern: str,
    *,
    path: str = ".",
    regex: bool = False,
    glob: str | None = None,
    limits: Limits = _DEFAULT,
    texts: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Found:
    """The lines that match below a folder, or in a file, of the project; letter case counts.

    The syntax of a regular expression is that of the engine in use: Rust's `regex` with ripgrep, which is taken where
    it is installed, else that of Python's `re`. Either sees one line at a time. `glob` is one pattern of an ignore
    file, such as `*.py`, `src/**/*.{c,h}` or `!tests`. `texts` are the texts of buffers with unsaved changes by path,
    searched in place of their files. Left out are ignored files, git's own folder, links, binaries, special files and
    files that usually hold secrets.

    Raises:
        RioError: `bad_message` with the engine's reason for a pattern that it refuses, and what `Root.stat` raises for
            `path`.
    """
    base = root.real(path)
    root.stat(path)
    query = Query(pattern, regex, glob, base, {root.real(name): text for name, text in (texts or {}).items()})
    found = Found()
    with anyio.move_on_after(limits.seconds) as scope:
        if (engine or ("rg" if find_ripgrep() else "python")) == "rg":
            await _with_ripgrep(root, query, limits, found)
        else:
            await _with_python(root, query, limits, found)
    if scope.cancelled_caught:
        found.cut = "time"
    found.files.sort(key=lambda file: file.path)
    return found


async def _with_ripgrep(root: Root, query: Query, limits: Limits, found: Found) -> None:
    scope = await to_thread.run_sync(lambda: Scope(query, Ignore(root)))
    names = await candidates(query, root.handle, ignoring=scope.ignore is not None)
    batches = _batches(root, query, scope, sorted({*names, *query.texts}), limits)
    while batch := await to_thread.run_sync(lambda: next(batches, None)):
        matches = await match(query, [lines for _, lines, _ in batch])
        for (file, lines, unsaved), places in zip(batch, matches, strict=True):
            if places and not found.add(hits_of(render(file), lines, places, limits, unsaved=unsaved), limits):
                return
    if len(names) >= MAX_NAMES:
        found.cut = "files"


def _batches(root: Root, query: Query, scope: Scope, files: list[Names], limits: Limits) -> Iterator[list[_Text]]:
    batch: list[_Text] = []
    size = 0
    for names in files:
        if not scope.holds(names):
            continue
        text = query.texts.get(names)
        lines = searchable_lines(root, names, limits) if text is None else lines_of(text)
        if lines is None:
            continue
        batch.append((names, lines, text is not None))
        size += sum(map(len, lines))
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


async def _with_python(root: Root, query: Query, limits: Limits, found: Found) -> None:
    rest = b""
    ended = False
    refusal = ""

    def take(block: bytes) -> bool:
        nonlocal rest, ended, refusal
        *records, rest = (rest + block).split(b"\n")
        for record in records:
            message = json.loads(record)
            refusal = message.get("error", "")
            ended = bool(refusal) or "end" in message
            if not ended and not found.add(_file_hits(message), limits):
                return False
        return True

    places = filter(os.path.isabs, sys.path)
    command = [sys.executable, "-I", "-X", "utf8", "-c", _CHILD, str(root.handle), *places]
    outcome = await run(command, take, feed=job_of(query, limits, root.path), handles=[root.handle])
    if refusal:
        reason = visible_line(refusal)
        raise RioError("bad_message", f"The pattern is no regular expression: {reason}.", "Mend the pattern.")
    if outcome.code is not None and not ended:
        raise RuntimeError(f"the search process ended with {outcome.code}: {outcome.errors}")


def _file_hits(message: dict[str, Any]) -> FileHits:
    hits = [Hit(**hit) for hit in message["hits"]]
    return FileHits(message["path"], hits, message["more"], message["unsaved"])
