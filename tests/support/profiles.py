"""Hypothesis profiles: `ci` for every run, `deep` for the full counts (`tox -e deep`)."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

DEEP = os.environ.get("RIO_TEST_PROFILE", "ci") == "deep"

COMMON: dict[str, Any] = {
    "deadline": None,  # a slow machine is no fault of the code
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


def examples(*, ci: int, deep: int, **more: Any) -> Callable[[Any], Any]:
    """Settings with the number of examples of the profile in force."""
    return settings(max_examples=deep if DEEP else ci, **COMMON, **more)
