"""Indentation: finding out what a text uses, and measuring and making it."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

_INDENT: Final = re.compile(r"[ \t]*")


class Indent(NamedTuple):
    """How a text is indented. `width` is one level, `tab` the distance of tab stops, both in columns."""

    tabs: bool = False
    width: int = 4
    tab: int = 8

    @property
    def unit(self) -> str:
        """One level."""
        return "\t" if self.tabs else " " * self.width


def leading(text: str) -> str:
    """The blanks that a line begins with."""
    found = _INDENT.match(text)
    return found[0] if found else ""


def detect(lines: Iterable[str], default: Indent) -> Indent:
    """What most indented lines use. The width is the commonest step between lines that is from 2 to 8."""
    tabs = spaces = 0
    steps: Counter[int] = Counter()
    before = 0
    for line in lines:
        indent = leading(line)
        if len(indent) == len(line):
            continue
        if indent.startswith("\t"):
            tabs += 1
            continue
        if indent:
            spaces += 1
        step = len(indent) - before
        if 2 <= abs(step) <= 8:
            steps[abs(step)] += 1
        before = len(indent)
    if tabs > spaces:
        return default._replace(tabs=True, width=default.tab)
    if steps:
        best = max(steps.values())
        return default._replace(tabs=False, width=min(step for step, times in steps.items() if times == best))
    return default


def columns(text: str, tab: int, start: int = 0) -> int:
    """How many screen columns a text takes that begins at a screen column, each character counted as one."""
    at = start
    for char in text:
        at += tab - at % tab if char == "\t" else 1
    return at - start


def made(width: int, indent: Indent) -> str:
    """Blanks of a width in columns."""
    if indent.tabs:
        return "\t" * (width // indent.tab) + " " * (width % indent.tab)
    return " " * width
