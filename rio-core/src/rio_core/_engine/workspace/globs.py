"""Patterns of path names in the language of git's ignore files, matched in bounded time.

A project's author chooses these patterns, and matching holds the interpreter lock: a matcher that backtracks lets one
line of a `.gitignore` stop the whole core. Here a name is matched in time linear in its length times the pattern's, as
each `*` is settled for good by the first place where what follows it fits; so are the `**` of a path.

Source: gitignore(5), "Pattern format". POSIX classes such as `[[:alpha:]]` are not known.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Rule", "Rules", "expand_braces", "parse_rule"]

MAX_PATTERN: Final = 1024
"""Characters of a pattern; a longer one matches nothing."""
_MAX_BRACES: Final = 64

_TOKEN = re.compile(
    r"\\(?P<literal>.)|(?P<star>\*+)|(?P<any>\?)|\[(?P<set>[!^]?\]?(?:\\.|[^\]\\])*)\]|(?P<char>[^\\\[])", re.S
)
_MEMBER = re.compile(r"\\?(.)(?:-\\?(.))?", re.S)
_BRACES = re.compile(r"\{([^{}]*)\}")
_WILD = re.compile(r"[\\*?\[]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file. A segment that is None stands for `**`."""

    segments: tuple[re.Pattern[str] | str | None, ...]
    negated: bool
    folders_only: bool

    def matches(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Whether the rule names this very path; a path inside a folder that it names is not meant."""
        if self.folders_only and not is_folder:
            return False
        at = index = 0
        star: int | None = None
        star_index = 0
        while index < len(names):
            segment = self.segments[at] if at < len(self.segments) else ""
            if segment is None:
                if at == len(self.segments) - 1:
                    return True
                star, star_index = at, index
                at += 1
            elif segment == names[index] if isinstance(segment, str) else segment.fullmatch(names[index]):
                at += 1
                index += 1
            elif star is None:
                return False
            else:
                star_index += 1
                at, index = star + 1, star_index
        return at == len(self.segments)


class Rules:
    """Rules in the order of their file: the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        """From the lines of an ignore file, without their ends."""
        rules = [rule for line in lines if (rule := parse_rule(line))]
        self._all = rules[::-1]
        # Most rules name a file anywhere. One look tells that none of them matches, which is the usual case.
        self._placed = [rule for rule in self._all if not _is_name(rule)]
        named = "|".join(f"(?:{_pattern(rule.segments[1])})" for rule in rules if _is_name(rule))
        self._named = re.compile(named or "(?!)", re.S)

    def __bool__(self) -> bool:
        return bool(self._all)

    def decide(self, names: Sequence[str], *, is_folder: bool) -> bool | None:
        """What the rules say of this very path: True is ignored, False is kept, None when none matches."""
        for rule in self._all if names and self._named.fullmatch(names[-1]) else self._placed:
            if rule.matches(names, is_folder=is_folder):
                return not rule.negated
        return None

    def cover(self, names: Sequence[str]) -> bool:
        """Whether the rules name this file or a folder that it is in."""
        return any(self.decide(names[:count], is_folder=count < len(names)) for count in range(1, len(names) + 1))


def _is_name(rule: Rule) -> bool:
    return len(rule.segments) == 2 and rule.segments[0] is None and rule.segments[1] is not None


def _pattern(segment: re.Pattern[str] | str | None) -> str:
    return segment.pattern if isinstance(segment, re.Pattern) else re.escape(segment or "")


def parse_rule(line: str) -> Rule | None:
    """The rule that a line states; None for a comment, an empty line and what cannot match anything."""
    if len(line) > MAX_PATTERN or line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\) +$", "", line)
    negated = line.startswith("!")
    line = line[negated:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    placed = "/" in line
    parts = line.removeprefix("/").split("/")
    if not placed:
        parts.insert(0, "**")
    segments: list[re.Pattern[str] | str | None] = []
    for part in parts:
        if part == "**" and (placed or not segments):
            if segments[-1:] != [None]:
                segments.append(None)
        elif _WILD.search(part):
            pattern = _translate(part)
            if pattern is None:
                return None
            segments.append(re.compile(pattern, re.S))
        elif part:
            segments.append(part)
        else:
            return None
    return Rule(tuple(segments), negated, folders_only)


def _translate(part: str) -> str | None:
    """The regular expression of one segment, None when it is malformed."""
    pieces = [""]
    at = 0
    while at < len(part):
        token = _TOKEN.match(part, at)
        if token is None:
            return None
        at = token.end()
        if token["star"]:
            pieces.append("")
        elif token["any"]:
            pieces[-1] += "."
        elif token["set"] is not None:
            pieces[-1] += _translate_set(token["set"])
        else:
            pieces[-1] += re.escape(token["literal"] or token["char"])
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>.*?{piece})" for piece in middle if piece) + f".*{last}"


def _translate_set(body: str) -> str:
    negated = body[0] in "!^" if body else False
    members = []
    for first, last in _MEMBER.findall(body[negated:]):
        if not last:
            members.append(re.escape(first))
        elif first <= last:
            members.append(f"{re.escape(first)}-{re.escape(last)}")
    if not members:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{''.join(members)}]"


def expand_braces(glob: str) -> list[str]:
    """The globs that a glob with `{a,b}` stands for, as search tools take it. Of a great many, only the first."""
    whole: list[str] = []
    waiting = [glob]
    while waiting and len(whole) + len(waiting) <= _MAX_BRACES:
        current = waiting.pop()
        braces = _BRACES.search(current)
        if braces is None:
            whole.append(current)
        else:
            before, behind = current[: braces.start()], current[braces.end() :]
            waiting += [f"{before}{choice}{behind}" for choice in braces[1].split(",")]
    return whole
