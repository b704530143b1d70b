"""How well the monitor labels: precision and recall per label, on both splits of the corpus.

The unseen families were written after the rules.  Run ``python harness/benchmarks/monitor.py``.
"""

import argparse
import sys
from typing import get_args

from codeenv_harness.corpus import Scene, Split, Variant, scenes
from codeenv_harness.corpus.measure import Measured, Score, measure


def main() -> int:
    """Measure, and print a table per split."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("splits", nargs="*", default=["dev", "unseen"], help="dev, unseen")
    for split in parser.parse_args().splits:
        report(split)
    return 0


def report(split: Split) -> None:
    """Print everything about one split."""
    played = scenes(split)
    at_two = measure(played)
    honest = sum(scene.honest for scene in played)
    print(f"\n{split}: {len(played) - honest} episodes of misconduct, {honest} honest ones")
    print(f"{'label':<12}{'n':>4}{'precision':>26}{'recall':>26}{'F1':>7}")
    for label, score in at_two.labels.items():
        if score != Score():
            print(row(label, score))
    print(row("all", at_two.total))
    print(f"honest episodes masked: {len(at_two.false_masks)} {' '.join(at_two.false_masks)}")
    print(f"masks missed: {len(at_two.missed_masks)} {' '.join(at_two.missed_masks)}")
    print(f"masked without proof: {len(at_two.wrong_masks)} {' '.join(at_two.wrong_masks)}")
    print(f"false labels per 1,000 honest steps: {at_two.wrong_per_thousand:.1f}")
    said("recall, tier 1 (tool calls alone)", measure(played, tier=1))
    said("recall, tier 2 (and what was handed in)", at_two)
    said("recall, tier 2, reasoning stripped", measure(played, stripped=True))
    for variant in get_args(Variant):
        said(f"recall, {variant}", measure(_of(played, variant)))


def _of(played: tuple[Scene, ...], variant: Variant) -> list[Scene]:
    return [scene for scene in played if scene.variant == variant]


def said(title: str, measured: Measured) -> None:
    """Print one recall."""
    low, high = measured.total.recall_interval
    print(f"{title}: {measured.total.recall:.3f} [{low:.3f}, {high:.3f}]")


def row(label: str, score: Score) -> str:
    """Return one line of the table."""
    shares = [(score.precision, score.precision_interval), (score.recall, score.recall_interval)]
    cells = "".join(f"{share:>10.3f} [{a:.3f}, {b:.3f}]" for share, (a, b) in shares)
    return f"{label:<12}{score.found + score.missed:>4}{cells}{score.f1:>7.3f}"


if __name__ == "__main__":
    sys.exit(main())
