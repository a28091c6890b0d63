"""What to say when Qt cannot show a window here: what is missing, and how to get it."""

import os
import re
from typing import Final

TERMINAL: Final = "Without a window: rio-core agent"

NO_DISPLAY: Final = (
    f"rio: there is no display to show a window on (DISPLAY and WAYLAND_DISPLAY are not set). {TERMINAL}\n"
)

_PACKAGES: Final = {
    "libEGL": "libegl1",
    "libGL": "libgl1",
    "libxkbcommon": "libxkbcommon0",
    "libfontconfig": "libfontconfig1",
    "libfreetype": "libfreetype6",
    "libdbus-1": "libdbus-1-3",
    "libglib-2.0": "libglib2.0-0",
    "libxcb-cursor": "libxcb-cursor0",
    "libxcb-icccm": "libxcb-icccm4",
    "libxcb-keysyms": "libxcb-keysyms1",
    "libxcb-image": "libxcb-image0",
    "libxcb-util": "libxcb-util1",
    "libxcb-randr": "libxcb-randr0",
    "libxcb-render-util": "libxcb-render-util0",
    "libxcb-render": "libxcb-render0",
    "libxcb-shape": "libxcb-shape0",
    "libxcb-shm": "libxcb-shm0",
    "libxcb-sync": "libxcb-sync1",
    "libxcb-xfixes": "libxcb-xfixes0",
    "libxcb-xkb": "libxcb-xkb1",
    "libxcb": "libxcb1",
    "libX11-xcb": "libx11-xcb1",
    "libX11": "libx11-6",
    "libxkbcommon-x11": "libxkbcommon-x11-0",
}
"""Debian's packages of the libraries that Qt's wheels leave to the system."""

_LIBRARY: Final = re.compile(r"\b(lib[\w.+-]+?)\.so[.\d]*\b")


def explain(error: str) -> str:
    """One line on an error of the system's loader, or on an import that failed."""
    if found := _LIBRARY.search(error):
        package = _PACKAGES.get(found[1], "")
        how = f"Install it: sudo apt-get install {package}" if package else "Install it with your system's packages"
        return f"rio: Qt needs {found[0]}, which is not on this system. {how}. {TERMINAL}\n"
    if "PySide6" in error:
        return f"rio: PySide6 is not installed. Install rio-gui again from where you have it. {TERMINAL}\n"
    return f"rio: the window cannot be started: {error}. {TERMINAL}\n"


def explain_platform() -> str:
    """One line on why Qt's platform plugin did not start. Qt's own message names the wrong library."""
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or ""
    if library := _first_missing():
        return explain(library)
    return f"rio: the display {display!a} cannot be reached. {TERMINAL}\n"


def _first_missing() -> str | None:
    import ctypes
    from pathlib import Path

    import PySide6

    plugin = Path(PySide6.__path__[0]) / "Qt/plugins/platforms/libqxcb.so"
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return str(error)
    return None
