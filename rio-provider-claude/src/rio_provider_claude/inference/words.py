"""Words from outside, for one line of a message."""

__all__ = ["escaped", "quoted"]


def escaped(text: object, limit: int = 300) -> str:
    """One line of at most `limit` characters, with everything that does not print as an escape."""
    line = " ".join(str(text)[: 4 * limit].split())
    if len(line) > limit:
        line = line[:limit] + "…"
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):X}}}" for char in line)


def quoted(text: object) -> str:
    """The words in quotation marks, behind a colon; nothing for no words."""
    words = escaped(text)
    return f": “{words}”" if words else ""
