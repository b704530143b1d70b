"""``codeenv images plan``: what a repository's files say about its environment."""

import argparse
from collections.abc import Iterator

from codeenv.cli.options import add_checkout
from codeenv.cli.parser import Parser
from codeenv.cli.terminal import Terminal, table
from codeenv.images.planning.plan import EnvironmentPlan, make_environment_plan
from codeenv.languages import detect_language
from codeenv.sources import checkout

PLAN = "what a repository's files say about its environment; nothing is installed or run"
_PARTS = ("pythons", "apt", "variables", "services", "tests")


def add_plan(parser: Parser) -> None:
    """Add the arguments of the verb."""
    parser.set_defaults(run=run_plan)
    add_source(parser)


def add_source(parser: Parser) -> None:
    """Add what names a repository."""
    parser.add_argument(
        "--repo", required=True, metavar="SRC", help="git URL, path or pypi:NAME==VERSION"
    )
    add_checkout(parser)


def run_plan(args: argparse.Namespace) -> int:
    """Show the plan, every part with the file and line it was read from."""
    terminal = Terminal(args.json)
    with terminal.progress("reading the repository"):
        tree = checkout(args.repo, ref=args.ref, subdir=args.subdir).tree
        language = detect_language(tree)
        plan = make_environment_plan(tree, language, language.layout(tree))
    terminal.data(_document(plan))
    terminal.show(table(("part", "value", "from"), _rows(plan)))
    terminal.show(table(("check", "why", "from"), _checks(plan)))
    terminal.note(
        f"{len(plan.checks)} checks; the {len(plan.held_out)} marked * only judge a build"
    )
    return 0


def _rows(plan: EnvironmentPlan) -> Iterator[tuple[str, str, str]]:
    install = plan.install
    yield "project", f"{install.name} {install.version}", ""
    yield "python", install.requires_python or "any", ""
    for requirement in install.requirements:
        yield "requirement", requirement, install.reasons.get(requirement, "")
    for part in _PARTS:
        for fact in getattr(plan, part):
            yield fact.kind, fact.value, str(fact.place)


def _checks(plan: EnvironmentPlan) -> Iterator[tuple[str, str, str]]:
    for check in plan.checks:
        mark = "* " if check in plan.held_out else "  "
        yield f"{mark}{check.command}", check.why, str(check.place)


def _document(plan: EnvironmentPlan) -> dict[str, object]:
    facts = {part: [_fact(f.value, str(f.place)) for f in getattr(plan, part)] for part in _PARTS}
    install = plan.install
    return {
        "name": install.name,
        "version": install.version,
        "requires_python": install.requires_python,
        "requirements": [_fact(r, install.reasons.get(r, "")) for r in install.requirements],
        **facts,
        "checks": [
            {
                "command": check.command,
                "why": check.why,
                "from": str(check.place),
                "exit_codes": check.expect.exit_codes,
                "output": check.expect.output,
                "held_out": check in plan.held_out,
            }
            for check in plan.checks
        ],
    }


def _fact(value: str, place: str) -> dict[str, str]:
    return {"value": value, "from": place}
