"""How an op is declared."""

from dataclasses import dataclass

from rio_core.protocol.values import Params, Result

__all__ = ["Done", "Nothing", "Op"]


class Nothing(Params):
    """No parameters."""


class Done(Result):
    """It is done; there is nothing more to say."""


@dataclass(frozen=True)
class Op:
    """One call that a front end can make. The docstrings of its types are its documentation."""

    name: str
    params: type[Params]
    result: type[Result]
    does: str = ""
    """What it does, where the types of its parameters, shared or none, do not say."""
    decides: bool = False
    """Only for the connection that owns decisions."""
