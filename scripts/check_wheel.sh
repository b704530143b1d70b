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
echo "installed wheel: $(venv/bin/codeenv --version)"
venv/bin/codeenv tasks stats toy
venv/bin/codeenv run toy --agent oracle --backend "${CODEENV_WHEEL_BACKEND:-bubblewrap}" --out "$folder/run"
