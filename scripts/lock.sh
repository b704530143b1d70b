#!/bin/sh
# Compile requirements/*.txt from pyproject.toml: exact versions, all hashes, every supported Python.
# Only the public index counts, whatever this machine is told: the hashes must hold everywhere.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install -qq --disable-pip-version-check uv

compile() {
  output=$1
  shift
  env -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_DEFAULT_INDEX -u UV_INDEX -u UV_FIND_LINKS \
    "$folder/bin/uv" pip compile pyproject.toml "$@" --no-config --upgrade --universal \
    --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --output-file "$output"
}

compile requirements/dev.txt --extra chat --group dev
compile requirements/test.txt --extra chat --group test --group build --constraints requirements/dev.txt
compile requirements/runtime.txt --group build --constraints requirements/dev.txt
