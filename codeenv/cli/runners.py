"""Where rollouts are played: ``--runner`` and ``--ray-address``."""

import argparse

from codeenv.cli.terminal import Terminal
from codeenv.errors import UsageError
from codeenv_harness.runners import NAMES, Runner, ThreadRunner, ray_runner


def add_runner(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--runner",
        choices=NAMES,
        default="threads",
        help="threads of this process, or the machines of a Ray cluster (default: threads)",
    )
    parser.add_argument(
        "--ray-address",
        metavar="HOST:PORT",
        help="of the cluster (default: RAY_ADDRESS, or the one that runs here, or a new one)",
    )


def chosen_runner(args: argparse.Namespace, terminal: Terminal) -> Runner:
    """Return the runner that ``add_runner``'s options name.

    Raises:
        UsageError: If Ray is not installed.
    """
    if args.runner == "ray":
        return ray_runner(args.ray_address, terminal.note)
    if args.ray_address:
        raise UsageError("--ray-address is for --runner ray", hint="add --runner ray")
    return ThreadRunner()
