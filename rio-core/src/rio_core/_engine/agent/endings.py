"""What is said where a reply stopped for another reason than that it was complete."""

from typing import Final

from rio_core.api import Done

__all__ = ["PAUSES", "detail", "not_run"]

PAUSES: Final = 10
"""How often a reply that only paused is continued before the turn ends."""

_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})


def not_run(stop: str) -> str:
    """For the model: why the calls of such a reply were not run."""
    if stop in _CUT:
        return (
            "Not run: the reply was cut off by its length limit, so the call may be half of what was meant. "
            "Nothing was changed. Make the call again, in smaller parts."
        )
    return f"Not run: the reply stopped with {stop!a}, not to have tools run. Nothing was changed."


def detail(stop: Done) -> str:
    """For the user: a sentence, or nothing where the reply simply ended."""
    if stop.detail:
        return stop.detail
    if stop.stop == "max_tokens":
        return "The reply was cut off by its length limit. Send `go on` to have the rest."
    if stop.stop == "model_context_window_exceeded":
        return "The conversation fills the model's context. Start a new one to go on."
    if stop.stop == "pause_turn":
        return f"The model paused more than {PAUSES} times. Send `go on` to let it go on."
    if stop.stop not in ("end_turn", "stop_sequence", "tool_use"):
        return f"The reply stopped for a reason that rio does not know: {stop.stop!a}."
    return ""
