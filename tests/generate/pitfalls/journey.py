"""The stages of a run over a repository of our own, without a network."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codeenv.generate.candidate import Gates
from codeenv.generate.models import Feature, GenerateOptions, Verdict
from codeenv.generate.pipeline import measure
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.images import Environment, bundled_environment
from codeenv.images.base import ensure_base
from codeenv.images.layers import ENV, compose, store_layer
from codeenv.images.venv import add_project, site_packages
from codeenv.languages import detect_language
from codeenv.languages.base import CoverageMap, TestRequest, TestResult
from codeenv.materialise import materialise
from codeenv.materialise.files import agent_files
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Backend
from codeenv.sources import Checkout
from codeenv.tasks.models import Baseline, SourcePin
from codeenv.tree import Entry, Tree
from tests.images.fakes import read_layer


def tree_of(files: Mapping[str, str | bytes | Entry]) -> Tree:
    """Return a tree from path -> text, bytes or entry."""
    made = {}
    for path, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        made[path] = data if isinstance(data, Entry) else Entry(data)
    return Tree(made)


def bench_of(tree: Tree, backend: Backend, installed: Mapping[str, str] | None = None) -> Workbench:
    """Return a repository in an environment of its own: pytest, and its folders on the path.

    ``installed`` are other files in ``site-packages``.
    """
    files = agent_files(tree)
    language = detect_language(files)
    layout = language.layout(files)
    bundled = bundled_environment(backend)
    (layer,) = bundled.image.layers
    plan = language.plan(files, layout)
    venv = add_project(read_layer(layer), plan, layout.import_roots)
    site = site_packages(venv)
    others = {f"{site}/{path}": text for path, text in (installed or {}).items()}
    venv = Tree({**venv, **tree_of(others)})
    lock = bundled.lock.model_copy(update={"import_roots": layout.import_roots})
    image = compose(ensure_base("host"), (store_layer(venv, ENV),), {})
    return Workbench(files, language, layout, Environment(lock, image), backend)


@dataclass(frozen=True)
class Journey:
    """A repository on its way from a checkout to verdicts."""

    source: Checkout
    bench: Workbench
    options: GenerateOptions
    baseline: Baseline
    coverage: CoverageMap

    def judge(self, *features: Feature) -> list[Verdict]:
        """Return the verdicts, as a run gives them."""
        grader = Grader(self.bench.backend, environments=lambda _: self.bench.environment.image)
        with ThreadPoolExecutor(2) as pool:
            gates = Gates(
                bench=self.bench,
                checkout=self.source,
                baseline=self.baseline,
                coverage=self.coverage,
                grader=grader,
                options=self.options,
                pool=pool,
            )
            return gates.judge(features)

    def task(self, verdict: Verdict) -> Task:
        """Return the task that a verdict emits."""
        assert verdict.recipe is not None
        lock = self.bench.environment.lock
        return materialise(verdict.recipe, self.baseline, lock, checkout=self.source)

    def failing(self, verdict: Verdict) -> dict[str, TestResult | None]:
        """Return what of the tests that stay does not pass in the agent's tree of a task."""
        task = self.task(verdict)
        workspace = without_git(task.workspace)
        unseen = frozenset(task.recipe.feature_tests)
        ids = [t for t in self.baseline.stable if t not in unseen]
        ids = [t for t in ids if t.partition("::")[0] in workspace]
        results = self.bench.run(TestRequest(tuple(ids)), workspace).results
        passed = {t for t in ids if t in results and results[t].outcome == "passed"}
        return {t: results.get(t) for t in ids if t not in passed}


def travel(tree: Tree, backend: Backend) -> Journey:
    """Measure the baseline of a repository."""
    pin = SourcePin(kind="path", location="/shop", sha256=tree.digest, tree=tree.digest)
    source = Checkout(pin, tree)
    bench = bench_of(tree, backend)
    options = GenerateOptions(out=Path("unused"), kinds=("function", "method", "class"))
    baseline, coverage = measure(bench, source, options)
    return Journey(source, bench, options, baseline, coverage)
