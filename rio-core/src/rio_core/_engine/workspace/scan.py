"""The search without ripgrep, in a process of its own.

Its first argument is the handle of the root folder, which it inherits. Standard input is one JSON object, the job; each
line of standard output is a JSON object: the hits of a file, then `{"end": true}`, or `{"error": reason}` for a pattern
that is no regular expression. Being killed is how it is stopped: a regular expression may run for ever (A21).
"""

import json
import re
import stat
import sys
from dataclasses import asdict
from typing import Any

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.hits import Limits, Match, hits_of, lines_of, searchable_lines
from rio_core._engine.workspace.ignore import Ignore
from rio_core._engine.workspace.listing import walk
from rio_core._engine.workspace.paths import render
from rio_core._engine.workspace.query import Query, Scope

__all__ = ["job_of", "main"]


def job_of(query: Query, limits: Limits, path: str) -> bytes:
    """The job for a child, with the path by which the root is known."""
    texts = [[list(names), text] for names, text in query.texts.items()]
    job = {
        "pattern": query.pattern,
        "regex": query.regex,
        "glob": query.glob,
        "base": list(query.base),
        "texts": texts,
        "limits": asdict(limits),
        "path": path,
    }
    return json.dumps(job).encode()


def _read_job(job: dict[str, Any]) -> tuple[Query, Limits]:
    texts = {tuple(names): text for names, text in job["texts"]}
    query = Query(job["pattern"], job["regex"], job["glob"], tuple(job["base"]), texts)
    return query, Limits(**job["limits"])


def _matches(pattern: re.Pattern[str], lines: list[str]) -> list[Match]:
    found = ((number, pattern.search(line)) for number, line in enumerate(lines))
    return [(number, match.start(), match.end() - match.start()) for number, match in found if match]


def _tell(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Do one job and end."""
    job = json.load(sys.stdin)
    query, limits = _read_job(job)
    try:
        pattern = re.compile(query.pattern if query.regex else re.escape(query.pattern))
    except (re.error, OverflowError, RecursionError) as error:
        _tell({"error": str(error)})
        return
    root = Root(int(sys.argv[1]), job["path"])
    scope = Scope(query, Ignore(root))

    def search(names: tuple[str, ...], lines: list[str] | None, *, unsaved: bool) -> None:
        if lines is not None and (matches := _matches(pattern, lines)):
            _tell(asdict(hits_of(render(names), lines, matches, limits, unsaved=unsaved)))

    for names, text in query.texts.items():
        if scope.holds(names):
            search(names, lines_of(text), unsaved=True)
    is_folder = stat.S_ISDIR(root.stat(render(query.base)).st_mode)
    for names in walk(root, query.base, scope.ignore) if is_folder else [query.base]:
        if names not in query.texts and scope.holds(names):
            search(names, searchable_lines(root, names, limits), unsaved=False)
    _tell({"end": True})
