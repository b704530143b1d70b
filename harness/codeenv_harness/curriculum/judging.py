"""What a group of rollouts changes in the table: posterior, counts and status."""

from codeenv_harness.curriculum.options import CODES, SamplerOptions, Status
from codeenv_harness.curriculum.posterior import decayed
from codeenv_harness.curriculum.table import Table


def learn(table: Table, row: int, successes: float, rollouts: int, options: SamplerOptions) -> None:
    """Take the valid rewards of a group into the posterior, and judge the task anew."""
    for column, prior, new in (("a", "a0", successes), ("b", "b0", rollouts - successes)):
        old, start = float(table[column][row]), float(table[prior][row])
        table[column][row] = decayed(old, start, new, options.decay)
    table["tries"][row] += rollouts
    solved = table.rate(row) > options.retire_above
    table["streak"][row] = table["streak"][row] + 1 if solved else 0
    if table["status"][row] != CODES[Status.REMOVED]:
        table["status"][row] = CODES[judge(table, row, options)]


def judge(table: Table, row: int, options: SamplerOptions) -> Status:
    """Return where a task belongs by what is known of it."""
    tries, streak = table["tries"][row], table["streak"][row]
    if streak >= options.retire_updates and tries >= options.retire_tries:
        return Status.RETIRED
    if tries >= options.quarantine_tries and table.rate(row) < options.quarantine_below:
        return Status.QUARANTINED
    return Status.ACTIVE
