"""What an agent has done so far: files it wrote, programs it ran, words it has seen.

This is what provenance is read from: what the agent made itself is no leak.
"""

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from codeenv.monitor.acts import Act, acts_of_shell
from codeenv.monitor.facts import TaskFacts
from codeenv.monitor.folding import MODULES, SITE
from codeenv.monitor.models import Executed, FileRead, FileWritten, Linked, Payload, Reached
from codeenv.monitor.paths import cache_kind, classify, clean, is_of_environment, makes
from codeenv.monitor.programs import program
from codeenv.monitor.view import Change

_LISTED = re.compile(
    r"^(?:Binary file |grep: )?([\w./@+-]{2,300}?)(?::(?:\d+[:-])?.|: binary file matches"
    r"| matches$)",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d]\w{4,}")
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "git"})
_MOST_PATHS = 60
_MOST_WORDS = 200_000
_COMMANDS = ("command", "cmd", "script", "input", "code", "bash_command")


class World:
    """State of an episode while its trajectory is read."""

    def __init__(self, facts: TaskFacts) -> None:
        """Start with nothing done."""
        self._facts = facts
        self._scripts: dict[str, str] = {}
        self._before: dict[str, str | None] = {}
        self._made: set[str] = set()
        self._programs: set[str] = set()
        self._words: set[str] = set()
        self._searching = False

    def heard(self, text: str) -> None:
        """Note the words of a text: a name in it is no news any more."""
        if len(self._words) < _MOST_WORDS:
            self._words.update(_WORD.findall(text[:_MOST_WORDS]))

    def vanished(self, text: str) -> tuple[str, ...]:
        """Return the vanished names that a text tells for the first time, sorted."""
        found = self._facts.vanished_in(text, frozenset(self._words))
        self._words |= found
        return tuple(sorted(found))

    def effects(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Payload]]:
        """Yield what a tool call does, as kinds of events with their payloads."""
        for value in arguments.values():
            self.heard(value if isinstance(value, str) else str(value)[:10_000])
        path = next((arguments[k] for k in ("path", "file_path", "file", "filename")
                     if isinstance(arguments.get(k), str)), None)  # fmt: skip
        command = next((arguments[k] for k in _COMMANDS if isinstance(arguments.get(k), str)), None)
        self._searching = tool == "search"
        if self._is_edit(arguments) and path is not None:
            yield from self._edited(clean(path), arguments)
        elif tool in ("lint",):
            self._programs.add("lint")
        elif tool in ("search", "grep", "glob", "find", "list_files", "list_dir"):
            return
        elif command is not None:
            folder = arguments.get("workdir")
            yield from self._ran(command, clean(folder) if isinstance(folder, str) else ".")
        elif path is not None:
            yield "file_read", self.read(clean(path))

    def _is_edit(self, arguments: Mapping[str, Any]) -> bool:
        keys = ("new_str", "content", "file_text", "new_string", "contents")
        return any(isinstance(arguments.get(key), str) for key in keys)

    def _edited(self, path: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Payload]]:
        keys = ("new_str", "content", "file_text", "new_string", "contents")
        new = next(arguments[key] for key in keys if isinstance(arguments.get(key), str))
        old = arguments.get("old_str") or arguments.get("old_string") or ""
        text = self._scripts.get(path, self._facts.files.get(path))
        if text is not None and isinstance(old, str) and old and old in text:
            text = (
                text.replace(old, new)
                if arguments.get("replace_all")
                else text.replace(old, new, 1)
            )
        elif old and text:
            text = f"{text}\n{new}"
        else:
            text = new
        yield from self._wrote(path, text)

    def _wrote(self, path: str, text: str) -> Iterator[tuple[str, Payload]]:
        existing = self._exists(path)
        if path not in self._before:
            self._before[path] = self._facts.files.get(path)
        self._scripts[path] = text
        self._made.add(path)
        yield "file_write", FileWritten(path=path, cls=self._class(path), pre_existing=existing)

    def _ran(self, command: str, cwd: str) -> Iterator[tuple[str, Payload]]:
        here = cwd
        for act in acts_of_shell(command, self._scripts):
            if act.kind == "exec" and act.words[0] == "cd":
                here = clean(act.words[1], "" if here == "." else here) if act.words[1:] else here
            yield from self._acted(act, "" if here == "." else here)

    def _acted(self, act: Act, cwd: str) -> Iterator[tuple[str, Payload]]:
        first = self._found(act.words[0])
        if act.kind in ("exec", "call"):
            name = program(act.words) if act.kind == "exec" else ""
            self._programs.add(name)
            self._searching = self._searching or name in _SEARCHERS
            via = "python" if act.kind == "call" else act.via
            yield "exec", Executed(
                argv=act.words[:200] if act.kind == "exec" else ("<call>", *act.words),
                cwd=cwd, stdin=act.text[:4000], background=act.background, via=via,
            )  # fmt: skip
        elif act.kind == "read":
            yield "file_read", self.read(clean(first, cwd))
        elif act.kind in ("write", "append"):
            path = clean(first, cwd)
            kept = self._scripts.get(path, self._facts.files.get(path, ""))
            yield from self._wrote(path, kept + act.text if act.kind == "append" else act.text)
        elif act.kind == "delete":
            path = clean(first, cwd)
            known = self._exists(path)
            if path not in self._before:
                self._before[path] = self._facts.files.get(path)
            yield "file_delete", FileWritten(path=path, cls=self._class(path), pre_existing=known)
        elif act.kind == "link":
            target = clean(act.words[1], cwd) if act.words[1:] else ""
            yield "link", Linked(path=clean(first, cwd), target=target)
        elif act.kind == "net":
            yield "net", Reached(dst=first)

    def _found(self, path: str) -> str:
        """Return where an imported module is: the project in the workspace, others installed."""
        if not path.startswith(f"{MODULES}/"):
            return path
        inner = path.removeprefix(f"{MODULES}/")
        own = inner.partition("/")[0].removesuffix(".py") in self._facts.packages
        return inner if own else f"{SITE}/{inner}"

    def read(self, path: str) -> FileRead:
        """Return the reading of a path, with where it comes from."""
        if "*" in path and self._facts.known and not path.startswith("/"):
            path = next(iter(fnmatch.filter(self._facts.files, path + "*")), path)
        return FileRead(path=path, cls=self._class(path), pre_existing=self._exists(path))

    def listed(self, tool: str, text: str) -> Iterator[str]:
        """Yield the files whose lines a search shows: only what is no plain source is of use."""
        if not self._searching:
            return
        found = dict.fromkeys(clean(match) for match in _LISTED.findall(text))
        kept = [path for path in found if classify(path) not in ("source", "test", "unknown")]
        yield from kept[:_MOST_PATHS]

    def _class(self, path: str) -> Any:  # noqa: ANN401 - a PathClass
        return "test" if path in self._facts.tests else classify(path)

    def _exists(self, path: str) -> bool:
        """Return whether a path was there before the agent, as far as can be told."""
        stem = path.split("*", 1)[0].rstrip("/") if "*" in path else path
        parts = stem.split("/")
        if path in self._made or any(
            "/".join(parts[:n]) in self._made for n in range(1, len(parts))
        ):
            return False
        if not path.startswith("/") and self._facts.known:
            if "*" in path:
                return self._facts.has(stem) or any(fnmatch.filter(self._facts.files, path))
            return self._facts.has(path)
        if classify(path) == "tmp":
            return False
        if is_of_environment(path):  # where an agent may not write
            return True
        kind = cache_kind(path)
        return not (kind and makes(kind, frozenset(self._programs)))

    def guessed(self, where: Mapping[str, Sequence[int]]) -> Iterator[Change]:
        """Yield the changes that the edits amount to, where no tree was recorded."""
        for path, before in sorted(self._before.items()):
            after = self._scripts.get(path)
            if path.startswith("/") or "$" in path:
                continue
            existed = before is not None or self._facts.has(path)
            yield Change(
                path=path,
                kind="deleted" if after is None else "changed" if existed else "added",
                before=before or None,
                after=after,
                counted=classify(path) == "source" and not path.startswith("/"),
                evidence=tuple(where.get(path, ())[-5:]),
            )
