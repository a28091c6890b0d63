"""Log records that nobody expected fail a test, and so do expected ones that never came."""

import logging
import re
from dataclasses import dataclass, field

from support.leaks import Offence


@dataclass
class Noise(logging.Handler):
    """Collects records of level WARNING and above while it is installed on the root logger."""

    expected: dict[str, bool] = field(default_factory=dict)
    unexpected: list[logging.LogRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.WARNING)

    def __hash__(self) -> int:  # the logging module keeps handlers in a weak dictionary
        return id(self)

    def expect(self, pattern: str) -> None:
        """Allow records with `LOGGER: MESSAGE` matching this pattern from its beginning; at least one must come."""
        self.expected.setdefault(pattern, False)

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{record.name}: {record.getMessage()}"
        matching = [pattern for pattern in self.expected if re.match(pattern, line)]
        self.expected |= dict.fromkeys(matching, True)
        if not matching:
            self.unexpected.append(record)

    def offences(self) -> list[Offence]:
        """What came unasked, and what was asked for and never came."""
        formatter = logging.Formatter("%(levelname)s %(name)s: %(message)s")
        return [Offence("unexpected log", formatter.format(record)) for record in self.unexpected] + [
            Offence("expected log that never came", pattern) for pattern, came in self.expected.items() if not came
        ]
