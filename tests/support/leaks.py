"""What a test may not leave behind in the process: threads, children, open files, tasks."""

import asyncio
import gc
import os
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

GRACE = 2.0
"""Seconds that something may take to end by itself after its test. Only a test that leaks waits this long."""

TASK_GRACE = 0.5
"""The same for tasks: shorter, as hypothesis runs a test that leaks many times."""

_DESCRIPTORS = Path("/proc/self/fd")


@dataclass(frozen=True)
class Offence:
    """One thing that a test left or changed."""

    what: str
    which: str

    def __str__(self) -> str:
        return f"{self.what}: {self.which}"


@dataclass(frozen=True)
class Resources:
    """What the process holds at one moment."""

    threads: dict[int, str]
    children: dict[int, str]
    descriptors: dict[int, str]

    @classmethod
    def now(cls) -> Self:
        """Look."""
        return cls(_threads(), _children(), _descriptors())

    def left_over(self, allowed_threads: Iterable[str] = ()) -> list[Offence]:
        """What is here now and was not then, after waiting for what is just ending.

        `allowed_threads` are patterns of names of threads that the test could not end.
        """
        patterns = [re.compile(pattern) for pattern in allowed_threads]
        deadline = time.monotonic() + GRACE
        while offences := self._compare(patterns):
            gc.collect()
            if time.monotonic() > deadline:
                break
            time.sleep(0.005)
        return offences

    def _compare(self, allowed: list[re.Pattern[str]]) -> list[Offence]:
        now = Resources.now()
        threads = {
            ident: name
            for ident, name in now.threads.items()
            if not any(pattern.fullmatch(name) for pattern in allowed)
        }
        return [
            Offence(what, f"{name} ({key})")
            for what, before, after in (
                ("thread", self.threads, threads),
                ("child process", self.children, now.children),
                ("open file", self.descriptors, now.descriptors),
            )
            for key, name in after.items()
            if before.get(key) != name
        ]


def _threads() -> dict[int, str]:
    return {thread.ident or 0: thread.name for thread in threading.enumerate()}


def _children() -> dict[int, str]:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return {}  # the usual case costs one call
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "stat").read_text(errors="replace")
            except OSError:
                continue  # it has just ended
            name, _, rest = status.rpartition(")")
            if int(rest.split()[1]) == os.getpid():
                children[int(entry.name)] = name.partition("(")[2]
    return children


def _descriptors() -> dict[int, str]:
    if not _DESCRIPTORS.is_dir():
        return {}
    found = {}
    for name in os.listdir(_DESCRIPTORS):
        try:
            found[int(name)] = os.readlink(_DESCRIPTORS / name)
        except OSError:
            continue  # the one that listed the folder
    return found


async def unfinished(before: Iterable["asyncio.Task[object]"]) -> list[str]:
    """Tasks of this loop that are not in `before` and do not end by themselves."""
    known = {*before, asyncio.current_task()}
    deadline = time.monotonic() + TASK_GRACE
    while tasks := [task for task in asyncio.all_tasks() if task not in known]:
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0)
        gc.collect()
    return [repr(task) for task in tasks]
