"""Who plays the rollouts of a run."""

from codeenv_harness.runners.base import Listener, Ready, Runner
from codeenv_harness.runners.threads import ThreadRunner

__all__ = ["Listener", "Ready", "Runner", "ThreadRunner"]
