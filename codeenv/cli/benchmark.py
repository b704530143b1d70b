"""What ``codeenv run`` does with a benchmark: every agent of it plays, a folder each."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from codeenv.cli.agents import agent_options
from codeenv.cli.terminal import Terminal, plain, table
from codeenv.errors import UsageError
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents import AgentOptions, agent_factory, close_agents
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, RunResult
from codeenv_harness.suites import Benchmark, read_benchmark, unmet

Play = Callable[[Taskset, RunOptions], RunResult]


def played_as_written(args: argparse.Namespace, file: Path, terminal: Terminal, play: Play) -> int:
    """Play a benchmark; 1 if a rollout has no valid reward or a run is not as expected.

    Raises:
        UsageError: If options were given that the benchmark decides, or it is malformed.
    """
    _check(args)
    benchmark = read_benchmark(file)
    taskset = benchmark.taskset(file.parent)
    about = agent_options(args)
    _check_agents(benchmark, file, about)
    good, rows = True, []
    for agent in benchmark.agents:
        options = replace(
            agent.options(concurrency=args.concurrency, out=args.out, resume=args.resume),
            budget=about.budget,
            prices=about.prices,
        )
        terminal.note(f"{benchmark.name}: {agent.name} plays {len(taskset.recipes)} tasks")
        result = play(taskset, options)
        for record in result.records:
            terminal.data({"run": agent.name, **_fields(record)})
        problems = unmet(agent.expected, result.records)
        problems += (result.stopped,) if result.stopped else ()
        for problem in problems:
            terminal.note(f"FAILED  {agent.name}: {problem}", "red")
        numbers = result.summary
        rows.append((agent.name, numbers.rollouts, numbers.valid, numbers.resolved))
        good &= not problems and numbers.valid == numbers.rollouts
    terminal.show(table(("run", "rollouts", "valid", "resolved"), rows))
    if args.out is not None:
        terminal.note(f"a folder per agent is in {args.out}")
    return 0 if good else 1


def _check(args: argparse.Namespace) -> None:
    decided = ("rollouts", "seed", "max_steps", "agent_option")
    given = [name for name in decided if getattr(args, name) not in (None, [])]
    if given:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(
            f"{option} is what a benchmark says by itself",
            hint="leave it out, or name an --agent to play the benchmark's tasks as you like",
        )
    if args.out is not None and RunFolder(args.out).exists():
        raise UsageError(f"{args.out} holds a run of one agent", hint="another --out")


def _check_agents(benchmark: Benchmark, file: Path, about: AgentOptions) -> None:
    for agent in benchmark.agents:
        try:
            made = agent_factory(agent.agent, replace(about, settings=agent.settings))
        except UsageError as error:
            raise UsageError(f"{file}: {agent.name}: {error.message}", hint=error.hint) from None
        close_agents(made)


def _fields(record: object) -> dict[str, object]:
    fields = plain(record)
    return fields if isinstance(fields, dict) else {}
