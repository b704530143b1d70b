"""Hands an answer in to a box's ``relay``, waits for the next event, writes it to descriptor 3."""

import json
import os
import socket
import sys

_REPORT_FD = 3


def main() -> None:
    """Poll the relay at the folder that is the argument; standard input has what it is told."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.join(sys.argv[1], "socket"))
        with connection.makefile("rwb") as stream:
            stream.write(json.dumps(json.load(sys.stdin)).encode() + b"\n")
            stream.flush()
            event = stream.readline()
    with open(_REPORT_FD, "wb") as report:
        report.write(event)


if __name__ == "__main__":
    main()
