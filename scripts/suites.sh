#!/bin/sh
# Make the shipped suites again, e.g. after a change of the models or of the generator.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
.venv/bin/codeenv generate --repo bundled:toy --backend bubblewrap --out "$folder"
find tasks/toy -name '*.json' ! -name repository.json -delete
cp "$folder"/*.json tasks/toy/
cp -r "$folder/baselines" "$folder/environments" tasks/toy/
.venv/bin/codeenv verify toy --backend bubblewrap --repeat 2
