"""How the parts of the core tell the front ends what happened."""

from collections.abc import Callable

from rio_core.protocol.events import Event

__all__ = ["Bus"]

Listener = Callable[[Event], None]


class Bus:
    """Hands each event to every listener, in the order of publishing. Used on the core's own event loop only."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def publish(self, event: Event) -> None:
        """Tell everybody. A listener must not block and must not raise."""
        for listener in tuple(self._listeners):
            listener(event)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell this one too, from now until the returned function is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
