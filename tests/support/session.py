"""The example of docs/protocol-session.txt as something that can be played to a core."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

SESSION = Path(__file__).parents[2] / "docs" / "protocol-session.txt"


@dataclass(frozen=True)
class Line:
    """One message: `>` from the front end, `<` from the core."""

    direction: Literal[">", "<"]
    message: dict[str, Any]


def read(text: str) -> Iterator[Line]:
    """The messages in order; remarks and empty lines are left out."""
    for line in text.splitlines():
        match line[:2]:
            case "> ":
                yield Line(">", json.loads(line[2:]))
            case "< ":
                yield Line("<", json.loads(line[2:]))
            case _ if line and not line.startswith("#"):
                raise ValueError(f"neither a message nor a remark: {line}")


@dataclass
class Names:
    """What the names of a session (`$turn`) stand for; filled by what the core sends."""

    values: dict[str, Any] = field(default_factory=dict)

    def filled(self, value: Any) -> Any:
        """A message to send, with every name replaced."""
        match value:
            case dict():
                return {name: self.filled(member) for name, member in value.items()}
            case list():
                return [self.filled(member) for member in value]
            case str() if value.startswith("$"):
                return self.values[value]
        return value

    def fits(self, expected: Any, actual: Any) -> bool:
        """Whether a message of the core is the expected one; it may have more members. Learns names when it is."""
        learned = dict(self.values)
        if self._fits(expected, actual, learned):
            self.values = learned
            return True
        return False

    def _fits(self, expected: Any, actual: Any, learned: dict[str, Any]) -> bool:
        match expected:
            case Mapping():
                return isinstance(actual, Mapping) and all(
                    name in actual and self._fits(member, actual[name], learned) for name, member in expected.items()
                )
            case list():
                return (
                    isinstance(actual, list)
                    and len(actual) == len(expected)
                    and all(self._fits(one, other, learned) for one, other in zip(expected, actual, strict=True))
                )
            case str() if expected.startswith("$"):
                return bool(learned.setdefault(expected, actual) == actual)
        return type(expected) is type(actual) and bool(expected == actual)
