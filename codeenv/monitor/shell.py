"""Reads command lines as far as a monitor needs: words, pipes, redirections, here-documents.

It resolves plain obfuscation (quotes inside words, variables, ``$'…'``, brace-free substitutions of
well-known programs) and executes nothing.  Time is linear in the text; texts and nesting are
capped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from codeenv.monitor.folding import SITE

LONGEST = 64 * 1024
"""Characters of a command line that are read."""
_MOST = 400
_DEPTH = 4
_OPERATORS = ("&&", "||", ";;", "|&", ";", "&", "|", "(", ")", "\n")
_REDIRECTS = ("&>>", "<<<", "<<-", "<<", ">>", "&>", ">|", "<>", ">&", "<&", ">", "<")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_DESCRIPTOR = re.compile(r"\d*")
_WHERE_IS = re.compile(r"^\s*(?:which|command\s+-v|type\s+-p|type\s+-P)\s+([\w.+-]+)\s*$")
_KEYWORDS = frozenset({"do", "then", "else", "elif", "if", "while", "until", "!", "{", "}", "time"})
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


@dataclass
class Command:
    """One simple command.

    Attributes:
        argv: Words without quotes.
        stdin: Here-document or here-string, or what the command before it in a pipe prints.
        reads: Paths of ``<``.
        writes: Paths of ``>``.
        appends: Paths of ``>>``.
        background: Whether the shell does not wait for it.
        piped: Whether it gets the output of the command before it.
    """

    argv: list[str] = field(default_factory=list)
    stdin: str = ""
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    appends: list[str] = field(default_factory=list)
    background: bool = False
    piped: bool = False

    def __bool__(self) -> bool:
        """Return whether there is anything in it."""
        return bool(self.argv or self.reads or self.writes or self.appends)


def parse_shell(text: str) -> tuple[Command, ...]:
    """Return the simple commands of a script in order, those in substitutions included.

    Anything is accepted: what is no shell gives commands that mean nothing.
    """
    parser = _Parser(text[:LONGEST], {})
    return tuple(parser.commands())


class _Parser:
    def __init__(self, text: str, variables: dict[str, str], depth: int = 0) -> None:
        self._text, self._variables, self._depth = text, variables, depth
        self._at = 0
        self._found: list[Command] = []
        self._awaiting: list[tuple[Command, str, bool]] = []

    def commands(self) -> list[Command]:
        current = Command()
        while self._at < len(self._text) and len(self._found) < _MOST:
            operator = self._operator()
            if operator:
                current = self._ended(current, operator)
                continue
            if self._text[self._at] in " \t\r":
                self._at += 1
            elif self._text[self._at] == "#":
                self._skip_line()
            elif not self._redirected(current):
                self._take_word(current)
        self._ended(current, "")
        return self._found

    def _operator(self) -> str:
        for operator in _OPERATORS:
            if self._text.startswith(operator, self._at):
                if operator == "&" and self._text.startswith("&>", self._at):
                    return ""
                self._at += len(operator)
                return operator
        return ""

    def _ended(self, current: Command, operator: str) -> Command:
        if operator == "\n":
            self._take_documents()
        following = Command(piped=operator in ("|", "|&"))
        if not current:
            following.piped = following.piped or (operator == "\n" and current.piped)
            if operator == "&" and self._found:  # of a group
                self._found[-1].background = True
            return following
        current.background = operator == "&"
        if current.argv[:1] == ["for"] and current.argv[2:3] == ["in"] and current.argv[3:]:
            self._variables[current.argv[1]] = current.argv[3]
        self._found.append(current)
        return following

    def _skip_line(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _redirected(self, current: Command) -> bool:
        """Take a redirection, if one is here."""
        start = self._at
        match = _DESCRIPTOR.match(self._text, self._at)
        at = match.end() if match else self._at
        mark = next((m for m in _REDIRECTS if self._text.startswith(m, at)), "")
        if not mark:
            self._at = start
            return False
        self._at = at + len(mark)
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1
        target, quoted = self._word()
        if mark in ("<<", "<<-"):
            self._awaiting.append((current, target, quoted))
        elif mark == "<<<":
            current.stdin = target
        elif mark == "<":
            current.reads.append(target)
        elif mark in (">>", "&>>"):
            current.appends.append(target)
        elif mark not in (">&", "<&") or not re.fullmatch(r"\d+|-", target):
            current.writes.append(target)
        return True

    def _take_documents(self) -> None:
        """Read the here-documents that begin on the next line."""
        for command, mark, _quoted in self._awaiting:
            lines: list[str] = []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if line.strip("\t") == mark or line == mark:
                    break
                lines.append(line)
            command.stdin = "\n".join(lines) + "\n"
        self._awaiting.clear()

    def _take_word(self, current: Command) -> None:
        start = self._at
        word, quoted = self._word()
        if self._at == start:  # nothing that a word may hold
            self._at += 1
            return
        assigned = _ASSIGNMENT.fullmatch(word)
        if not current.argv and assigned and self._text[start] not in "'\"":
            self._variables[assigned[1]] = assigned[2]
            return
        if not current.argv and not quoted and word in _KEYWORDS:
            return
        if word or quoted:
            plain = not quoted and not current.argv and " " in word
            current.argv.extend(word.split() if plain else [word])

    def _word(self) -> tuple[str, bool]:
        """Return the next word without its quotes, and whether any of it was quoted."""
        parts: list[str] = []
        quoted = False
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in " \t\r\n;&|()<>":
                break
            quoted = quoted or character in "'\""
            parts.append(self._piece(character))
        return "".join(parts), quoted

    def _piece(self, character: str) -> str:
        if character == "'":
            return self._single()
        if character == '"':
            return self._double()
        if self._text.startswith("$'", self._at):
            self._at += 1
            return _unescaped(self._single())
        if character == "`" or self._text.startswith("$(", self._at):
            return self._substitution()
        if character == "$":
            return self._variable()
        if character == "\\":
            self._at += 2
            escaped = self._text[self._at - 1 : self._at]
            return "" if escaped == "\n" else escaped
        self._at += 1
        return character

    def _single(self) -> str:
        end = self._text.find("'", self._at + 1)
        end = len(self._text) if end < 0 else end
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return text

    def _double(self) -> str:
        parts: list[str] = []
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != '"':
            character = self._text[self._at]
            if character == "\\":
                following = self._text[self._at + 1 : self._at + 2]
                parts.append(following if following in '$`"\\' else f"\\{following}")
                self._at += 2
            elif character == "`" or self._text.startswith("$(", self._at):
                parts.append(self._substitution())
            elif character == "$":
                parts.append(self._variable())
            else:
                parts.append(character)
                self._at += 1
        self._at += 1
        return "".join(parts)

    def _variable(self) -> str:
        match = _VARIABLE.match(self._text, self._at)
        if match is None:
            self._at += 1
            return "$"
        self._at = match.end()
        name = match[1] or match[2]
        return self._variables.get(name, match[0])

    def _substitution(self) -> str:
        """Read a substitution's commands, and return what it stands for as far as that is plain."""
        inner = self._backticks() if self._text[self._at] == "`" else self._parenthesis()
        if self._depth < _DEPTH:
            within = _Parser(inner, self._variables, self._depth + 1)
            self._found += within.commands()[: max(0, _MOST - len(self._found))]
        where = _WHERE_IS.match(inner)
        if where:
            return f"/usr/bin/{where[1]}"
        if re.search(r"site\b|sysconfig|purelib|site-packages|__file__", inner):
            return SITE
        echoed = re.fullmatch(
            r"\s*(?:echo|printf)\s+(?:-n\s+)?['\"]?([^'\"|;&$`]*)['\"]?\s*", inner
        )
        return echoed[1].strip() if echoed else f"$({inner.strip()})"

    def _backticks(self) -> str:
        end = self._text.find("`", self._at + 1)
        end = len(self._text) if end < 0 else end
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        return inner

    def _parenthesis(self) -> str:
        depth, start, at = 0, self._at + 2, self._at + 1
        quote = ""
        while at < len(self._text):
            character = self._text[at]
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            else:
                depth += (character == "(") - (character == ")")
            if not depth:
                break
            at += 1
        self._at = at + 1
        return self._text[start:at]


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _ESCAPES.get(match[2], match[2])

    return re.sub(r"\\(?:x([0-9a-fA-F]{2})|(.))", one, text, flags=re.DOTALL)


def pairs(commands: tuple[Command, ...]) -> Iterator[tuple[Command, Command | None]]:
    """Yield each command with the one that it gets its input from."""
    for index, command in enumerate(commands):
        yield command, commands[index - 1] if command.piped and index else None
