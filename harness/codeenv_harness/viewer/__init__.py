"""A local page to read the trajectories of runs."""

from codeenv_harness.viewer.library import FactsOf, Library
from codeenv_harness.viewer.server import ViewerServer

__all__ = ["FactsOf", "Library", "ViewerServer"]
