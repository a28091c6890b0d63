"""What the agent can do: tools that read, and tools that propose."""
