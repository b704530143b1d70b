"""Which agent plays, and what it is told: options that commands share."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from codeenv.cli.options import positive
from codeenv.errors import UsageError
from codeenv_harness.agents import AgentOptions, Budget, agent_factory
from codeenv_harness.agents.registry import SERVED
from codeenv_harness.prices import Price, load_prices


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Add what agents are told beside their name."""
    parser.add_argument(
        "--agent-option",
        action="append",
        type=setting,
        default=[],
        metavar="NAME=VALUE",
        help="of chat:, mini: and cmd: agents, e.g. temperature=0.7, upload=PATH (docs/agents.md)",
    )
    parser.add_argument(
        "--budget-tokens", type=positive, metavar="N", help="tokens each run may use"
    )
    parser.add_argument("--budget-usd", type=money, metavar="USD", help="money each run may use")
    add_prices(parser)


def add_prices(parser: argparse.ArgumentParser) -> None:
    """Add ``--prices``."""
    parser.add_argument(
        "--prices", type=Path, metavar="FILE", help="USD per million tokens of each model"
    )


def read_prices(args: argparse.Namespace) -> Mapping[str, Price]:
    """Return the table that ``--prices`` names.

    Raises:
        UsageError: If it is none.
    """
    return load_prices(args.prices) if args.prices else {}


def agent_options(args: argparse.Namespace) -> AgentOptions:
    """Return what ``add_agent_options``'s options say.

    Raises:
        UsageError: If the table of prices is none.
    """
    return AgentOptions(
        settings=dict(args.agent_option),
        budget=Budget(args.budget_tokens, args.budget_usd),
        prices=read_prices(args),
    )


def agent(text: str) -> str:
    """Check an agent's name; what it needs is looked for when its options are known."""
    kind, _, what = text.partition(":")
    if kind in SERVED and what:
        return text
    try:
        agent_factory(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.message) from None
    return text


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
