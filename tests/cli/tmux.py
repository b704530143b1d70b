"""A real terminal that a test types into and reads: a session of tmux on a server of its own."""

import os
import shutil
import subprocess
import tempfile
import time

import pytest

PATIENCE = 60
"""Seconds until a text that does not come fails a test."""


def require_tmux():
    """Skip a test where tmux is missing; in CI that is a failure."""
    if shutil.which("tmux") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("tmux is not installed")


class Tmux:
    """A session with a shell in it."""

    def __init__(self, columns=100, rows=40, **variables):
        self._folder = tempfile.TemporaryDirectory(prefix="codeenv-tmux-")
        shell = "env -u NO_COLOR PS1='shell> ' sh"
        size = ("-x", str(columns), "-y", str(rows))
        self._do("-f", os.devnull, "new-session", "-d", *size, shell, **variables)
        self._do("set-option", "-g", "history-limit", "5000")
        self.wait("shell>")

    def type(self, text):
        """Type a line."""
        self._do("send-keys", "-l", text)
        self.press("Enter")

    def press(self, *keys):
        """Press keys by their names, or type the words that are none."""
        self._do("send-keys", *keys)

    def screen(self, *, colours=False):
        """What is seen and what has scrolled away, without blanks at the ends of lines."""
        told = self._do("capture-pane", "-p", "-S", "-", *(["-e"] if colours else []))
        return "\n".join(line.rstrip() for line in told.rstrip().split("\n"))

    def wait(self, text, times=1):
        """Wait until a text is on the screen, as often as that, and return the screen."""
        deadline = time.monotonic() + PATIENCE
        while (seen := self.screen()).count(text) < times:
            if time.monotonic() > deadline:
                pytest.fail(f"no {text!r} ({times} times) in\n{seen}")
        return seen

    def clear(self):
        """Clear the screen and what has scrolled away."""
        self._do("send-keys", "-R")
        self._do("clear-history")

    def close(self):
        """End the session and all that runs in it."""
        self._do("kill-server")
        self._folder.cleanup()

    def _do(self, *words, **variables):
        done = subprocess.run(
            ["tmux", "-u", "-S", f"{self._folder.name}/socket", *words],
            env={**os.environ, "LC_ALL": "C.UTF-8", **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout
