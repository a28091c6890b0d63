"""`rio-core serve`: the one place where the command line reaches into the engine."""

__all__ = ["serve"]


def serve(*, safe_mode: bool) -> int:
    """Serve one project on standard input and output until the front end ends it. Gives the exit code."""
    from rio_core._engine import server

    return server.main(safe_mode=safe_mode)
