"""Run pytest without the code under test: that is asked in another process."""

import os
import socket
import sys
from typing import Any

from codeenv.guest.pytest_report import Channel
from codeenv.guest.pytest_runner import close_input, prepare_path, run
from codeenv.guest.split_finder import Finder
from codeenv.guest.split_guard import guard
from codeenv.guest.split_licence import Licences
from codeenv.guest.split_link import LINK_FD, Link
from codeenv.guest.split_tester import Tester
from codeenv.guest.split_watch import Watch


def main(request: dict[str, Any]) -> None:
    """Serve one request and end the process."""
    channel = Channel(3)
    close_input()
    prepare_path(os.getcwd())
    connection = socket.socket(fileno=os.dup(LINK_FD))
    os.close(LINK_FD)
    licences = Licences(request["licences"])
    asker = Tester(Link(connection), frozenset(request["packages"]), licences)
    sys.meta_path.insert(1, Finder(asker))
    guard(os.getcwd(), asker.packages)
    status = run(request, channel, (Watch(licences),))
    asked = sorted(licences.opinionated)
    channel.send({"licences": sorted(licences.noted), "opinionated": asked})
    channel.send({"end": status})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
