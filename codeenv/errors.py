"""The errors codeenv raises, one sentence each.

    CodeEnvError                      anything codeenv itself reports; has a ``hint``
    ├── UsageError (ValueError)       the request is wrong: fix the arguments (exit code 2)
    │   ├── SourceError               the repository cannot be had, or cannot be used
    │   └── TaskError                 a recipe or task is malformed, missing or does not match
    ├── MachineError                  this machine lacks something: install or free it (exit code 2)
    │   ├── BackendUnavailable        no sandbox backend answers
    │   └── BuildError                an environment could not be built
    ├── GenerationError               a repository gave no task (exit code 1)
    ├── PathError (OSError)           a path in the box cannot be read or written as asked
    └── SandboxError (RuntimeError)   the sandbox failed; never the agent's doing, never a reward
        └── SandboxTimeout            the sandbox did not answer in time

A failed *command* in a sandbox is a value (``ExecResult``), never an exception.
"""


class CodeEnvError(Exception):
    """Root of all errors raised by codeenv."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and what the user can do about it."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the hint (exceptions cross process borders)."""
        return (_rebuild, (type(self), self.message, self.hint))


class UsageError(CodeEnvError, ValueError):
    """Raised when arguments or inputs are wrong."""

    exit_code = 2


class SourceError(UsageError):
    """Raised when a repository cannot be fetched, verified, unpacked or used."""


class TaskError(UsageError):
    """Raised when a recipe or task is malformed, unknown or does not match its source."""


class MachineError(CodeEnvError):
    """Raised when this machine lacks something codeenv needs."""

    exit_code = 2


class BackendUnavailable(MachineError):
    """Raised when a sandbox backend is asked for that does not work here."""


class NoPairs(MachineError):
    """Raised when a backend cannot wall tests off from the code they test."""


class BuildError(MachineError):
    """Raised when an environment image cannot be built."""


class GenerationError(CodeEnvError):
    """Raised when a usable repository gives no task."""


class SandboxError(CodeEnvError, RuntimeError):
    """Raised when the sandbox itself fails; the agent never sees it and it is never a reward."""


class SandboxTimeout(SandboxError, TimeoutError):
    """Raised when the sandbox does not answer within its own deadline."""


class PathError(CodeEnvError, OSError):
    """Raised when a path in a box cannot be used as asked; ``code`` says why.

    ``code`` is one of ``not_found``, ``is_directory``, ``not_directory``, ``outside``,
    ``too_large``, ``denied``, ``exists``, ``bad_pattern``.
    """

    def __init__(self, message: str, *, code: str = "not_found", hint: str = "") -> None:
        """Keep the machine-readable code beside the message."""
        super().__init__(message, hint=hint)
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the code."""
        return (_rebuild_path_error, (self.message, self.code, self.hint))


def _rebuild(kind: type[CodeEnvError], message: str, hint: str) -> CodeEnvError:
    return kind(message, hint=hint)


def _rebuild_path_error(message: str, code: str, hint: str) -> PathError:
    return PathError(message, code=code, hint=hint)
