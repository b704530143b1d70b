#!/bin/sh
# Install the pinned torch: install_torch.sh PYTHON
# The build without CUDA where pip can find it (a wheel in a folder that its `find-links` names);
# training.txt has what that one needs.  Else the public build, on Linux with several GB of CUDA.
set -eu
folder=$(dirname "$0")/../requirements
install="$1 -m pip install -qq --disable-pip-version-check --require-hashes"
$install --no-deps -r "$folder/torch-cpu.txt" 2>/dev/null && exit 0
echo "found no build of torch without CUDA for this Python: installing the public one" >&2
$install -r "$folder/torch.txt"
