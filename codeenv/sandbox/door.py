"""A unix socket that a wall connects to: faster than its standard streams through a daemon."""

import contextlib
import shutil
import socket
import tempfile
from pathlib import Path

from codeenv.sandbox.local import FOLDER_PREFIX, OWNER_FILE
from codeenv.sandbox.owner import owner

NAME = "door"


class Door:
    """A listening socket in a folder that a wall can be shown; open for one visitor.

    Attributes:
        folder: What to mount.  Whoever sees it may connect; its parent is ours alone.
    """

    def __init__(self) -> None:
        """Make the folder and listen.

        Raises:
            OSError: If a socket cannot be made there.
        """
        self._place = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX)).resolve()
        (self._place / OWNER_FILE).write_text(owner())
        self.folder = self._place / "shown"
        self.folder.mkdir(mode=0o755)
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            self._listener.bind(str(self.folder / NAME))
            (self.folder / NAME).chmod(0o666)
            self._listener.listen(1)
        except OSError:
            self.close()
            raise

    def accept(self, patience: float) -> socket.socket:
        """Return the connection of who says that it has knocked.

        Raises:
            OSError: If nobody has.
        """
        self._listener.settimeout(patience)
        connection, _ = self._listener.accept()
        return connection

    def close(self) -> None:
        """Stop listening, and remove the folder: nobody else comes in.  Idempotent."""
        self._listener.close()
        with contextlib.suppress(OSError):
            shutil.rmtree(self._place)
