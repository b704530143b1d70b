"""Where the shipped data and the cache are, installed or in a checkout."""

import os
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder of shipped data: beside the code if installed, else in the checkout."""
    checkout = _HERE.parent
    places = (_HERE / "_data" / name, checkout / name, checkout / "harness" / name)
    return next((place for place in places if place.is_dir()), checkout / name)


def cache_folder(*parts: str) -> Path:
    """Return (and create) a folder in the cache: ``$CODEENV_CACHE``, else the XDG cache folder."""
    configured = os.environ.get("CODEENV_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(configured) if configured else Path(base) / "codeenv"
    folder = root.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
