"""One bench per wall for all tests of the split."""

import pytest

from codeenv.env.runtime import Runtime
from tests.grading.split_bench import WALLS, Bench


@pytest.fixture(scope="session", params=WALLS)
def bench(request):
    """Runs tests of a small repository, split from its code."""
    with Runtime(request.param) as runtime:
        yield Bench(runtime)


@pytest.fixture(scope="session")
def learnt(bench):
    """What a run with the right code says."""
    return bench.run()
