"""A materialised task: everything an episode and its grading need."""

from dataclasses import dataclass

from codeenv.languages.base import Layout
from codeenv.tasks.models import Baseline, EnvironmentLock, Recipe
from codeenv.tree import Delta, Tree


@dataclass(frozen=True)
class Task:
    """A recipe made real from its pinned source; kept in the cache only.

    Attributes:
        recipe: The facts.
        baseline: The stable set the recipe refers to.
        lock: The environment the recipe refers to.
        layout: Where code and tests are in the pristine tree.
        instruction: What the agent is told.
        workspace: What the agent gets: damaged tree, feature tests hidden, fresh ``.git``.
        grading_tree: The damaged tree with all pristine tests: submissions are laid over it.
        oracle: What turns the workspace's code back into the original code.
    """

    recipe: Recipe
    baseline: Baseline
    lock: EnvironmentLock
    layout: Layout
    instruction: str
    workspace: Tree
    grading_tree: Tree
    oracle: Delta

    @property
    def id(self) -> str:
        """The recipe's id."""
        return self.recipe.id

    @property
    def fail_to_pass(self) -> tuple[str, ...]:
        """Ids that must pass and fail without the feature."""
        return self.recipe.fail_to_pass

    @property
    def pass_to_pass(self) -> tuple[str, ...]:
        """Ids that must keep passing: the stable set less F2P and excluded."""
        out = {*self.recipe.fail_to_pass, *self.recipe.excluded}
        return tuple(i for i in self.baseline.stable if i not in out)
