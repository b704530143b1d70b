"""``codeenv run``: let an agent play tasks, and record what it did."""

import argparse
from pathlib import Path

from codeenv.cli.agents import add_agent_options, agent, agent_options
from codeenv.cli.benchmark import played_as_written
from codeenv.cli.live import Tally, following
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
from codeenv.cli.runners import add_runner, chosen_runner
from codeenv.cli.terminal import Terminal, table
from codeenv.env.episode import EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents import NAMES
from codeenv_harness.monitoring import Watching
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, RunResult, recorded_usage
from codeenv_harness.rollout import run as play_all
from codeenv_harness.suites import benchmark_file, read_benchmark


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = command(subparsers, "run", run)
    add_tasks(parser, or_else="benchmark")
    add_backend(parser)
    add_grading(parser)
    parser.add_argument(
        "--agent",
        type=agent,
        help=f"one of {', '.join(NAMES)} (default: those of the benchmark that TASKS names)",
    )
    parser.add_argument("--rollouts", type=positive, help="episodes per task (default: 1)")
    parser.add_argument(
        "--concurrency", type=positive, default=2, help="episodes at the same time (default: 2)"
    )
    add_runner(parser)
    add_agent_options(parser)
    parser.add_argument("--seed", type=natural, help="of agents that draw (default: 0)")
    parser.add_argument("--max-steps", type=positive, help="tool calls per episode (default: 100)")
    parser.add_argument(
        "--monitor",
        action="store_true",
        help="look for reward hacking; what is proven gets no reward",
    )
    parser.add_argument("--out", type=Path, help="folder for outcomes and trajectories")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")


def run(args: argparse.Namespace) -> int:
    """Play; 1 if any episode ended without a valid reward, or a benchmark is not as expected."""
    terminal = Terminal(args.json)
    if args.resume and args.out is None:
        raise UsageError("--resume needs --out", hint="name the folder of the interrupted run")
    file = benchmark_file(args.tasks)
    if file is None and args.agent is None:
        raise UsageError("--agent is needed", hint=f"one of {', '.join(NAMES)}")
    runner = chosen_runner(args, terminal)
    with Runtime(
        args.backend, options=backend_options(args), grading=grading_options(args)
    ) as runtime:

        def play(taskset: Taskset, options: RunOptions) -> RunResult:
            total = len(taskset.recipes) * options.rollouts
            watching = Watching() if args.monitor else None
            with following(terminal, f"{options.agent} plays", _tally(total, options)) as follow:
                return play_all(taskset, options, runtime, follow, watching, runner)

        if file is not None and args.agent is None:
            return played_as_written(args, file, terminal, play)
        taskset = read_benchmark(file).taskset(file.parent) if file else Taskset.load(args.tasks)
        result = play(taskset, _options(args))
    report(terminal, result, args.out)
    left = len(taskset.recipes) * (args.rollouts or 1) - result.summary.rollouts
    if result.stopped:
        terminal.note(f"{left} rollouts were not played: {result.stopped}", "yellow")
    return 0 if result.summary.valid == result.summary.rollouts and not left else 1


def _options(args: argparse.Namespace) -> RunOptions:
    about = agent_options(args)
    return RunOptions(
        agent=args.agent,
        settings=about.settings,
        budget=about.budget,
        prices=about.prices,
        rollouts=args.rollouts or 1,
        concurrency=args.concurrency,
        seed=args.seed or 0,
        limits=EpisodeLimits(max_steps=args.max_steps or 100),
        out=args.out,
        resume=args.resume,
    )


def _tally(total: int, options: RunOptions) -> Tally:
    """Return the numbers a run begins with: those of before, if it is resumed."""
    tally = Tally(total, options.concurrency)
    folder = RunFolder(options.out) if options.out is not None and options.resume else None
    if folder is not None and folder.exists():
        records = [record for record in folder.records() if record.reward_valid]
        tally.before(
            [record.resolved for record in records],
            (recorded_usage(folder, record.key, options.prices) for record in records),
        )
    return tally


def report(terminal: Terminal, result: RunResult, out: Path | None) -> None:
    """Write one JSON line per rollout, or the numbers for people."""
    for record in result.records:
        terminal.data(record)
    terminal.show(table(("", ""), rows_of(result)))
    if out is not None:
        terminal.note(f"trajectories and outcomes are in {out}")
