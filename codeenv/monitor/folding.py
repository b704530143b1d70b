"""Says what simple expressions of Python code evaluate to, without running any of it.

Resolves names to dotted paths (``g = getattr; g(__import__("os"), "_ex" + "it")`` is
``os._exit``) and texts to constants (concatenation, ``join``, ``chr``, base64, hex, reversal).
"""

import ast
import sys

from codeenv.monitor.folded import (
    MOST,
    Value,
    attempted,
    joined_text,
    method,
    of_call,
    plain,
    total,
)

_DEPTH = 30
SITE = "<site-packages>"
"""Stands for the folder of installed packages."""
MODULES = "<modules>"
"""Stands for the folder that a module was imported from."""
_IMPORTERS = frozenset({"__import__", "importlib.import_module", "importlib.__import__"})


class Folder:
    """Constants and dotted names of one module."""

    def __init__(self, tree: ast.AST, outer: "Folder | None" = None) -> None:
        """Collect imports and plain assignments, wherever they stand."""
        self.aliases: dict[str, str] = dict(outer.aliases) if outer else {}
        self.constants: dict[str, ast.expr] = dict(outer.constants) if outer else {}
        self._folded: dict[ast.AST, Value | None] = {}
        self._dotted: dict[ast.AST, str] = {}
        nodes = list(ast.walk(tree))
        for node in nodes:
            self._import(node)
        for node in nodes:
            self._assignment(node)
            self._defaults(node)

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name.partition(".")[0]
                self.aliases[name.asname or top] = name.name if name.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                self.aliases[name.asname or name.name] = f"{node.module}.{name.name}"

    def _assignment(self, node: ast.AST) -> None:
        target: ast.expr | None = None
        value: ast.expr | None = None
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            target, value = node.target, node.value
        if isinstance(target, ast.Name) and value is not None:
            self._bind(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, given in zip(target.elts, value.elts, strict=False):
                if isinstance(one, ast.Name):
                    self._bind(one.id, given)

    def _defaults(self, node: ast.AST) -> None:
        """Bind parameters to what their defaults name: ``def f(os=__import__("os"))``."""
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return
        given = node.args
        plain = [*given.posonlyargs, *given.args]
        pairs = [*zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True)]
        pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
        for argument, default in pairs:
            dotted = self.dotted(default)
            if "." in dotted or isinstance(default, ast.Call):
                self.aliases.setdefault(argument.arg, dotted)

    def _bind(self, name: str, value: ast.expr) -> None:
        if name in self.constants:  # assigned twice: not a constant
            self.constants[name] = ast.Name("", ast.Load())
            return
        self.constants[name] = value
        dotted = self.dotted(value)
        if dotted and name not in self.aliases:
            self.aliases[name] = dotted

    def dotted(self, node: ast.AST | None, depth: int = 0) -> str:
        """Return the dotted path that an expression names, e.g. ``os._exit``, or ""."""
        if node is None or depth > _DEPTH:
            return ""
        if node not in self._dotted:
            self._dotted[node] = ""  # what names itself names nothing
            self._dotted[node] = self._named(node, depth)
        return self._dotted[node]

    def _named(self, node: ast.AST, depth: int) -> str:
        match node:
            case ast.Name(id=name):
                return self.aliases.get(name, name)
            case ast.Attribute(value=value, attr=attr):
                return _joined(self.dotted(value, depth + 1), attr)
            case ast.Call(func=function, args=arguments):
                return self._called(self.dotted(function, depth + 1), arguments, depth)
            case ast.Subscript(value=value, slice=key):
                return self._item(value, key, depth)
        return ""

    def _called(self, function: str, arguments: list[ast.expr], depth: int) -> str:
        first = self.fold(arguments[0], depth + 1) if arguments else None
        if function in _IMPORTERS and isinstance(first, str):
            return first
        if function in ("getattr", "builtins.getattr") and len(arguments) > 1:
            name = self.fold(arguments[1], depth + 1)
            return _joined(self.dotted(arguments[0], depth + 1), name)
        if function.startswith("sys.modules.") and isinstance(first, str):
            return first
        owner, _, asked = function.rpartition(".")
        if asked in ("get", "pop", "__getitem__") and isinstance(first, str):
            if owner in ("globals()", "builtins.__dict__"):
                return self.aliases.get(first, first)
            if owner.endswith(".__dict__"):
                return _joined(owner.removesuffix(".__dict__"), first)
        if asked == "__getattribute__" and isinstance(first, str):
            return _joined(owner, first)
        if function in ("operator.attrgetter", "operator.methodcaller") and isinstance(first, str):
            return f"{function}({first})"
        if function in ("vars", "builtins.vars") and arguments:
            return _joined(self.dotted(arguments[0], depth + 1), "__dict__")
        return f"{function}()" if function else ""

    def _item(self, value: ast.expr, key: ast.expr, depth: int) -> str:
        owner, name = self.dotted(value, depth + 1), self.fold(key, depth + 1)
        if not isinstance(name, str):
            return ""
        if owner == "sys.modules":
            return name
        if owner in ("globals()", "locals()", "builtins.__dict__", "__builtins__"):
            return self.aliases.get(name, name)
        if owner.endswith(".__dict__"):
            return _joined(owner.removesuffix(".__dict__"), name)
        return f"{owner}[{name}]" if owner else ""

    def fold(self, node: ast.AST | None, depth: int = 0) -> Value | None:
        """Return the constant that an expression evaluates to, or None."""
        if node is None or depth > _DEPTH:
            return None
        if node not in self._folded:
            self._folded[node] = None
            self._folded[node] = self._value(node, depth)
        return self._folded[node]

    def _value(self, node: ast.AST, depth: int) -> Value | None:
        match node:
            case ast.Constant(value=str() | bytes() | int() | float() as value):
                return value
            case ast.Name(id=name) if name in self.constants:
                return self.fold(self.constants[name], depth + 5)
            case ast.BinOp():
                return self._operation(node, depth)
            case ast.JoinedStr(values=values):
                return joined_text(self.fold(value, depth + 1) for value in values)
            case ast.FormattedValue(value=value):
                return self.fold(value, depth + 1)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return self._all(elements, depth)
            case ast.Subscript(value=value, slice=piece):
                return self._slice(value, piece, depth)
            case ast.Call():
                return self._result(node, depth)
        return self._rarer(node, depth)

    def _file_of(self, module: str) -> Value | None:
        """Return where the source of an imported module is, as far as its name says."""
        top = module.partition(".")[0]
        known = any(top == name.partition(".")[0] for name in self.aliases.values())
        if not module or not known or "(" in module:
            return None
        place = "/usr/lib/python3" if top in sys.stdlib_module_names else MODULES
        return f"{place}/{module.replace('.', '/')}.py"

    def _rarer(self, node: ast.AST, depth: int) -> Value | None:
        match node:
            case ast.IfExp(test=ast.Constant(value=chosen), body=body, orelse=other):
                return self.fold(body if chosen else other, depth + 1)
            case ast.Attribute(value=value, attr="__file__"):
                return self._file_of(self.dotted(value, depth + 1))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self.fold(operand, depth + 1)
                return -number if isinstance(number, int | float) else None
        return None

    def _all(self, elements: list[ast.expr], depth: int) -> tuple[Value, ...] | None:
        found = [self.fold(element, depth + 1) for element in elements[:MOST]]
        return tuple(value for value in found if value is not None) if None not in found else None

    def _operation(self, node: ast.BinOp, depth: int) -> Value | None:
        left, right = self.fold(node.left, depth + 1), self.fold(node.right, depth + 1)
        if isinstance(node.op, ast.Add):
            return total(left, right)
        if isinstance(node.op, ast.Div) and isinstance(right, str):  # pathlib
            return f"{left}/{right}" if isinstance(left, str) else right
        if isinstance(node.op, ast.Mod) and isinstance(left, str) and right is not None:
            return attempted(lambda: plain(left, unpadded=True) % right)
        return None

    def _slice(self, value: ast.expr, piece: ast.expr, depth: int) -> Value | None:
        text = self.fold(value, depth + 1)
        if isinstance(piece, ast.Slice) and isinstance(text, str | bytes):
            ends = [self.fold(end, depth + 1) for end in (piece.lower, piece.upper, piece.step)]
            plain = [end if isinstance(end, int) else None for end in ends]
            return attempted(lambda: text[slice(*plain)])
        return None

    def _result(self, node: ast.Call, depth: int) -> Value | None:
        function = self.dotted(node.func, depth + 1)
        if function in ("inspect.getfile", "inspect.getsourcefile") and node.args:
            return self._file_of(self.dotted(node.args[0], depth + 1))
        arguments = [self.fold(argument, depth + 1) for argument in node.args[:20]]
        if isinstance(node.func, ast.Attribute):
            owner = self.fold(node.func.value, depth + 1)
            if owner is not None:
                return method(owner, node.func.attr, arguments)
        return of_call(function, arguments)


def _joined(owner: str, name: object) -> str:
    return f"{owner}.{name}" if owner and isinstance(name, str) else ""
