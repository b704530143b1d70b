#!/usr/bin/env bash
# Build the wheel, install it in an empty environment, and use it from there.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
.venv/bin/python -m build --wheel --no-isolation --outdir "$folder/dist" . >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
.venv/bin/python -m venv "$folder/venv"
pip="$folder/venv/bin/python -m pip --disable-pip-version-check install -qq"
$pip --require-hashes -r requirements/runtime.txt
$pip --no-deps "$folder"/dist/*.whl
cd "$folder" # nothing of the checkout is importable here
backend=${CODEENV_WHEEL_BACKEND:-bubblewrap}
echo "installed wheel: $(venv/bin/codeenv --version)"
venv/bin/codeenv tasks stats toy
venv/bin/codeenv verify toy --backend "$backend"
venv/bin/codeenv run toy --agent oracle --backend "$backend" --out run --json >outcomes
venv/bin/python - <<'END'
import json

outcomes = [json.loads(line) for line in open("outcomes")]
assert outcomes, "nothing was played"
assert all(o["reward_valid"] and o["reward"] == 1 for o in outcomes), outcomes
print(f"{len(outcomes)} episodes of the bundled toy: oracle 1")
END
# The gate: is grading as it was when the baseline was written?
venv/bin/codeenv run smoke --backend "$backend" --out runs
venv/bin/codeenv compare smoke runs --fail-on-regression
