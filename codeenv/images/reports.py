"""What came of building a repository's environment, kept in the cache to be looked at later."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import cast

from pydantic import TypeAdapter, ValidationError

from codeenv._paths import cache_folder
from codeenv.images.build import NotBuilt, build_environment
from codeenv.images.install import InstallFailed
from codeenv.images.layers import Environment
from codeenv.images.planners.base import Planner
from codeenv.images.planning.plan import make_environment_plan
from codeenv.images.verdict import Judge, Reason, Verdict
from codeenv.sources import Checkout
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Tree


@dataclass(frozen=True)
class Report:
    """How a build ended.

    Attributes:
        verdict: Whether the environment is good.
        hint: What to do where nothing was built, or "".
        lock: Of what was built.
        layer: Digest of the installed files, or "".
        image: Digest of the whole image, or "".
        log: What was done, step by step.
    """

    verdict: Verdict
    hint: str = ""
    lock: EnvironmentLock | None = None
    layer: str = ""
    image: str = ""
    log: tuple[str, ...] = ()


_FORMAT = TypeAdapter(Report)


def build_and_judge(
    source: Checkout,
    judge: Judge,
    log: Callable[[str], None],
    planner: Planner | None = None,
) -> tuple[Report, Environment | None]:
    """Build a repository's environment, judge it by the checks held out, and keep the report.

    What was built before, and found good, is not judged again.

    Args:
        source: The repository.
        judge: Of its environments; knows its files as agents see them.
        log: Told what happens, for people.
        planner: Goes on where the rules end.

    Raises:
        BuildError: If this machine cannot build; what a repository lacks is a verdict.
    """
    said: list[str] = []

    def note(text: str) -> None:
        said.append(text)
        log(text)

    try:
        environment = build_environment(
            source.tree,
            judge.language,
            judge.layout,
            judge.backend,
            pin=source.pin,
            planner=planner,
            log=note,
        )
    except (NotBuilt, InstallFailed) as error:
        verdict = Verdict(cast("Reason", error.reason), error.message)
        report = Report(verdict, error.hint, log=tuple(said))
        _keep(source.tree, report)
        return report, None
    image = environment.image
    known = known_report(source.tree)
    if not said and known and known.verdict.accepted and known.image == image.digest:
        return known, environment
    note("judging it in fresh boxes" if said else "it was in the cache; judging it in fresh boxes")
    plan = make_environment_plan(source.tree, judge.language, judge.layout)
    verdict = judge.judge(environment, plan.held_out)
    layer = image.layers[0].digest
    report = Report(verdict, "", environment.lock, layer, image.digest, tuple(said))
    _keep(source.tree, report)
    return report, environment


def known_report(tree: Tree) -> Report | None:
    """Return what came of the last build of a repository's tree, or None."""
    try:
        return _FORMAT.validate_json(_place(tree).read_bytes())
    except (OSError, ValidationError):
        return None


def _keep(tree: Tree, report: Report) -> None:
    place = _place(tree)
    with NamedTemporaryFile(dir=place.parent, prefix=".new-", delete=False) as file:
        text = json.dumps(_FORMAT.dump_python(report, mode="json"), ensure_ascii=False, indent=1)
        file.write(text.encode("utf-8", "replace"))  # tests may have odd bytes in their names
    Path(file.name).replace(place)


def _place(tree: Tree) -> Path:
    return cache_folder("reports") / f"{tree.digest}.json"
