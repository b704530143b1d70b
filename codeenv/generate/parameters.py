"""Features of one parameter each: its function stays, and with it what the default does."""

from collections.abc import Iterator, Sequence

from codeenv.generate.models import Feature, GenerateOptions
from codeenv.generate.reach import Reach, map_reach
from codeenv.languages.base import CoverageMap, Unit

_FEW_TESTS = 3
_DECLARED = 2
"""Lines that go beside the arms': where the parameter is declared, and where it is read."""


def parameter_features(
    parameters: Sequence[Unit], coverage: CoverageMap, reach: Reach, options: GenerateOptions
) -> Iterator[Feature]:
    """Yield the parameters whose arms some, but not all, of their functions' tests run.

    Args:
        parameters: Of the repository.
        coverage: Which tests run which lines.
        reach: Which tests run the repository's units.
        options: Of the run.
    """
    arms = map_reach(parameters, coverage, reach.stable)
    functions = {unit.id: unit for unit in reach.tests if not unit.protected}
    most = max(_FEW_TESTS, int(options.max_share * len(reach.stable)))
    for parameter in parameters:
        function = functions.get(parameter.id.rpartition("(")[0])
        if function is None or function in reach.known or not arms.is_free(parameter):
            continue
        entering, running = arms.tests[parameter], reach.tests[function]
        size = len(parameter.lines) + _DECLARED
        fits = options.min_lines <= size <= options.max_lines
        if fits and len(entering) <= most and entering < running:
            yield Feature(parameter, (parameter,), reach.ids(running), size, "parameter")
