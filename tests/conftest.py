"""What every test gets: a place of its own, no network, and a check that it leaves nothing behind.

Guards: a log record of level WARNING or above that the test did not expect, a task, thread, child process or file that
it left open, a file that it left in its home, working or temporary folder, and a changed environment fail the test.
"""

import asyncio
import functools
import inspect
import itertools
import logging
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import configuration, settings

from support.isolation import Network, isolated
from support.leaks import Resources, unfinished
from support.noise import Noise
from support.profiles import COMMON, DEEP

settings.register_profile("ci", derandomize=True, **COMMON)  # a CI run says the same twice
settings.register_profile("deep", **COMMON)
settings.load_profile("deep" if DEEP else "ci")
# Not in the working folder, which is another one for each test.
configuration.set_hypothesis_home_dir(Path(__file__).parents[1] / ".hypothesis")

NETWORK = Network()
_NUMBERS = itertools.count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="Write the golden files of tests/contracts anew. Read the diff."
    )


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Rio runs on asyncio only."""
    return "asyncio"


@pytest.fixture(scope="session")
def _places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("places")


@pytest.fixture
def _noise() -> Noise:
    return Noise()


@pytest.fixture
def expect_log(_noise: Noise) -> Callable[[str], None]:
    """`expect_log(pattern)`: `LOGGER: MESSAGE` that matches from its beginning is allowed, and must come."""
    return _noise.expect


@pytest.fixture
def _allowed_threads() -> list[str]:
    return []


@pytest.fixture
def allow_thread(_allowed_threads: list[str]) -> Callable[[str], None]:
    """`allow_thread(pattern)`: a thread of that name may outlive the test, as nothing can end it."""
    return _allowed_threads.append


@pytest.fixture(autouse=True)
def _guards(_places: Path, _noise: Noise, _allowed_threads: list[str]) -> Iterator[None]:
    # The first fixture of the test, so that it is torn down last and sees what the others left.
    base = _places / f"{os.getpid()}-{next(_NUMBERS)}"
    logging.getLogger().addHandler(_noise)
    before = Resources.now()
    NETWORK.refused.clear()
    NETWORK.closed = True
    with isolated(base) as offences:
        yield
        offences.extend(before.left_over(_allowed_threads))
    NETWORK.closed = False
    logging.getLogger().removeHandler(_noise)
    complaints = [*map(str, offences), *map(str, _noise.offences()), *NETWORK.refused]
    if complaints:
        pytest.fail("the test left or did what it must not:\n  " + "\n  ".join(complaints), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Look for tasks that a test left, before the runner of its event loop cancels them in silence."""
    hypothesis = getattr(pyfuncitem.obj, "hypothesis", None)
    if hypothesis is not None:
        if inspect.iscoroutinefunction(hypothesis.inner_test):
            hypothesis.inner_test = _leaving_no_task(hypothesis.inner_test)
    elif inspect.iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = _leaving_no_task(pyfuncitem.obj)
    return (yield)


def _leaving_no_task(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def checked(*arguments: Any, **named: Any) -> None:
        before = asyncio.all_tasks()
        await function(*arguments, **named)
        if tasks := await unfinished(before):
            pytest.fail("the test left tasks running:\n  " + "\n  ".join(tasks), pytrace=False)

    return checked
