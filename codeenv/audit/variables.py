"""Environment variables: what the planner of an environment sets, every command can read."""

import re
from collections.abc import Iterator, Mapping

from codeenv.audit.models import Leak
from codeenv.audit.scan import mentions, scan_file
from codeenv.audit.secrets import Secrets
from codeenv.sandbox.variables import PATH

_TOLD = 3
_OURS = frozenset({"HOME", "LANG", "PATH", "VIRTUAL_ENV"})


def told_by_variables(variables: Mapping[str, str], secrets: Secrets) -> Iterator[Leak]:
    """Yield a leak for each variable that holds deleted code, a vanished name or a hidden test.

    Args:
        variables: Of every command; those that codeenv itself sets are left out.
        secrets: What is looked for.
    """
    for name, value in sorted(variables.items()):
        if name in _OURS and set(value.split(":")) <= {*PATH.split(":"), "/opt/env", "C.UTF-8"}:
            continue
        data = f"{name}={value}".encode("utf-8", "surrogateescape")
        for leak in scan_file(f"${name}", data, secrets):
            yield Leak("variable", leak.path, f"{leak.kind}: {leak.detail}")
        told = {*mentions(data, secrets), *_tests(data, secrets), *declarations(value, secrets)}
        if told:
            yield Leak("variable", f"${name}", f"tells {', '.join(sorted(told)[:_TOLD])}")


def declarations(text: str, secrets: Secrets) -> list[str]:
    """Return the deleted functions and classes that a text declares, sorted."""
    declared = frozenset(re.findall(r"\b(?:def|class) +(\w+)", text))
    return sorted(secrets.declared & declared)


def _tests(data: bytes, secrets: Secrets) -> Iterator[str]:
    return (name for name in secrets.test_names if name.encode() in data)
