"""A small file that is on no disk, handed to a child process by its descriptor."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def memory_file(text: str) -> Iterator[int]:
    """Yield a readable descriptor of a file with this text, positioned at its start."""
    fd = os.memfd_create("codeenv")
    try:
        os.write(fd, text.encode())
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)
