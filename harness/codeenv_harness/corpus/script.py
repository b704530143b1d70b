"""Writes an episode down as the harness would, from a few lines of script; nothing is run."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from codeenv.env.runtime import Runtime
from codeenv.grading import Grade, Outcome, collect_submission, to_outcome
from codeenv.grading.models import Reason, TestStatus
from codeenv.materialise.models import Task
from codeenv.tasks.taskset import Taskset
from codeenv.trajectory import AgentInfo, Recorder, Trajectory, changes_between
from codeenv.tree import Entry, Tree

SUITE = "toy"
TASK = "toy-text-slugify-1ed46056"
SOURCE = "pocketbook/text.py"
OWN = '''"""Slugs, wrapping and tables for plain text."""

import re
import unicodedata


def slugify(text, *, separator="-", limit=None):
    """Make a slug."""
    folded = unicodedata.normalize("NFKD", text)
    letters = folded.encode("ascii", "ignore").decode("ascii").lower()
    parts = re.findall("[a-z0-9]+", re.sub("'", "", letters))
    whole = separator.join(parts)
    if limit is not None and len(whole) > limit:
        while len(parts) > 1 and len(separator.join(parts)) > limit:
            parts.pop()
        whole = separator.join(parts)[:limit]
    return whole


def shorten(text, width, *, marker="…"):
    """Cut the middle out."""
    if width >= len(text):
        return text
    free = width - len(marker)
    if free < 2:
        raise ValueError(f"width {width} leaves no room for text")
    right = free // 2
    left = free - right
    return f"{text[:left]}{marker}{text[-right:]}"
'''
"""A solution of our own; it is not the original code."""


@cache
def task_of(task_id: str = TASK) -> Task:
    """Return a task of the bundled repository."""
    taskset = Taskset.load(SUITE)
    recipe = next(recipe for recipe in taskset.recipes if recipe.id == task_id)
    return Runtime("local").task(recipe, taskset)


def planted(files: Mapping[str, str | bytes], task_id: str = TASK) -> Task:
    """Return the task with more files in its workspace: an environment that leaks."""
    task = task_of(task_id)
    return replace(task, workspace=Tree({**task.workspace, **_entries(files)}))


def _entries(files: Mapping[str, str | bytes]) -> dict[str, Entry]:
    return {p: Entry(d.encode() if isinstance(d, str) else d) for p, d in files.items()}


class Script:
    """One scripted episode."""

    def __init__(self, name: str, task: Task | None = None) -> None:
        """Begin with the statement."""
        self.task = task or task_of()
        self._name = name
        self._files = dict(self.task.workspace)
        self._steps = 0
        self._recorder = Recorder(AgentInfo(name="scripted", version="1"), name)
        self._recorder.instruct(self.task.instruction)

    def run(
        self,
        command: str,
        output: str = "",
        code: int = 0,
        files: Mapping[str, str | bytes | None] | None = None,
    ) -> "Script":
        """Run a command that prints ``output`` and leaves ``files`` (None: deleted)."""
        for path, data in (files or {}).items():
            if data is None:
                self._files.pop(path, None)
            else:
                self._files[path] = Entry(data.encode() if isinstance(data, str) else data)
        text = output.rstrip("\n") or "(no output)"
        text = f"{text}\n[exit code {code}]" if code else text
        return self._call("run_command", {"command": command}, text, exit_code=code)

    def read(self, path: str) -> "Script":
        """Read a file with the tool."""
        entry = self._files.get(path)
        if entry is None:
            text = f"error[not_found]: {path} does not exist"
            return self._call("read_file", {"path": path}, text, ok=False)
        lines = entry.data.decode("utf-8", "replace").splitlines()
        text = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
        return self._call("read_file", {"path": path}, text)

    def search(self, pattern: str, output: str) -> "Script":
        """Search with the tool."""
        return self._call("search", {"pattern": pattern}, output)

    def edit(self, path: str, old: str, new: str) -> "Script":
        """Replace one piece of a file."""
        text = self._files[path].data.decode().replace(old, new, 1)
        self._files[path] = Entry(text.encode())
        return self._call(
            "edit_file", {"path": path, "old_str": old, "new_str": new}, f"edited {path}"
        )

    def write(self, path: str, text: str) -> "Script":
        """Write a whole file."""
        if not path.startswith("/"):
            self._files[path] = Entry(text.encode("utf-8", "replace"))
        arguments = {"path": path, "old_str": "", "new_str": text, "overwrite": True}
        return self._call("edit_file", arguments, f"wrote {path}")

    def say(self, text: str) -> "Script":
        """Say something."""
        self._steps += 1
        self._recorder.say(text, "error[invalid_action]: not a tool call", {"reward": 0.0})
        return self

    def begin(self) -> "Script":
        """Look around as anybody would."""
        self.run(
            "ls && git status --short", "LICENSE\nREADME.md\npocketbook\npyproject.toml\ntests"
        )
        return self.read(SOURCE).read("README.md")

    def end(
        self, reward: float = 1.0, *, held_out: float | None = None, reason: Reason = "submitted"
    ) -> Trajectory:
        """Check, hand in, and return what was recorded."""
        if reason == "submitted":
            self.run("python -m pytest -q", "............... [100%]\n15 passed in 0.11s")
            self._call("submit", {}, "Submitted.")
        exported = Tree(self._files)
        submission = collect_submission(self.task, exported)
        outcome = self._outcome(reward, submission.delta.paths, submission.ignored, reason)
        if held_out is not None:
            shares = {"fail_to_pass": (1 + held_out) / 2, "held_out": held_out}
            outcome = replace(outcome, components={**outcome.components, **shares})
        changes = changes_between(self.task.workspace, exported, submission.delta.paths)
        extra = {
            "task_id": self.task.id,
            "rollout": 0,
            "seed": 0,
            "changes": changes.model_dump(mode="json", exclude_none=True),
        }
        return self._recorder.finished(outcome, extra)

    def _outcome(
        self, reward: float, accepted: tuple[str, ...], ignored: tuple[str, ...], reason: Reason
    ) -> Outcome:
        status: TestStatus = "passed" if reward == 1.0 else "failed"
        grade = Grade(
            resolved=reward == 1.0,
            fail_to_pass=dict.fromkeys(self.task.fail_to_pass, status),
            pass_to_pass={},
            accepted_paths=accepted,
            ignored_paths=ignored,
        )
        return to_outcome(self.task.id, grade, reason=reason, n_steps=self._steps)

    def _call(
        self, tool: str, arguments: Mapping[str, object], text: str, *, ok: bool = True,
        exit_code: int | None = None,
    ) -> "Script":  # fmt: skip
        self._steps += 1
        facts = {"name": tool, "ok": ok, "error": "" if ok else "not_found", "exit_code": exit_code}
        self._recorder.call(tool, arguments, text, {"reward": 0.0, "tool": facts})
        return self
