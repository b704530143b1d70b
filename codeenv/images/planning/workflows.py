"""CI files in YAML: their scripts, variables, services, Debian packages and Python versions."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch

import yaml

from codeenv.images.allowed import is_package
from codeenv.images.planning.facts import Fact, Kind, Place, Script
from codeenv.tree import Tree

_FILES = (
    *(".github/workflows/*.yml", ".github/workflows/*.yaml", ".gitlab-ci.yml", ".travis.yml"),
    *(".circleci/config.yml", "azure-pipelines.yml", ".azure-pipelines/*.yml", ".cirrus.yml"),
    *("bitbucket-pipelines.yml", ".woodpecker.yml", ".drone.yml"),
    *("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"),
)
_SCRIPTS = frozenset({
    "run", "script", "before_script", "install", "before_install", "command", "commands", "bash",
    "test_script",
})  # fmt: skip
_VARIABLES = frozenset({"env", "variables", "environment"})
_VERSION = re.compile(r"^(?:python:?)?3\.\d+(?:\.\d+)?$")
_BLOCK = ("|", ">")
_LIMIT = 512 * 1024
Node = yaml.Node


def ci_files(tree: Tree) -> Iterator[str]:
    """Yield the paths of files that tell a CI service, or Docker Compose, what to do."""
    return (path for path in tree if any(fnmatch(path, pattern) for pattern in _FILES))


def compose(text: str) -> Node | None:
    """Return a YAML document as nodes that know their lines; None if it is none.

    Nothing is constructed from it.
    """
    try:
        return yaml.compose(text[:_LIMIT], Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def read_workflow(path: str, text: str) -> Iterator[Script | Fact]:
    """Yield what a CI file runs and says."""
    document = compose(text)
    if document is not None:
        yield from _walk(path, document, set())


def _walk(path: str, node: Node, seen: set[int]) -> Iterator[Script | Fact]:
    """Visit every node once: aliases can make a small file a tree without end."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _walk(path, item, seen)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            yield from _entry(path, name, value)
            yield from _walk(path, value, seen)


def _entry(path: str, name: str, value: Node) -> Iterator[Script | Fact]:
    """Yield what one key of a mapping says."""
    if name in _SCRIPTS:
        for scalar in scalars(value):
            first = scalar.start_mark.line + (scalar.style in _BLOCK)
            yield Script(scalar.value, Place(path, first + 1))
    elif name in _VARIABLES:
        yield from _variables(path, value)
    elif name == "services":
        yield from _services(path, value)
    elif name in ("python-version", "python", "image"):
        found = (scalar for scalar in scalars(value) if _VERSION.match(scalar.value))
        yield from (_fact("python", s.value.removeprefix("python:"), path, s) for s in found)
    elif name == "packages":
        named = (scalar for scalar in scalars(value) if is_package(scalar.value))
        yield from (_fact("apt", scalar.value, path, scalar) for scalar in named)


def _variables(path: str, value: Node) -> Iterator[Fact]:
    """Yield the variables of a mapping that are not put together at run time."""
    for key, item in value.value if isinstance(value, yaml.MappingNode) else ():
        if isinstance(item, yaml.ScalarNode) and "$" not in item.value:
            yield _fact("variable", f"{key.value}={item.value}", path, key)


def _services(path: str, value: Node) -> Iterator[Fact]:
    """Yield the images of services, or their names."""
    if isinstance(value, yaml.SequenceNode):
        for item in value.value:
            named = next(iter(scalars(item)), None) or child(item, "name")
            if isinstance(named, yaml.ScalarNode):
                yield _fact("service", named.value, path, item)
    elif isinstance(value, yaml.MappingNode):
        for key, item in value.value:
            image = child(item, "image")
            told = image.value if isinstance(image, yaml.ScalarNode) else key.value
            yield _fact("service", told, path, key)


def scalars(node: Node) -> Iterator[yaml.ScalarNode]:
    """Yield a scalar, or the scalars of a list."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        yield from (item for item in node.value if isinstance(item, yaml.ScalarNode))


def child(node: Node, name: str) -> Node | None:
    """Return the value of a key of a mapping, or None."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == name:
                return value  # type: ignore[no-any-return]
    return None


def _fact(kind: Kind, value: str, path: str, node: Node) -> Fact:
    return Fact(kind, value, Place(path, node.start_mark.line + 1))
