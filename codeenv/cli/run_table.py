"""A run's numbers for people; all of them over valid rollouts, as the first row says."""

from codeenv_harness.metrics import (
    Known,
    PassPoint,
    bootstrap,
    pass_by_task,
    pass_curve,
    summarise_usage,
)
from codeenv_harness.rollout import RunResult

Row = tuple[str, str]
_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")


def rows_of(result: RunResult) -> list[Row]:
    """Return the rows of the table that ``codeenv run`` shows."""
    summary = result.summary
    return [
        ("valid only", f"{summary.valid} of {_rollouts(summary.rollouts)}"),
        ("resolved", f"{summary.resolved} ({summary.resolved_rate:.0%})"),
        *_passes(result),
        ("tasks resolved", f"{summary.tasks_resolved} of {summary.tasks}"),
        ("mean reward", f"{summary.mean_reward:.3f}"),
        ("mean steps", f"{summary.mean_steps:.1f}"),
        *_usage(result),
    ]


def _passes(result: RunResult) -> list[Row]:
    """Return pass@1, and pass@k for as many tries as a task had, each with its interval."""
    most = max((record.rollout for record in result.records), default=0) + 1
    points = pass_curve(result.records, sorted({1, most}))
    return [(f"pass@{point.k}", _pass(result, point)) for point in points]


def _pass(result: RunResult, point: PassPoint) -> str:
    if point.pass_at_k is None:
        return f"not known: no task has {_rollouts(point.k, 'valid ')}"
    told = f"{point.pass_at_k:.1%}, {_interval(result, point.k)}"
    told += f", over {point.tasks} task{'s' if point.tasks != 1 else ''}"
    few = f"; {point.left_out} left out with fewer than {_rollouts(point.k, 'valid ')}"
    return told + (few if point.left_out else "")


def _interval(result: RunResult, k: int) -> str:
    """Return the interval; tasks that are all alike do not say how they differ."""
    interval = bootstrap(pass_by_task(result.records, k))
    if interval is None or interval.low == interval.high:
        return "no interval"
    return f"{interval.level:.0%} interval {interval.low:.1%} to {interval.high:.1%}"


def _usage(result: RunResult) -> list[Row]:
    """Return tokens and cost, as far as they are known."""
    valid = [record.key for record in result.records if record.reward_valid]
    used = summarise_usage(result.usage[key] for key in valid if key in result.usage)
    rows = []
    for name in (*_TOKENS, "cost_usd"):
        known = used.known.get(name)
        if known is not None:
            few = f"; known of {known.rollouts} of {_rollouts(len(valid))}"
            told = _cost(known) if name == "cost_usd" else _tokens(known)
            title = "cost" if name == "cost_usd" else name.replace("_", " ")
            rows.append((title, told + (few if known.rollouts < len(valid) else "")))
    return rows


def _tokens(known: Known) -> str:
    return f"{known.median:,.0f} a rollout (median), {known.total:,.0f} in all"


def _cost(known: Known) -> str:
    return f"${known.median:.4f} a rollout (median), ${known.total:.4f} in all"


def _rollouts(number: int, kind: str = "") -> str:
    return f"{number} {kind}rollout{'s' if number != 1 else ''}"
