"""The `rio-core` command: the server, and front ends for a terminal."""
