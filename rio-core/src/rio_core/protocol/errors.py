"""What can go wrong between a front end and the core.

    RioError                 said to the user: what happened, to what, and what to do next
      and nothing below it: clients branch on `kind`, which goes over the wire, not on classes

The kinds are few. A new one is added only where a client must act differently.
"""

from typing import Final, Literal

Kind = Literal[
    "bad_message",  # not JSON-RPC, or not what the op takes; nothing was done
    "unknown_op",
    "not_found",
    "exists",
    "outside",  # the path leads out of the project
    "protected",  # refused to everybody but the user at his own editor
    "unsupported",  # not a regular file, binary, too large for this op
    "stale",  # the text, revision or proposal is no longer the one that was meant
    "changed_on_disk",
    "dirty",  # unsaved text would be lost
    "read_only",
    "encoding",  # a character that the encoding cannot hold, or bytes that it cannot read
    "io",  # the system refused: full disk, no right, broken device
    "forbidden",  # this connection or plugin may not do that
    "no_project",
    "conflict",  # not possible in the present state
    "internal",  # a fault of rio
]

CODES: Final[dict[str, int]] = {
    "bad_message": -32600,
    "unknown_op": -32601,
    "internal": -32603,
}
"""JSON-RPC 2.0 section 5.1. Every other kind has -32000."""

PARSE_ERROR: Final = -32700
INVALID_PARAMS: Final = -32602
OTHER_CODE: Final = -32000


class RioError(Exception):
    """A failure that is told to the user.

    `message` says in one line what happened and to which thing; `action` is the next thing that the user can do.
    """

    def __init__(self, kind: Kind, message: str, action: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.action = action
        self.code = CODES.get(kind, OTHER_CODE) if code is None else code
