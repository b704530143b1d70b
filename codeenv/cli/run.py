"""``codeenv run``: let an agent play tasks, and record what it did."""

import argparse
import json
from pathlib import Path

from codeenv.cli.options import (
    Subparsers,
    add_backend,
    add_grading,
    add_tasks,
    backend_options,
    command,
    grading_options,
    natural,
    positive,
)
from codeenv.cli.run_table import rows_of
from codeenv.cli.terminal import Steps, Terminal, table
from codeenv.env.episode import EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents import NAMES, Budget, agent_factory
from codeenv_harness.events import EpisodeEnded, Event
from codeenv_harness.monitoring import Watching
from codeenv_harness.prices import load_prices
from codeenv_harness.rollout import RunOptions, RunResult
from codeenv_harness.rollout import run as play_all


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "run", run)
    add_tasks(parser)
    add_backend(parser)
    add_grading(parser)
    parser.add_argument("--agent", required=True, type=agent, help=f"one of {', '.join(NAMES)}")
    parser.add_argument(
        "--rollouts", type=positive, default=1, help="episodes per task (default: 1)"
    )
    parser.add_argument(
        "--concurrency", type=positive, default=2, help="episodes at the same time (default: 2)"
    )
    add_agent_options(parser)
    parser.add_argument("--seed", type=natural, default=0, help="of agents that draw (default: 0)")
    parser.add_argument(
        "--max-steps", type=positive, default=100, help="tool calls per episode (default: 100)"
    )
    parser.add_argument(
        "--monitor",
        action="store_true",
        help="look for reward hacking; what is proven gets no reward",
    )
    parser.add_argument("--out", type=Path, help="folder for outcomes and trajectories")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")


def run(args: argparse.Namespace) -> int:
    """Play; 1 if any episode ended without a valid reward."""
    terminal = Terminal(args.json)
    if args.resume and args.out is None:
        raise UsageError("--resume needs --out", hint="name the folder of the interrupted run")
    taskset = Taskset.load(args.tasks)
    options = RunOptions(
        agent=args.agent,
        rollouts=args.rollouts,
        concurrency=args.concurrency,
        settings=dict(args.agent_option),
        budget=Budget(args.budget_tokens, args.budget_usd),
        prices=load_prices(args.prices) if args.prices else {},
        seed=args.seed,
        limits=EpisodeLimits(max_steps=args.max_steps),
        out=args.out,
        resume=args.resume,
    )
    total = len(taskset.recipes) * args.rollouts
    with (
        Runtime(
            args.backend, options=backend_options(args), grading=grading_options(args)
        ) as runtime,
        terminal.progress(f"{args.agent} plays", total=total) as steps,
    ):
        watching = Watching() if args.monitor else None
        result = play_all(taskset, options, runtime, lambda e: follow(steps, e), watching)
    report(terminal, result, args.out)
    if result.stopped:
        left = total - result.summary.rollouts
        terminal.note(f"{left} of {total} rollouts were not played: {result.stopped}", "yellow")
    return 0 if result.summary.valid == total else 1


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Add what agents are told beside their name."""
    parser.add_argument(
        "--agent-option",
        action="append",
        type=setting,
        default=[],
        metavar="NAME=VALUE",
        help="of chat:MODEL, e.g. base_url=…, temperature=0.7, stream=true (docs/agents.md)",
    )
    parser.add_argument(
        "--budget-tokens", type=positive, metavar="N", help="tokens this run may use"
    )
    parser.add_argument("--budget-usd", type=money, metavar="USD", help="money this run may use")
    parser.add_argument(
        "--prices", type=Path, metavar="FILE", help="USD per million tokens of each model (JSON)"
    )


def setting(text: str) -> tuple[str, object]:
    """Parse ``NAME=VALUE``; a value is JSON, or else the text itself."""
    name, found, value = text.partition("=")
    if not found or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"not NAME=VALUE: {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def money(text: str) -> float:
    """Parse an amount above 0."""
    try:
        amount = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not an amount: {text!r}") from None
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"must be above 0: {text!r}")
    return amount


def follow(steps: Steps, event: Event) -> None:
    """Show the end of an episode."""
    if not isinstance(event, EpisodeEnded):
        return
    outcome, name = event.outcome, f"{event.task_id} #{event.rollout}"
    if not event.final:
        steps.say(f"again      {name}: {outcome.error}")
    elif outcome.reward_valid:
        steps.advance(
            f"reward {outcome.reward:g}   {name}: {outcome.reason}, {outcome.n_steps} steps"
        )
    else:
        steps.advance(f"not valid  {name}: {outcome.error}")


def report(terminal: Terminal, result: RunResult, out: Path | None) -> None:
    """Write one JSON line per rollout, or the numbers for people."""
    for record in result.records:
        terminal.data(record)
    terminal.show(table(("", ""), rows_of(result)))
    if out is not None:
        terminal.note(f"trajectories and outcomes are in {out}")


def agent(text: str) -> str:
    """Check an agent's name; what it needs is looked for when its options are known."""
    if text.partition(":")[0] == "chat" and text.partition(":")[2]:
        return text
    try:
        agent_factory(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.message) from None
    return text
