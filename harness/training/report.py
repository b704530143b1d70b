"""From the reports of a study's runs to tables, verdicts and plots.

python -m training.report --study STUDY --doc docs/training-study.md
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

LAST = 10
"""Updates that a figure at the end of a run is the mean of."""
BEGIN, END = "<!-- results: made by training.report -->", "<!-- end of results -->"
Line = Mapping[str, Any]
Key = tuple[str, str, int]
COLOURS = {
    "scalar": "#555555",
    "hint": "#0b6e4f",
    "hint-forward": "#1f77b4",
    "hint-auto": "#9467bd",
    "turn-penalty": "#d97706",
    "hint+penalty": "#17becf",
    "episode-penalty": "#a0522d",
    "placebo": "#c2185b",
}


def read(study: Path) -> tuple[dict[str, Any], dict[Key, list[Line]]]:
    """Return the measures of the bases, and the lines of every run."""
    gates = {
        path.parent.name.removeprefix("base-"): json.loads(path.read_text("utf-8"))
        for path in sorted(study.glob("base-*/gates.json"))
    }
    runs: dict[Key, list[Line]] = {}
    for path in sorted(study.glob("*.jsonl")):
        for text in path.read_text("utf-8").splitlines():
            line = json.loads(text)
            runs.setdefault((line["regime"], line["arm"], line["seed"]), []).append(line)
    return gates, runs


def at_end(lines: Sequence[Line], name: str, kind: str = "training") -> float:
    """Return the mean of a number over the last updates; of held-out tasks the last one."""
    found = [float(line[name]) for line in lines if line["kind"] == kind]
    return mean(found[-LAST:] if kind == "training" else found[-1:])


def at_start(lines: Sequence[Line], name: str) -> float:
    """Return a number on the held-out tasks before the first update."""
    return next(float(line[name]) for line in lines if line["kind"] == "held-out")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def gates_table(gates: Mapping[str, Any]) -> str:
    """Return what was measured before any learning."""
    head = ["base", "tasks", "reward", "invalid/call", "P(valid)", "with hint", "with placebo"]
    rows = []
    for regime, measured in gates.items():
        for tasks in ("training", "held-out"):
            facts = measured[tasks]
            names = ("reward", "invalid", "p_valid", "p_valid_hint", "p_valid_placebo")
            rows.append([regime, tasks, *(f"{facts.get(name, 0.0):.3g}" for name in names)])
    return table(head, rows)


def runs_table(runs: Mapping[Key, list[Line]], regime: str) -> str:
    """Return the figures at the end of every run of a regime."""
    head = [
        "arm", "seed", "invalid/call", "reward", "turns", "zero-advantage groups",
        "held-out reward before", "after", "held-out invalid after", "gradient norm",
    ]  # fmt: skip
    rows = []
    for (where, arm, seed), lines in sorted(runs.items()):
        if where != regime:
            continue
        end = [at_end(lines, name) for name in ("invalid", "reward", "turns", "zero")]
        held = [
            at_start(lines, "reward"),
            *(at_end(lines, n, "held-out") for n in ("reward", "invalid")),
        ]
        numbers = [*end, *held, at_end(lines, "gradient")]
        rows.append([arm, str(seed), *(f"{number:.3f}" for number in numbers)])
    return table(head, rows)


def verdicts(
    runs: Mapping[Key, list[Line]], gates: Mapping[str, Any]
) -> list[tuple[str, bool, str]]:
    """Return each rule of the study, whether it holds, and the figures."""
    found = [*_gates(gates)]
    arms = {
        (arm, seed): lines for (regime, arm, seed), lines in runs.items() if regime == "standard"
    }
    seeds = [seed for arm, seed in arms if arm == "scalar"]
    scalar = {seed: arms["scalar", seed] for seed in seeds}

    def ratio(arm: str) -> dict[int, float]:
        own = {s: arms[arm, s] for s in seeds if (arm, s) in arms}
        return {s: at_end(r, "invalid") / at_end(scalar[s], "invalid") for s, r in own.items()}

    found.append(
        _all("hint: invalid/call <= 0.75 of scalar, every seed", ratio("hint"), lambda x: x <= 0.75)
    )
    found.append(_all("placebo: >= 0.95 of scalar", ratio("placebo"), lambda x: x >= 0.95))
    gain = {s: at_end(arms["hint", s], "reward") - at_end(scalar[s], "reward") for s in seeds}
    found.append(_all("hint: reward >= scalar - 0.05, every seed", gain, lambda x: x >= -0.05))
    for arm in ("scalar", "hint"):
        rise = {
            s: at_end(arms[arm, s], "reward", "held-out") - at_start(arms[arm, s], "reward")
            for s in seeds
        }
        rule = f"{arm}: reward on held-out tasks rises by >= 0.25, every seed"
        found.append(_all(rule, rise, lambda x: x >= 0.25))
    return found + _never(runs)


def _gates(gates: Mapping[str, Any]) -> Iterable[tuple[str, bool, str]]:
    facts = gates["standard"]["training"]
    gap = facts["p_valid_hint"] - facts["p_valid"]
    placebo = facts["p_valid_placebo"] - facts["p_valid"]
    yield "gate: base reward in 0.25-0.5", 0.25 <= facts["reward"] <= 0.5, f"{facts['reward']:.3f}"
    yield "gate: invalid/call in 0.3-0.5", 0.3 <= facts["invalid"] <= 0.5, f"{facts['invalid']:.3f}"
    yield "gate: teacher gap >= 0.3", gap >= 0.3, f"{gap:.3f}"
    yield "gate: placebo gap within 0.05", abs(placebo) <= 0.05, f"{placebo:+.3f}"


def _never(runs: Mapping[Key, list[Line]]) -> list[tuple[str, bool, str]]:
    found = []
    never = {(arm, seed): lines for (regime, arm, seed), lines in runs.items() if regime == "never"}
    for arm in ("scalar", "turn-penalty"):
        own = {
            seed: at_end(lines, "invalid") for (name, seed), lines in never.items() if name == arm
        }
        found.append(_all(f"never: {arm} stays >= 0.9 invalid", own, lambda x: x >= 0.9))
        own = {
            seed: mean(line["zero"] for line in lines if line["kind"] == "training")
            for (name, seed), lines in never.items()
            if name == arm
        }
        found.append(_all(f"never: {arm} has no advantage in any group", own, lambda x: x == 1))
    own = {
        s: at_end(lines, "invalid") for (name, s), lines in never.items() if name == "hint-forward"
    }
    found.append(_all("never: hint-forward falls below 0.5 invalid", own, lambda x: x < 0.5))
    own = {
        s: at_end(lines, "reward") for (name, s), lines in never.items() if name == "hint-forward"
    }
    found.append(_all("never: hint-forward's reward leaves 0", own, lambda x: x > 0))
    return found


def _all(
    rule: str, numbers: Mapping[int, float], holds: Callable[[float], bool]
) -> tuple[str, bool, str]:
    told = ", ".join(f"{number:.3f}" for number in numbers.values())
    return rule, bool(numbers) and all(map(holds, numbers.values())), told


def plot(runs: Mapping[Key, list[Line]], regime: str, folder: Path) -> list[str]:
    """Draw the curves of a regime; return the files' names."""
    drawn = []
    for kind, name, label in (
        ("training", "invalid", "invalid calls / calls"),
        ("training", "reward", "reward (training tasks)"),
        ("held-out", "reward", "reward (held-out repositories)"),
    ):
        figure, axes = plt.subplots(figsize=(6.4, 3.8))
        for arm in dict.fromkeys(arm for where, arm, _ in sorted(runs) if where == regime):
            _curve(
                axes,
                [r for (w, a, _), r in runs.items() if (w, a) == (regime, arm)],
                arm,
                kind,
                name,
            )
        axes.set(xlabel="update", ylabel=label, ylim=(0, 1))
        axes.legend(fontsize=8, ncols=2)
        axes.grid(alpha=0.3)
        path = folder / f"{regime}-{kind}-{name}.svg"
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        drawn.append(path.name)
    return drawn


def _curve(axes: Any, runs: Sequence[Sequence[Line]], arm: str, kind: str, name: str) -> None:  # noqa: ANN401
    lines = [[line for line in run if line["kind"] == kind] for run in runs]
    updates = [line["update"] for line in lines[0]]
    values = [[float(line[name]) for line in run] for run in lines]
    middle = [mean(column) for column in zip(*values, strict=True)]
    width = 5 if kind == "training" else 1
    smooth = [mean(middle[max(0, i - width + 1) : i + 1]) for i in range(len(middle))]
    colour = COLOURS.get(arm)
    axes.plot(updates, smooth, label=f"{arm} ({len(runs)})", color=colour, linewidth=1.8)
    for run in values if len(values) > 1 else ():
        axes.plot(updates, run, color=colour, alpha=0.18, linewidth=0.8)


def main(argv: Sequence[str] | None = None) -> None:
    """Write plots beside the page, and tables into it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--doc", type=Path, required=True)
    args = parser.parse_args(argv)
    plt.rcParams["svg.hashsalt"] = "codeenv"
    gates, runs = read(args.study)
    folder = args.doc.with_suffix("")
    folder.mkdir(exist_ok=True)
    rules = [(rule, "yes" if ok else "**no**", told) for rule, ok, told in verdicts(runs, gates)]
    parts = [
        "### Before any learning",
        gates_table(gates),
        "### Rules",
        table(("rule", "holds", "figures"), rules),
    ]
    for regime in sorted({regime for regime, _, _ in runs}, reverse=True):
        parts += [f"### Regime {regime}", runs_table(runs, regime)]
        parts += [f"![{name}]({folder.name}/{name})" for name in plot(runs, regime, folder)]
    text = args.doc.read_text("utf-8")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    body = "\n\n".join(parts)
    args.doc.write_text(f"{head}{BEGIN}\n\n{body}\n\n{END}{tail}", "utf-8")


if __name__ == "__main__":
    main()
