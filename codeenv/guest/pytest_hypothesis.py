"""Our pytest plug-in for tests that draw their examples: the same ones in every run.

Runs inside a sandbox in the repository's own pytest process.
"""

import os
import tempfile

import pytest

_PROFILE = "codeenv"


class Drawing:
    """Takes chance and the clock out of Hypothesis, before a test module is imported."""

    def __init__(self) -> None:
        """Keep its notes out of the workspace."""
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp(prefix="hypothesis-")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Change what chance and a busy machine decide in the repository's own settings."""
        from hypothesis import HealthCheck, settings  # only now has the repository set its profile

        own = settings()
        settings.register_profile(
            _PROFILE,
            own,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=[*own.suppress_health_check, HealthCheck.too_slow],
        )
        settings.load_profile(_PROFILE)
