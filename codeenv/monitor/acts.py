"""What commands and scripts do, as far as their text says: programs, reads, writes, connections.

One shape for a command line, ``python -c``, a script that the agent wrote and runs, and calls of
``subprocess`` in any of them.
"""

import ast
import base64
import binascii
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codeenv.monitor.code import parsed_piece
from codeenv.monitor.folded import Value
from codeenv.monitor.folding import Folder
from codeenv.monitor.paths import clean
from codeenv.monitor.programs import effects, inner_command
from codeenv.monitor.shell import Command, pairs, parse_shell

_DEPTH = 5
_MOST = 500
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})
_SOCKET = re.compile(r"^/dev/(?:tcp|udp)/(?!localhost|127\.|::1)([^/]+)/")
_PYTHON = re.compile(r"(python|pypy)[\d.]*$|^ipython$")
_RUNS = re.compile(
    r"^(subprocess\.(run|call|check_call|check_output|Popen|getoutput|getstatusoutput)"
    r"|os\.(system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?)"
    r"|asyncio\.create_subprocess_(exec|shell)|pty\.spawn|sh)$"
)
_READS = re.compile(
    r"(^|\.)(open|read_text|read_bytes|getlines?|getsource|connect|ZipFile|open_code|walk|rglob"
    r"|glob|iglob|scandir|run_path|spec_from_file_location|copy2?|copyfile|copytree|from_path)$"
)
_WRITES = re.compile(r"(^|\.)(write_text|write_bytes|touch)$")
_COPIES = re.compile(r"^(shutil\.(copy\w*|move)|os\.(replace|rename|link))$")
_DELETES = frozenset({"os.remove", "os.unlink", "shutil.rmtree"})
_NET = re.compile(
    r"^(urllib\.request\.\w+|requests\.\w+|httpx\.\w+|urllib3\.\w+|http\.client\.\w+)$"
)

_HOSTS = re.compile(
    r"^(http\.client\.HTTPS?Connection|socket\.create_connection|ftplib\.FTP(_TLS)?"
    r"|telnetlib\.Telnet|asyncio\.open_connection|imaplib\.IMAP4\w*)$"
)
_OUTSIDE = re.compile(r"(?!127\.|0\.0\.0\.0$)[\w-]+(\.[\w-]+)+(:\d+)?")

Kind = Literal["exec", "read", "write", "append", "delete", "link", "net", "call"]


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that is done.

    Attributes:
        kind: What; ``call`` names a function of Python that is called.
        words: Of ``exec`` the argument vector; else the path, the target or the name.
        text: What is written, or what the program gets to read.
        background: Whether nobody waits for it.
        via: Where it was read.
    """

    kind: Kind
    words: tuple[str, ...]
    text: str = ""
    background: bool = False
    via: Literal["shell", "python"] = "shell"


def acts_of_shell(text: str, scripts: Mapping[str, str], depth: int = 0) -> list[Act]:
    """Return what a command line does; ``scripts`` are the files that the agent wrote so far."""
    written = dict(scripts)
    acts: list[Act] = []
    for command, before in pairs(parse_shell(text)):
        if before is not None and not command.stdin:
            command.stdin = _printed(before)
        if len(acts) >= _MOST:
            break
        acts += _command(command, before, written, depth)
        for path in command.writes:
            written[path] = _printed(command)
        for path in command.appends:
            written[path] = written.get(path, "") + _printed(command)
    return acts[:_MOST]


def acts_of_python(text: str, scripts: Mapping[str, str], depth: int = 0) -> list[Act]:
    """Return what a Python script does when it is run."""
    tree = parsed_piece(text)
    if tree is None:
        return []
    names = Folder(tree)
    acts: list[Act] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(acts) < _MOST:
            acts += _call(node, names, scripts, depth)
    return acts


def _command(
    command: Command, before: Command | None, scripts: Mapping[str, str], depth: int
) -> Iterator[Act]:
    words = command.argv
    stdin = command.stdin
    argv, background = inner_command(words)
    if argv:
        yield Act("exec", tuple(argv), stdin, command.background or background)
    yield from _redirections(command)
    if argv:
        piped = inner_command(before.argv)[0] if before else []
        for kind, found in effects(argv, piped):
            yield Act(kind, found, stdin if kind == "write" else "")
        if depth < _DEPTH:
            yield from _nested(argv, stdin, scripts, depth + 1)


def _redirections(command: Command) -> Iterator[Act]:
    for path in (*command.reads, *command.writes, *command.appends):
        if host := _SOCKET.match(path):  # a shell opens a connection where such a file is named
            yield Act("net", (host[1],))
    for path in command.reads:
        yield Act("read", (path,))
    for path in command.writes:
        if path and path != "/dev/null":
            yield Act("write", (path,), _printed(command))
    for path in command.appends:
        if path and path != "/dev/null":
            yield Act("append", (path,), _printed(command))


def _nested(
    argv: Sequence[str], stdin: str, scripts: Mapping[str, str], depth: int
) -> Iterator[Act]:
    """Yield what the script does that a command runs: given with it, or written before."""
    name = posixpath.basename(argv[0])
    if name == "eval":
        yield from acts_of_shell(" ".join(argv[1:]), scripts, depth)
    elif name in _SHELLS:
        script = _argument(argv, "-c")
        text = script if script is not None else _file(argv[1:], scripts) or stdin
        yield from acts_of_shell(text, scripts, depth)
    elif _PYTHON.search(name):
        script = _argument(argv, "-c")
        given = stdin if len(argv) == 1 or "-" in argv else ""
        text = script if script is not None else _file(argv[1:], scripts) or given
        yield from acts_of_python(text, scripts, depth)
    elif name in ("source", "."):
        yield from acts_of_shell(_file(argv[1:], scripts), scripts, depth)
    elif text := _file(argv[:1], scripts):
        read = acts_of_python if "python" in text.split("\n", 1)[0] else acts_of_shell
        yield from read(text, scripts, depth)


def _argument(argv: Sequence[str], option: str) -> str | None:
    """Return what follows an option, alone or as the last letter of several (``-lc``)."""
    for index, word in enumerate(argv[1:-1], start=1):
        if word == option or re.fullmatch(r"-[A-Za-z]*" + option[1:], word):
            return argv[index + 1]
        if not word.startswith("-"):
            return None
    return None


def _file(words: Sequence[str], scripts: Mapping[str, str]) -> str:
    path = next((word for word in words if not word.startswith("-")), "")
    return scripts.get(path) or scripts.get(clean(path)) or ""


def _printed(command: Command | None) -> str:
    """Return what a command prints, where its words say so."""
    if command is None or not command.argv:
        return command.stdin if command else ""
    name, words = posixpath.basename(command.argv[0]), command.argv[1:]
    if name == "echo":
        return " ".join(word for word in words if word not in ("-n", "-e", "-ne", "-en")) + "\n"
    if name == "printf" and words:
        pieces = words[0].replace("\\n", "\n").split("%s")
        if len(pieces) != len(words):
            return " ".join(words)
        return "".join(piece + word for piece, word in zip(pieces, [*words[1:], ""], strict=True))
    if name in ("cat", "tee"):
        return command.stdin
    if name == "base64" and {"-d", "-D", "--decode"} & set(words):
        return _decoded(command.stdin)
    return ""


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text.strip()).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _call(node: ast.Call, names: Folder, scripts: Mapping[str, str], depth: int) -> Iterator[Act]:
    function = names.dotted(node.func)
    first = names.fold(node.args[0]) if node.args else None
    if function:
        yield Act("call", (function, *_told(node, names)), via="python")
    if _RUNS.search(function):
        yield from _run(node, names, scripts, depth)
    elif function in ("exec", "eval", "builtins.exec") and isinstance(first, str):
        if depth < _DEPTH:
            yield from acts_of_python(first, scripts, depth + 1)
    elif function in _DELETES and isinstance(first, str):
        yield Act("delete", (first,), via="python")
    elif function == "os.symlink" and len(node.args) > 1:
        yield Act("link", (str(names.fold(node.args[1]) or ""), str(first or "")), via="python")
    elif _NET.search(function) and isinstance(first, str) and "://" in first:
        yield Act("net", (first,), via="python")
    elif _HOSTS.search(function):
        host = first[0] if isinstance(first, tuple) and first else first
        if isinstance(host, str) and _OUTSIDE.fullmatch(host):
            yield Act("net", (host,), via="python")
    else:
        yield from _files(node, function, names)


def _run(node: ast.Call, names: Folder, scripts: Mapping[str, str], depth: int) -> Iterator[Act]:
    given = names.fold(node.args[0]) if node.args else None
    detached = any(k.arg == "start_new_session" for k in node.keywords)
    words = _words(given, node.args[0] if node.args else None, names)
    if isinstance(given, str):
        found = acts_of_shell(given, scripts, depth + 1) if depth < _DEPTH else []
        yield from found
    elif words:
        yield from _command(Command(words, background=detached), None, scripts, depth)


def _told(node: ast.Call, names: Folder) -> Iterator[str]:
    """Yield the arguments of a call that are texts or names of something."""
    for value in (*node.args[:9], *(k.value for k in node.keywords[:9])):
        folded = names.fold(value)
        text = folded if isinstance(folded, str) else names.dotted(value)
        if text:
            yield text[:500]


def _words(given: Value | None, node: ast.expr | None, names: Folder) -> list[str]:
    """Return the words of an argument vector; what is not constant is ``?``."""
    if isinstance(given, tuple):
        return [str(word) for word in given if isinstance(word, str | int)]
    if isinstance(node, ast.List | ast.Tuple):
        folded = [names.fold(element) for element in node.elts]
        return [word if isinstance(word, str) else "?" for word in folded]
    return []


def _files(node: ast.Call, function: str, names: Folder) -> Iterator[Act]:
    """Yield the reads and writes of a call of ``open``, ``Path.read_text`` and the like."""
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    owner = names.fold(node.func.value) if isinstance(node.func, ast.Attribute) else None
    values = [names.fold(a) for a in (*node.args, *(k.value for k in node.keywords))]
    texts = [value for value in values if isinstance(value, str)]
    name = function or method
    mode = next((t for t in texts if re.fullmatch(r"[rwaxbt+]{1,3}", t)), "r")
    paths = [owner] if isinstance(owner, str) and method else texts[:1]
    if _COPIES.search(name) and texts[1:]:
        yield Act("write", (texts[1],), via="python")
    if _WRITES.search(name) or (name.endswith("open") and set(mode) & set("wax+")):
        kind: Kind = "append" if "a" in mode else "write"
        for path in paths:
            yield Act(kind, (str(path),), " ".join(texts), via="python")
    elif _READS.search(name) or method in ("read_text", "read_bytes"):
        for path in paths:
            joined = (
                posixpath.join(str(path), texts[0]) if method.endswith("glob") and texts else path
            )
            yield Act("read", (str(joined),), via="python")
