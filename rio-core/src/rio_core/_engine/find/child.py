"""Regular expressions, in a process of their own: one may run for ever, and being killed is how it is stopped (A21).

Standard input is one line with a JSON object, the job, and behind it the text in UTF-8. Standard output is one JSON
object: the answer, or `{"error": reason}` for a pattern or a replacement that means nothing.
"""

import json
import re
import sys
from typing import Any

from rio_core._engine.documents.lines import ENDS, Ending
from rio_core._engine.find.hits import MOST, Page, Replaced, matches, merged
from rio_core._engine.find.pattern import Wanted, compiled
from rio_core._engine.find.seen import Seen
from rio_core._engine.find.template import Template, TemplateError, parse

__all__ = ["expanded", "job_of", "main", "work"]


def job_of(wanted: Wanted, low: int, high: int, **more: Any) -> dict[str, Any]:
    """A job: `first`, `back` and `limit` for a page of hits; `replacement` and `ending` to replace; or both."""
    return {
        "pattern": wanted.pattern,
        "case": wanted.case,
        "word": wanted.word,
        "low": low,
        "high": high,
        **more,
    }


def expanded(template: Template, match: re.Match[str], seen: Seen, text: str, ending: Ending) -> str:
    """What takes the place of a match: its groups with their line ends as they are, other line ends as `ending`."""
    parts = []
    for part in template:
        if isinstance(part, str):
            parts.append(part.replace("\n", ENDS[ending]))
        elif match.start(part) >= 0:
            parts.append(text[seen.original(match.start(part)) : seen.original(match.end(part))])
    return "".join(parts)


def work(job: dict[str, Any], text: str) -> dict[str, Any]:
    """Do a job."""
    wanted = Wanted(job["pattern"], regex=True, case=job["case"], word=job["word"])
    template: Template | None = None
    try:
        pattern = compiled(wanted)
        if job.get("replacement") is not None:
            template = parse(job["replacement"], pattern.groups, pattern.groupindex)
    except (re.error, TemplateError, OverflowError, RecursionError) as error:
        return {"error": str(error)}
    seen = Seen(text)
    found = matches(pattern, seen, job["low"], job["high"], word=wanted.word)
    if job.get("all"):
        hits: list[Replaced] = []
        for (start, end), match in found:
            if len(hits) == MOST:
                return {"many": True}
            hits.append(Replaced(start, end, expanded(template or [], match, seen, text, job["ending"])))
        return {"count": len(hits), "edits": merged(hits, len(hits), lambda start, end: text[start:end])}
    page = Page(job["first"], job["back"], job["limit"])
    for hit, match in found:
        if not page.take(hit, match):
            break
    answer = {"hits": page.hits, "before": page.before, "total": page.total, "more": page.more}
    if template is not None:
        answer["texts"] = [expanded(template, match, seen, text, job["ending"]) for match in page.matches]
    return answer


def main() -> None:
    """Do one job and end."""
    job = json.loads(sys.stdin.buffer.readline())
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    sys.stdout.write(json.dumps(work(job, text)))
