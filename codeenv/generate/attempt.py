"""Work on many candidates side by side, where one candidate's end is not the others'."""

import traceback
from collections.abc import Callable
from typing import TypeVar

from codeenv.errors import MachineError, SandboxError
from codeenv.generate.models import Reason, Rejected

T = TypeVar("T")
R = TypeVar("R")
Ended = Rejected | SandboxError
"""Why a candidate goes no further."""
_TOLD = 240


def attempt(work: Callable[[T], R]) -> Callable[[T | Ended], R | Ended]:
    """Return ``work`` with what ends a candidate as its value; an ended one is only passed on.

    A fault of our own ends one candidate as well, with the reason ``internal`` and the place.
    """

    def attempted(item: T | Ended) -> R | Ended:
        if isinstance(item, Rejected | SandboxError):
            return item
        try:
            return work(item)
        except (Rejected, SandboxError) as error:
            return error
        except (MachineError, OSError):  # the disk is full, the daemon is gone: for the others, too
            raise
        except Exception as error:  # noqa: BLE001 - told in the funnel, and no test allows it
            place = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__}: {error}"[:_TOLD]
            return Rejected(Reason.INTERNAL, f"{told} ({place.name}, line {place.lineno})")

    return attempted
