"""From a recipe to everything an episode needs."""

from codeenv.materialise.cached import materialise
from codeenv.materialise.models import Task

__all__ = ["Task", "materialise"]
