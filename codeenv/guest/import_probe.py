"""Import packages inside a sandbox and say where they come from."""

import importlib
import os
from typing import Any

from codeenv.guest.pytest_report import Channel, message_of
from codeenv.guest.pytest_runner import prepare_path


def main(request: dict[str, Any]) -> None:
    """Report, per package, why it is not importable from inside the workspace ("" if it is)."""
    channel = Channel(3)
    workspace = os.path.realpath(os.getcwd())
    prepare_path(workspace)
    for package in request["packages"]:
        channel.send({"package": package, "problem": problem_of(package, workspace)})
    os._exit(0)


def problem_of(package: str, workspace: str) -> str:
    """Import one package and return what is wrong, or ""."""
    try:
        module = importlib.import_module(package)
    except BaseException as error:  # noqa: BLE001 - importing runs the repository's code
        return message_of(error)
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    found = [os.path.realpath(p) for p in places if p]
    if not found:
        return "it has no file"
    if any(p.startswith(workspace + os.sep) for p in found):
        return ""
    return f"it is imported from outside the workspace: {found[0]}"
