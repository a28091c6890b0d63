"""The `rio` command. The core is started before anything else, so that it is ready when Qt is."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

from rio_gui._ui import running
from rio_gui._ui.arguments import Target, target
from rio_gui._ui.link import child, early

USAGE = """\
usage: rio [--wait] [PATH | FILE:LINE[:COLUMN] | -]...

Opens files, or a folder as a project, in a window: in the one that runs for their project, if there is one. With - what
is on the standard input is opened as a new file.

  --wait      return when the files are closed: git config core.editor "rio --wait"
  --version   print the version and leave
  --help      print this and leave
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the window; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(USAGE)
        return 0
    if "--version" in arguments:
        from importlib.metadata import version

        sys.stdout.write(f"rio {version('rio-gui')}\n")
        return 0
    options = [argument for argument in arguments if argument.startswith("-") and len(argument) > 1]
    if unknown := [option for option in options if option != "--wait"]:
        sys.stderr.write(f"rio: there is no option {unknown[0]}. Try: rio --help\n")
        return 2
    targets = [target(argument) for argument in arguments if argument not in (*options, "-")]
    wait, piped = "--wait" in options, "-" in arguments
    if len({place.path for place in targets if place.is_folder}) > 1:
        sys.stderr.write("rio: a window shows one project. Name one folder.\n")
        return 2
    if wait and not [place for place in targets if not place.is_folder]:
        sys.stderr.write("rio: --wait needs a file to wait for. Try: rio --wait FILE\n")
        return 2
    if not _has_display():
        from rio_gui._ui import missing

        sys.stderr.write(missing.NO_DISPLAY)
        return 1
    if targets and not piped and (code := running.hand_over(targets, wait=wait)) is not None:
        return code
    targets.sort(key=lambda place: not place.is_folder)  # paths are from the project's root, once there is one
    core = child.start()
    sent = early.send(core.send, [early.hello("rio"), *map(_opening, targets), early.status()])
    gc.disable()  # nothing that the start makes is garbage; looking for some costs it milliseconds
    try:
        from rio_gui._ui.application import Application
    except ImportError as error:
        from rio_gui._ui import missing

        sys.stderr.write(missing.explain(str(error)))
        return 1
    return Application(core, sent, targets, wait=wait, piped=piped).run()


def _opening(place: Target) -> tuple[str, dict[str, Any]]:
    return early.open_project(place.path) if place.is_folder else early.open_file(place.path)


def _has_display() -> bool:
    return sys.platform != "linux" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    )


if __name__ == "__main__":
    sys.exit(main())
