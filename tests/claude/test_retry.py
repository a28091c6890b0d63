"""When to try again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_provider_claude.inference.retry import LONGEST, Patience, wanted
from support.profiles import examples


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None), ({"retry-after": "7"}, 7.0), ({"retry-after": "0.5"}, 0.5), ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25), ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "-3"}, None), ({"retry-after": "nan"}, None), ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None), ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 99 Jan 2001 00:00:00 GMT"}, None),
    ],
)  # fmt: skip
def test_what_the_service_wants(headers: dict[str, str], seconds: float | None) -> None:
    assert wanted(headers) == seconds


def test_a_date_is_counted_from_now() -> None:
    seconds = wanted({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)})
    assert seconds is not None
    assert 80 < seconds <= 90


@examples(ci=200, deep=5000)
@given(retries=st.integers(0, 8), asks=st.lists(st.none() | st.floats(0, 2 * LONGEST), max_size=12))
def test_waits_are_bounded_and_never_shorter_than_wanted(retries: int, asks: list[float | None]) -> None:
    patience = Patience(retries)
    waits = 0
    for ask in asks:
        wait = patience.next(ask)
        if ask is not None and ask > LONGEST:
            assert wait is None
            continue
        assert (wait is None) == (waits >= retries)
        if wait is None:
            break
        if ask is None:
            assert 0.75 * 0.5 * 2**waits <= wait <= 0.5 * 2**waits or wait <= patience.longest
        else:
            assert ask <= wait <= ask + 1.05
        waits += 1


def test_waits_are_jittered() -> None:
    assert len({Patience(1).next(None) for _ in range(20)}) > 10
    assert len({Patience(1).next(3.0) for _ in range(20)}) > 10
