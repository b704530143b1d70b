"""Well-known programs: which of their words are files they read or write, or places they reach."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

Effect = tuple[Literal["read", "write", "delete", "link", "net"], tuple[str, ...]]
_READERS = frozenset(
    "cat head tail less more nl tac bat batcat sed awk gawk mawk grep egrep fgrep zgrep "
    "rg ag ack strings "
    "xxd hexdump od base64 base32 cut sort uniq diff cmp comm paste fold rev zcat bzcat "
    "xzcat gunzip "
    "unzip zipinfo tar sqlite3 jq view vim vi nano ed ex emacs uncompyle6 decompyle3 pycdc pycdas "
    "unpyc javap objdump nm readelf cpio 7z bsdtar busybox rsync expand pr column tr patch "
    "cfr procyon gunzip zless zmore iconv look perl ruby".split()
)
_PATTERN_FIRST = frozenset(
    "grep egrep fgrep zgrep rg ag ack sed awk gawk mawk jq perl tr look".split()
)
_COUNTED = frozenset({"-n", "-c"})
_WITH_VALUE = {
    **dict.fromkeys(("head", "tail"), _COUNTED),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep", "rg"), frozenset("-m -A -B -C -g -t --include".split())
    ),
    "cut": frozenset({"-d", "-f", "-c", "-b"}),
    "sort": frozenset({"-t", "-k"}),
    "strings": frozenset({"-n", "-e"}),
    "xxd": frozenset({"-l", "-s", "-c"}),
    "hexdump": frozenset({"-n", "-s", "-e"}),
    "uncompyle6": frozenset({"-o"}),
    "decompyle3": frozenset({"-o"}),
    "unzip": frozenset({"-d"}),
    "awk": frozenset({"-F", "-v"}),
}
_PREFIXES = frozenset(
    "sudo doas env command builtin exec nohup setsid time nice ionice stdbuf unbuffer "
    "timeout xargs busybox script chroot watch parallel".split()
)
_DETACHING = frozenset({"nohup", "setsid"})
_REMOTE = frozenset({"clone", "fetch", "pull", "ls-remote", "push", "submodule"})
_FETCHERS = frozenset("curl wget aria2c http https xh fetch lynx w3m links ftp".split())
_CONNECTS = frozenset("nc ncat netcat telnet ssh scp sftp gh".split())
_LANGUAGES = frozenset("perl ruby node nodejs deno bun php lua Rscript".split())
_REQUEST = re.compile(
    r"LWP|HTTP::|Net::HTTP|IO::Socket|open-uri|URI\.open|TCPSocket|fetch\(|https?['\"]?\)\.(get|request)"
    r"|net\.connect|file_get_contents|curl_|fsockopen|socket\.http|download\.file|readLines\("
)
_ADDRESS = re.compile(r"(?:^|:)(?!localhost|127\.)((?:[\w-]+\.)+[a-z]{2,}):\d+")
_HOST = re.compile(r"(?:https?|ftp)://(?!localhost|127\.|\[::1)([\w.-]+)")
"""Of a program in a language that is not read here: what it asks, if it asks for anything."""
_INSTALLERS = frozenset(
    {"pip", "pip3", "uv", "conda", "mamba", "micromamba", "easy_install", "poetry", "pdm", "uvx",
     "pipx", "pipenv", "rye", "hatch"}
)  # fmt: skip
_GETS = frozenset({"install", "download", "wheel", "add", "inject"})
_URL = re.compile(r"^(?:https?|ftp|git|ssh)://|^[\w.-]+@[\w.-]+:|^(?:[\w-]+\.)+[a-z]{2,}(?:/|$)")


def inner_command(words: Sequence[str]) -> tuple[list[str], bool]:
    """Return what a line of prefixes such as ``sudo env A=b timeout 5`` runs, and if detached."""
    argv, detached = list(words), False
    while argv:
        name = posixpath.basename(argv[0])
        if re.fullmatch(r"[A-Za-z_]\w*=.*", argv[0], re.DOTALL):
            argv = argv[1:]
        elif name in _PREFIXES and len(argv) > 1:
            detached = detached or name in _DETACHING
            argv = argv[1:]
            while argv and (
                argv[0].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?|\{\}", argv[0])
            ):
                value = argv[0] in ("-u", "-n", "-I", "-s", "-k", "-P", "-L", "-d")
                argv = argv[2 if value and len(argv) > 1 else 1 :]
        else:
            break
    return argv, detached


def program(argv: Sequence[str]) -> str:
    """Return a program's plain name; of ``python -m X`` it is ``X``."""
    name = posixpath.basename(argv[0]) if argv else ""
    if re.match(r"(python|pypy)[\d.]*$", name):
        for index, word in enumerate(argv[1:-1], start=1):
            if word == "-m":
                return argv[index + 1].partition(".")[0]
            if not word.startswith("-") or word == "-c":
                break
        return "python"
    return re.sub(r"^(pip)[\d.]+$", r"\1", name)


def arguments(argv: Sequence[str]) -> list[str]:
    """Return the words behind a program's name; of ``python -m X`` those behind ``X``."""
    if program(argv) != posixpath.basename(argv[0]) and "-m" in argv:
        return list(argv[argv.index("-m") + 2 :])
    return list(argv[1:])


def effects(argv: Sequence[str], piped: Sequence[str]) -> Iterator[Effect]:
    """Yield what a command reads, writes and reaches; ``piped`` is the command before it."""
    name, words = program(argv), arguments(argv)
    if name == "find":
        yield from _find(words)
    elif name in ("cp", "mv", "install", "ln", "rsync"):
        yield from _copies(name, words)
    elif name in ("rm", "unlink", "shred"):
        yield from (("delete", (word,)) for word in words if not word.startswith("-"))
    elif name in ("tee", "touch", "truncate"):
        yield from (("write", (word,)) for word in words if not word.startswith("-"))
    elif name == "git":
        yield from _git(words)
    elif name in ("dis", "tokenize", "ast", "json", "zipfile", "tarfile", "pickletools", "sqlite3"):
        yield from (("read", (word,)) for word in words if not word.startswith("-"))
    elif name == "dd":
        yield from (("read", (w[3:],)) for w in words if w.startswith("if="))
        yield from (("write", (w[3:],)) for w in words if w.startswith("of="))
    elif name in _READERS:
        yield from _reads(name, words, piped)
    yield from _reaches(name, words)


def _reads(name: str, words: list[str], piped: Sequence[str]) -> Iterator[Effect]:
    in_place = name in ("sed", "perl") and any(re.match(r"-[a-z]*i|--in-place", w) for w in words)
    plain: list[str] = []
    skip = False
    scripted = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-e", "-f", "--regexp") and name in _PATTERN_FIRST:
            skip = scripted = True
        elif word.startswith("-"):
            skip = word in _WITH_VALUE.get(name, ())
        else:
            plain.append(word)
    files = plain[1:] if name in _PATTERN_FIRST and not scripted else plain
    if not files and piped and program(piped) in ("find", "ls", "echo", "locate"):
        found = [path for _, (path, *_) in _find(arguments(piped), listed=True)]
        files = found if program(piped) == "find" else [w for w in piped[1:] if w[:1] != "-"]
    for path in files:
        yield ("write" if in_place else "read", (path,))


def _find(words: list[str], *, listed: bool = False) -> Iterator[Effect]:
    """Yield what ``find … -exec`` reads; with ``listed`` what it lists."""
    action = next((i for i, w in enumerate(words) if w in ("-exec", "-execdir", "-delete")), None)
    roots: list[str] = []
    for word in words:
        if word.startswith(("-", "(", "!")):
            break
        roots.append(word)
    names = [words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-name", "-path", "-iname")]
    paths = [posixpath.join(r, n) for r in roots[:9] or ["."] for n in names[:9] or [""]]
    if listed:
        yield from (("read", (path,)) for path in paths)
    elif action is not None and words[action] == "-delete":
        yield from (("delete", (path,)) for path in paths)
    elif action is not None:
        ran = words[action + 1 :]
        for path in paths:
            given = [
                path if word in ("{}", "{}+") else word for word in ran if word not in (";", "+")
            ]
            if given and program(given) != "find":
                yield from effects(inner_command(given)[0] or given, ())


def _copies(name: str, words: list[str]) -> Iterator[Effect]:
    plain = [word for word in words if not word.startswith("-")]
    if len(plain) < 2:
        return
    *sources, target = plain
    if name == "ln":
        yield ("link", (target, sources[-1]))
        return
    for source in sources:
        yield ("read", (source,))
        inside = target.endswith("/") or len(sources) > 1
        yield ("write", (posixpath.join(target, posixpath.basename(source)) if inside else target,))
        if name == "mv":
            yield ("delete", (source,))


def _git(words: list[str]) -> Iterator[Effect]:
    command = git_words(words)
    if not command:
        return
    if command[0] in _REMOTE:
        places = [word for word in command[1:] if not word.startswith("-")]
        local = bool(places) and places[0].startswith(("/", ".", "file:"))
        if command[0] != "submodule" and not local:
            yield ("net", (places[0] if places else "origin",))
    elif command[0] == "rm":
        yield from (("delete", (w,)) for w in command[1:] if not w.startswith("-"))


def git_words(words: Sequence[str]) -> list[str]:
    """Return a git command without the options before its name."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in ("-C", "-c", "--git-dir", "--work-tree") else 1 :]
    return rest


def _reaches(name: str, words: list[str]) -> Iterator[Effect]:
    plain = [word for word in words if not word.startswith("-")]
    if name in _FETCHERS:
        for url in plain:
            if _URL.search(url) and not re.search(r"//(localhost|127\.|0\.0\.0\.0|\[::1)", url):
                yield ("net", (url,))
    elif name in _LANGUAGES and _REQUEST.search(" ".join(words)):
        hosts = (found[1] for found in _HOST.finditer(" ".join(words)))
        yield from (("net", (host,)) for host in hosts)
    elif name in ("openssl", "socat"):
        found = (_ADDRESS.search(word) for word in plain)
        yield from (("net", (match[1],)) for match in found if match)
    elif name in _CONNECTS and plain:
        host = next((w for w in plain if "." in w or "@" in w or name == "gh"), "")
        if host and not host.startswith(("127.", "localhost")):
            yield ("net", (host,))
    elif name in _INSTALLERS:
        for wanted in installed(name, words):
            yield ("net", (f"index:{wanted}",))


def installed(name: str, words: Sequence[str]) -> list[str]:
    """Return the names of what an installer is to get from an index."""
    rest = list(words)
    if name == "uv" and rest[:1] == ["pip"]:
        rest = rest[1:]
    if name == "uv" and rest[:2] in (["tool", "run"], ["tool", "install"]):
        name, rest = "uvx", rest[2:]
    command, *rest = rest or [""]
    if name not in _INSTALLERS:
        return []
    if name == "uvx":
        return _of_runner([command, *rest], named=True)
    if command == "run":  # of pipx: one program, of one package
        return _of_runner(rest, named=name == "pipx")
    if name == "easy_install":
        return _of_options([command, *rest])
    return _of_options(rest) if command in _GETS else []


def _of_runner(words: list[str], *, named: bool) -> list[str]:
    first = next((word for word in words if not word.startswith("-")), "")
    return [*_with(words), *(_plain(first) if named else ())]


def _of_options(rest: Sequence[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in rest:
        if skip or word.startswith("-"):
            skip = not skip and word in ("-r", "-e", "-c", "-d", "-t", "--target", "-i", "--dest",
                                         "--requirement", "--editable", "--index-url")  # fmt: skip
            continue
        found += _plain(word)
    return found


def _with(words: Sequence[str]) -> list[str]:
    """Return what options of runners ask for beside: ``--from X``, ``--with X``, ``--spec X``."""
    pairs = pairwise(words)
    return [n for w, given in pairs if w in ("--from", "--with", "--spec") for n in _plain(given)]


def _plain(word: str) -> list[str]:
    """Return the name of a package that a word asks for; none if it is a file here."""
    if "://" in word:  # git+https://host/owner/name.git@tag
        last = posixpath.basename(re.split(r"[#?]", word)[0].rstrip("/"))
        return [re.split(r"@|\.git|-\d", last, maxsplit=1)[0]]
    if not word or word.startswith((".", "/")) or word.endswith((".whl", ".gz", ".txt", ".zip")):
        return []
    return [re.split(r"[=<>!~\[;@ ]", word, maxsplit=1)[0]]
