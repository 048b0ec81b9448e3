#!/usr/bin/env bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# wheels.sh BUILD PYTHON...: builds the wheels of both packages for each Python whose headers are there, into BUILD/wheels.
# Names the others and goes on. Fails where no wheel is built. The last Python is what BUILD is configured for afterwards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath "$1")
shift
rm -rf "$build/wheels"
# The same tools for all: scikit-build-core would begin the build anew for each place that it is run from.
export PYTHONPATH=$build/python-tools
for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || { echo "wheels: skipped: no $python is on PATH"; continue; }
  "$python" -c 'import os, sysconfig; exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    { echo "wheels: skipped: $python has no headers (python$version-dev)"; continue; }
  venv=$build/python-venv-$version
  [ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
  pip=("$venv/bin/pip" --quiet --disable-pip-version-check)
  "${pip[@]}" install --upgrade --target "$PYTHONPATH" -r python/requirements.txt
  for package in runtime .; do
    folder=$build
    [ $package = . ] || folder=$build/python-runtime-$version
    "${pip[@]}" wheel --no-build-isolation --no-deps -w "$build/wheels" --config-settings=build-dir="$folder" "./python/$package"
  done
done
last=
for wheel in "$build"/wheels/*-linux_*.whl; do
  [ ! -e "$wheel" ] || { "$venv/bin/python" python/tag.py "$wheel"; last=$wheel; }
done
[ -n "$last" ] || { echo "wheels: error: expected a Python with headers, but got none of $*" >&2; exit 1; }
ls -l "$build"/wheels/*.whl
