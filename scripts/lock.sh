#!/bin/sh
# Compile requirements/*.txt from pyproject.toml: exact versions, all hashes, every supported Python.
# Only the public index counts, whatever this machine is told: the hashes must hold everywhere.
set -eu
cd "$(dirname "$0")/.."
# The torch that the tests run on, and the hash of its build without CUDA (Python 3.11, x86_64),
# which is a tenth of the size and on no public index.
# requirements/agents.txt is kept by hand: an agent without most of what it depends on.
torch=2.13.0
cpu_build=6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install -qq --disable-pip-version-check uv

compile() {
  output=$1
  shift
  env -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_DEFAULT_INDEX -u UV_INDEX -u UV_FIND_LINKS \
    "$folder/bin/uv" pip compile "$@" --no-config --upgrade --universal \
    --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --output-file "$output"
}

# torch.txt is torch with all that its CUDA build needs; training.txt has neither torch nor CUDA.
echo "torch==$torch+cpu --hash=sha256:$cpu_build" >requirements/torch-cpu.txt
echo "torch==$torch" >"$folder/torch.in"
compile requirements/torch.txt "$folder/torch.in"
sed -n "s/^\(cuda-[a-z0-9-]*\|nvidia-[a-z0-9-]*\|triton\)==.*/\1 ; python_version < '3'/p" \
  requirements/torch.txt >"$folder/no-cuda.txt"

all="$folder/all.txt"
compile "$all" pyproject.toml --extra chat --extra ray --group dev --group training \
  --constraints requirements/torch.txt --overrides "$folder/no-cuda.txt"
compile requirements/training.txt pyproject.toml --group training --no-emit-package torch \
  --constraints "$all" --overrides "$folder/no-cuda.txt"
compile requirements/dev.txt pyproject.toml --extra chat --extra ray --group dev --constraints "$all"
compile requirements/test.txt pyproject.toml --extra chat --extra ray --group test --group build --constraints "$all"
compile requirements/runtime.txt pyproject.toml --group build --constraints "$all"
