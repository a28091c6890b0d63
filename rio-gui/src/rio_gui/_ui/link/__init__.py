"""The link to the core: a child process, JSON lines, calls and events."""
