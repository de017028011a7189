"""Paths for wirings: made from what a `Place` says, so that every system's can be tested on any."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Place


def below(place: Place, folder: str, *names: str) -> str:
    """Return a path below a folder, as the system of the place writes it."""
    separator = "\\" if place.system == "win32" else "/"
    return separator.join([folder.rstrip("/\\") or folder, *names])


def named(place: Place, variable: str, *default: str) -> str:
    """Return the folder that an agent's own variable names, or else its usual one below the home folder."""
    return place.variables.get(variable, "") or below(place, place.home, *default)


def config(place: Place, *names: str) -> str:
    """Return a path in the folder for settings that XDG_CONFIG_HOME names, `~/.config` if it names none."""
    return below(place, named(place, "XDG_CONFIG_HOME", ".config"), *names)


def roaming(place: Place, *names: str) -> str:
    """Return a path in Windows' folder for settings."""
    return below(place, named(place, "APPDATA", "AppData", "Roaming"), *names)


def user_data(place: Place, application: str) -> str:
    """Return where an editor of VS Code's family keeps what is the user's."""
    if place.system == "win32":
        return roaming(place, application)
    if place.system == "darwin":
        return below(place, place.home, "Library", "Application Support", application)
    return config(place, application)


def first_there(*paths: str) -> str:
    """Return the first of several paths that exists, or else the first."""
    return next((path for path in paths if os.path.exists(path)), paths[0])
