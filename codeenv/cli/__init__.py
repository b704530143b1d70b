"""The command line: one module per command.

Exit codes: 0 fine, 1 the check failed, 2 the request or this machine is wrong (with a hint),
130 interrupted.  Data goes to standard output, everything else to standard error.
"""

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from codeenv.cli.parser import build_parser
from codeenv.cli.signals import sigterm_as_interrupt
from codeenv.errors import CodeEnvError, MachineError, UsageError

_LONGEST = 600
_FULL = {errno.ENOSPC, errno.EDQUOT}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: Command line without the program's name; the process's own if None.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with sigterm_as_interrupt():
            chosen = build_parser(words).parse_args(words)
            status: int = chosen.run(chosen)
            sys.stdout.flush()
            return status
    except CodeEnvError as error:
        return _report(error)
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:
        _silence_stdout()
        return 1
    except OSError as error:
        return _report(_told(error))


def _report(error: CodeEnvError) -> int:
    """Print ``error:`` and ``hint:``, one line each, and return the exit code."""
    _say("error: " + _one_line(error.message))
    if error.hint:
        _say("hint: " + _one_line(error.hint))
    return error.exit_code


def _told(error: OSError) -> CodeEnvError:
    """Turn what the system says of a file into an error; anything else is a fault of ours.

    Raises:
        OSError: The error itself, if it is not about a file or a full disk.
    """
    where = f" at {error.filename!r}" if error.filename else ""
    if error.errno in _FULL:
        hint = "free some space (codeenv images prune, codeenv gc), or move CODEENV_CACHE"
        return MachineError(f"the disk is full{where}", hint=hint)
    if not error.filename:
        raise error
    hint = "check that it exists and that you may read and write it"
    return UsageError(
        f"{error.filename}: {(error.strerror or 'cannot be used').lower()}", hint=hint
    )


def _one_line(text: str) -> str:
    """Join lines, keep control characters out, and end what is too long for a terminal."""
    line = "; ".join(line.strip() for line in text.splitlines() if line.strip())
    line = "".join(c if c.isprintable() else "?" for c in line)
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " …"


def _say(text: str) -> None:
    with suppress(BrokenPipeError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def _silence_stdout() -> None:
    """Keep the interpreter from flushing into a pipe that nobody reads."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
