"""``codeenv images build`` and ``explain``: an environment, and why there is none."""

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from codeenv.cli.images_plan import add_source
from codeenv.cli.options import add_backend, chosen_backend
from codeenv.cli.parser import Parser
from codeenv.cli.terminal import Terminal, printable, table
from codeenv.errors import BackendUnavailable, UsageError
from codeenv.images.planners.base import Planner
from codeenv.images.planners.command import CommandPlanner
from codeenv.images.recipe_files import write_recipe_files
from codeenv.images.reports import Report, build_and_judge, known_report
from codeenv.images.verdict import CheckResult, Judge
from codeenv.languages import detect_language
from codeenv.materialise.files import agent_files
from codeenv.sources import checkout

BUILD = "build a repository's environment, and judge it without network by checks held out"
EXPLAIN = "tell what the last build of a repository's environment did, and what stands in the way"


def add_build(parser: Parser) -> None:
    """Add the arguments of ``build``."""
    parser.set_defaults(run=run_build)
    add_source(parser)
    add_backend(parser)
    parser.add_argument(
        "--planner",
        type=planner,
        metavar="PLANNER",
        help="who goes on where the rules end: chat:MODEL, or cmd:PROGRAM, which reads events and "
        "writes actions as JSON lines (docs/environments.md)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for a Dockerfile and hash-pinned requirements that make the same environment",
    )


def add_explain(parser: Parser) -> None:
    """Add the arguments of ``explain``."""
    parser.set_defaults(run=run_explain)
    add_source(parser)


def planner(text: str) -> Planner:
    """Parse ``cmd:PROGRAM`` or ``chat:MODEL``."""
    kind, _, rest = text.partition(":")
    if kind == "cmd" and rest.strip():
        return CommandPlanner(rest)
    if kind == "chat" and rest.strip():
        return _chat(rest)
    raise argparse.ArgumentTypeError(f"neither cmd:PROGRAM nor chat:MODEL: {text!r}")


def _chat(model: str) -> Planner:
    try:
        from codeenv.images.planners.chat import ChatPlanner
    except ImportError as error:
        raise BackendUnavailable(
            f"chat:{model} needs the openai package", hint="pip install 'codeenv-gym[chat]'"
        ) from error
    return ChatPlanner(model)


def run_build(args: argparse.Namespace) -> int:
    """Build and judge; the exit code is 1 if the environment is not accepted."""
    terminal = Terminal(args.json)
    source = checkout(args.repo, ref=args.ref, subdir=args.subdir)
    tree = agent_files(source.tree)
    language = detect_language(tree)
    layout = language.layout(tree)
    with (
        closing(chosen_backend(args)) as backend,
        terminal.progress(f"building the environment of {args.repo}") as steps,
    ):
        judge = Judge(tree, layout, language, backend)
        report, environment = build_and_judge(source, judge, steps.say, args.planner)
    if args.out and environment:
        write_recipe_files(args.out, environment)
    _show(terminal, report)
    if args.out and environment:
        terminal.note(f"Dockerfile and lock are in {args.out}")
    return 0 if report.verdict.accepted else 1


def run_explain(args: argparse.Namespace) -> int:
    """Show the report of the last build."""
    terminal = Terminal(args.json)
    report = known_report(checkout(args.repo, ref=args.ref, subdir=args.subdir).tree)
    if report is None:
        raise UsageError(
            f"no environment of {args.repo} was built here",
            hint=f"codeenv images build --repo {args.repo}",
        )
    for line in report.log:
        terminal.show(printable(line))
    _show(terminal, report)
    return 0


def _show(terminal: Terminal, report: Report) -> None:
    verdict = report.verdict
    terminal.data(_document(report))
    if verdict.checks:
        terminal.show(table(("held", "check", "why", "from"), _checks(report)))
    if verdict.causes:
        terminal.show(table(("tests", "do not pass because", "for example"), _causes(report)))
    said = "accepted" if verdict.accepted else f"discarded ({verdict.reason})"
    terminal.note(f"{said}: {verdict.told}", "green" if verdict.accepted else "red")
    if report.hint:
        terminal.note(report.hint)


def _checks(report: Report) -> Iterator[tuple[str, str, str, str]]:
    for result in report.verdict.checks:
        check = result.check
        yield "yes" if result.holds else "no", check.command, check.why, str(check.place)


def _causes(report: Report) -> Iterator[tuple[str, str, str]]:
    for cause in report.verdict.causes:
        yield str(cause.tests), cause.told, cause.example[:160]


def _document(report: Report) -> dict[str, object]:
    verdict = report.verdict
    return {
        "accepted": verdict.accepted,
        "reason": verdict.reason,
        "told": verdict.told,
        "hint": report.hint,
        "collected": verdict.collected,
        "stable": verdict.stable,
        "checks": [_check(result) for result in verdict.checks],
        "causes": [asdict(cause) for cause in verdict.causes],
        "lock": report.lock.model_dump(mode="json") if report.lock else None,
        "layer": report.layer,
        "log": report.log,
    }


def _check(result: CheckResult) -> dict[str, object]:
    check = result.check
    place = str(check.place)
    return {"command": check.command, "from": place, "holds": result.holds, "said": result.said}
