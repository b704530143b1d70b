"""The leak audit: everything the agent can read, against what was deleted."""

import re
from collections.abc import Iterator
from dataclasses import replace

from codeenv.audit.library import library_of
from codeenv.audit.models import WARNINGS, AuditReport, Leak
from codeenv.audit.recorded import recorded_for_hidden
from codeenv.audit.scan import Place, mentions, scan_file, scan_library
from codeenv.audit.secrets import Secrets, secrets_of
from codeenv.audit.shapes import keep_shapes
from codeenv.audit.variables import declarations, told_by_variables
from codeenv.languages import get_language
from codeenv.languages.base import Language
from codeenv.materialise.files import is_test_data, refusal
from codeenv.materialise.git import git_folder, without_git
from codeenv.materialise.models import Task
from codeenv.sandbox.image import Image

_TOLD = 5
_LEAST_NAME = 4
_VOLUME = re.compile(r"\.\d+$")


def audit_task(
    task: Task, image: Image | None = None, *, language: Language | None = None
) -> tuple[Leak, ...]:
    """Return the leaks of a task, sorted; none is what a good task has.

    Args:
        task: The task.
        image: Its environment: its variables, its layers and its base are read too.
        language: Of the task; looked up if None.
    """
    return audit_report(task, image, language=language).leaks


def audit_report(
    task: Task, image: Image | None = None, *, language: Language | None = None
) -> AuditReport:
    """Return leaks and warnings of a task (see ``audit_task``)."""
    known = language or get_language(task.recipe.language)
    secrets = secrets_of(task, known)
    leaks = [*_structure(task), *_statement(task, secrets), *_workspace(task, secrets)]
    leaks += recorded_for_hidden(task, secrets, known)
    leaks += told_by_variables(task.lock.variables, secrets)
    if image is not None:
        leaks += told_by_variables(image.variables, secrets)
        leaks += scan_library(library_of(image), secrets)
        keep_shapes()
    found = sorted({*leaks, *_mentions(task, secrets)})
    return AuditReport(
        tuple(leak for leak in found if leak.kind not in WARNINGS),
        tuple(leak for leak in found if leak.kind in WARNINGS),
    )


def _structure(task: Task) -> Iterator[Leak]:
    files = without_git(task.workspace)
    if files.digest != task.recipe.damaged_tree:
        yield Leak(
            "tree", ".", f"digest {files.digest[:12]}…, not {task.recipe.damaged_tree[:12]}…"
        )
    for path in files:
        if reason := refusal(path):
            yield Leak("by-product", path, reason)
    found = {p: e for p, e in task.workspace.items() if p not in files}
    if found:
        expected = git_folder(files)
        for path in sorted({*found, *expected}):
            if found.get(path) != expected.get(path):
                yield Leak("git", path, "not of the one commit that holds the agent's files")


def _statement(task: Task, secrets: Secrets) -> Iterator[Leak]:
    told = frozenset(re.findall(r"\w+", task.instruction))
    for name in declarations(task.instruction, secrets):
        yield Leak("statement", "instruction", f"declares the deleted {name}")
    for name in sorted(secrets.test_names & told):
        yield Leak("statement", "instruction", f"names the hidden test {name}")
    if task.recipe.level < "L4":
        for line in sorted(secrets.lines):
            if line in task.instruction:
                yield Leak("statement", "instruction", f"quotes deleted code: {line[:60]}")


def _workspace(task: Task, secrets: Secrets) -> Iterator[Leak]:
    layout = task.layout
    helpers = (path for path in layout.support_files if path.endswith(".py"))
    sources, tests = frozenset(layout.source_files), frozenset((*layout.test_files, *helpers))
    for path, entry in without_git(task.workspace).items():
        place: Place = "source" if path in sources else "test" if path in tests else "workspace"
        for leak in scan_file(path, entry.data, secrets, place=place):
            yield replace(leak, kind="unread") if _is_worked_with(leak, task) else leak


def _is_worked_with(leak: Leak, task: Task) -> bool:
    """Return whether a leak is of data that the project's code or tests name.

    Then it is theirs, and not something that packed the project.
    """
    if leak.kind != "opaque":
        return False
    name = _VOLUME.sub("", leak.path.partition("!")[0].rpartition("/")[2])
    words = [re.escape(name)] if len(name) >= _LEAST_NAME else []
    if "." in name and is_test_data(leak.path):
        words.append(rf"[*\w]?\.{re.escape(name.rpartition('.')[2])}")
    if not words:
        return False
    spoken = re.compile(rf"(?<![\w.])({'|'.join(words)})(?!\w)".encode("utf-8", "surrogateescape"))
    layout, files = task.layout, task.grading_tree
    code = (*layout.test_files, *layout.support_files, *layout.source_files)
    return any(spoken.search(files[path].data) for path in code if path in files)


def _mentions(task: Task, secrets: Secrets) -> Iterator[Leak]:
    code = frozenset((*task.layout.source_files, *task.layout.test_files))
    for path, entry in without_git(task.workspace).items():
        names = mentions(entry.data, secrets) if path not in code else ()
        if names:
            yield Leak("mention", path, ", ".join(names[:_TOLD]))
