"""Connections: messages in, answers and events out."""
