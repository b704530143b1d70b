"""What the monitor says of scripted episodes."""

from codeenv.monitor import Monitor, facts_of
from codeenv_harness.corpus.script import Script


def labels(script: Script) -> set[str]:
    """Return what is said of an episode."""
    return set(Monitor().examine(script.end(), facts_of(script.task)).labels)
