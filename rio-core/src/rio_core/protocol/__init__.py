"""What goes over the wire between the core and its front ends. The reference page is made from these types."""

from typing import Final

from rio_core.protocol.errors import Kind, RioError
from rio_core.protocol.events import EVENTS, Event
from rio_core.protocol.framing import LINE_CAP, Lines, LineTooLongError, encode
from rio_core.protocol.messages import Notification, Request, Response, parse
from rio_core.protocol.ops import OPS, Op
from rio_core.protocol.visible import visible, visible_line

__all__ = [
    "EVENTS", "LINE_CAP", "OPS", "PROTOCOL", "Event", "Kind", "LineTooLongError", "Lines", "Notification", "Op",
    "Request", "Response", "RioError", "encode", "parse", "visible", "visible_line",
]  # fmt: skip

PROTOCOL: Final = 1
"""Version of the protocol; a core and a front end with different ones refuse each other."""
