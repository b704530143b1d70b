"""The part of the fork server that makes boxes when its supervisor asks for them."""

import json
import os
import signal
import socket
import sys

from codeenv.guest import boxes, system
from codeenv.guest.forked import Forked, Template
from codeenv.guest.spec import BoxSpec

CHANNEL = 3
READY = b"ready"
_REQUEST = 1024**2


def serve() -> Forked:
    """Make boxes until nobody asks any more; return in commands of boxes only.

    Their channels come with the requests; the answers are process numbers.

    Raises:
        OSError: If the kernel refuses a box: the supervisor makes its own from then on.
    """
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    if len(os.listdir("/proc/self/task")) > 1 or sys.getfilesystemencoding() != "utf-8":
        os._exit(1)  # nothing to fork from: commands are started as ever
    template = Template(sys.orig_argv, dict(os.environ))
    asked = socket.socket(fileno=CHANNEL)
    asked.send(READY)
    while True:
        data, fds, _, _ = socket.recv_fds(asked, _REQUEST, 1)
        if not data:
            os._exit(0)
        channel = socket.socket(fileno=fds[0])
        try:
            pid = boxes.start(BoxSpec.from_header(json.loads(data)), channel, template)
        except Forked as forked:
            asked.detach()
            channel.detach()
            return forked
        channel.close()
        asked.send(str(pid).encode())
