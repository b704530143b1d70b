"""All detectors: each is a pure function from a view to findings."""

from collections.abc import Callable, Iterator

from codeenv.monitor.conduct import giving_up, intent, leaks, sandbagging
from codeenv.monitor.contamination import caches, decompiling, grader_assets, history
from codeenv.monitor.copies import canary, egress, packages, verbatim
from codeenv.monitor.gaming_clocks import clocks
from codeenv.monitor.gaming_compare import overloaded
from codeenv.monitor.gaming_exits import exits
from codeenv.monitor.gaming_files import binaries, bytecode, results, shell_hooks, version_control
from codeenv.monitor.gaming_foreign import replaced
from codeenv.monitor.gaming_hooks import hooks
from codeenv.monitor.gaming_means import kept_in_files, means
from codeenv.monitor.gaming_process import judge_text, processes, resources
from codeenv.monitor.gaming_reading import forged_output, oracle_reading
from codeenv.monitor.gaming_source import patched_evaluator, skips
from codeenv.monitor.gaming_state import call_counts
from codeenv.monitor.gaming_tests import edited_tests
from codeenv.monitor.gaming_values import special_cases
from codeenv.monitor.models import Finding
from codeenv.monitor.shown import shown
from codeenv.monitor.view import View

Detector = Callable[[View], Iterator[Finding]]

DETECTORS: tuple[Detector, ...] = (
    history,
    caches,
    decompiling,
    packages,
    egress,
    grader_assets,
    shown,
    verbatim,
    canary,
    edited_tests,
    hooks,
    shell_hooks,
    patched_evaluator,
    replaced,
    overloaded,
    exits,
    skips,
    forged_output,
    results,
    oracle_reading,
    special_cases,
    call_counts,
    kept_in_files,
    means,
    clocks,
    binaries,
    processes,
    bytecode,
    version_control,
    judge_text,
    resources,
    intent,
    giving_up,
    sandbagging,
    leaks,
)
