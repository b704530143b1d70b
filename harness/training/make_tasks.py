"""Generates the study's tasks from its repositories, with the real generator.

python -m training.make_tasks [NAME ...]        writes tasks/study/*.json
"""

import shutil
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from codeenv.generate import GenerateOptions, generate
from codeenv.generate.models import Event
from codeenv.sandbox.select import open_backend
from training.repositories import ROOT, SUBJECTS


def make(name: str) -> None:
    """Generate the tasks of one repository: single functions, however short."""
    with TemporaryDirectory() as folder, closing(open_backend("bubblewrap")) as backend:
        out = Path(folder)
        options = GenerateOptions(out=out, kinds=("function",), min_lines=1)
        result = generate(f"bundled:study/{name}", options, backend=backend, on_event=_tell)
        wanted = [out / f"{recipe.id}.json" for recipe in result.recipes]
        for path in [*wanted, *out.glob("baselines/*.json"), *out.glob("environments/*.json")]:
            place = ROOT / path.relative_to(out)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def _tell(event: Event) -> None:
    print(f"{event.kind:<12}{event.text}", file=sys.stderr)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SUBJECTS:
        make(chosen)
