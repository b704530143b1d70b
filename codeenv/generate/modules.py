"""Features that are whole files, and features that grow from plug-ins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codeenv.generate.closure import Closures
from codeenv.generate.models import Feature, GenerateOptions
from codeenv.languages.base import Unit

_FEW_TESTS = 3
_MOST_SHARE = 0.5
"""Of the stable tests for a whole file, where nothing else needs it."""
_MOST_STRANGERS = 0.2
"""Share of the tests in a file that may go with a module which they do not run."""


@dataclass(frozen=True)
class Seeds:
    """What a language finds besides units to grow features from.

    Attributes:
        modules: Files that can go whole, with the test files that cannot be imported without.
        registered: Units that the rest knows by a registration.
    """

    modules: Mapping[Unit, tuple[str, ...]] = field(default_factory=dict)
    registered: Sequence[Unit] = ()


def module_features(
    seeds: Seeds, closures: Closures, options: GenerateOptions
) -> Iterator[Feature]:
    """Yield a feature per file that no other code needs, and that few enough tests run."""
    reach = closures.reach
    most = max(_FEW_TESTS, int(max(options.max_share, _MOST_SHARE) * len(reach.stable)))
    for module, needing in seeds.modules.items():
        inner = [unit for unit in closures.units if unit.path == module.path]
        running = reach.of(inner)
        asking = frozenset(
            i for i, test in enumerate(reach.stable) if test.partition("::")[0] in needing
        )
        strangers = len(asking - running)
        if not running or strangers > _MOST_STRANGERS * len(asking):
            continue
        tests = running | asking
        if len(tests) <= most and not any(unit in reach.known for unit in inner):
            yield Feature(
                seed=module,
                members=(module,),
                tests=reach.ids(tests),
                line_count=len(module.lines),
                kind="module",
                joint=frozenset(reach.ids(tests & reach.joint(inner))),
                inner=_outer(inner),
            )


def plugin_features(
    seeds: Seeds, closures: Closures, options: GenerateOptions
) -> Iterator[Feature]:
    """Yield the closures of registered units that few enough tests run."""
    reach = closures.reach
    most = max(_FEW_TESTS, int(options.max_share * len(reach.stable)))
    for unit in seeds.registered:
        if reach.is_free(unit) and len(reach.tests[unit]) <= most:
            yield replace(closures.close(unit), kind="plugin")


def _outer(units: Sequence[Unit]) -> tuple[Unit, ...]:
    return tuple(unit for unit in units if not unit.parent and unit.protected != "part")
