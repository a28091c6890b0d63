"""For front ends that run on anyio: start a core as a child process, call its ops, listen to its events."""

from rio_core.client._client import Client
from rio_core.client._events import Events
from rio_core.client._start import start_core

__all__ = ["Client", "Events", "start_core"]
