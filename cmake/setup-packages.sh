#!/usr/bin/env bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes sure that what resid is built and tested with is there: installs it where this may be done (root on a system with
# apt-get), else says what to install and stops. Does nothing, quickly, where nothing is missing.
set -euo pipefail

packages=(cmake ninja-build make git g++ python3 libgtest-dev
          clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: no dpkg and apt-get here; building with what the system has. Needed: CMake 3.25, Ninja, a C++17 compiler," >&2
  echo "setup: Python 3.9, GoogleTest and LLVM and MLIR 22 with shared libraries, lit and FileCheck." >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "setup: these packages are missing; as root, run" >&2
  echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq </dev/null
if ! apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null; then
  echo "setup: expected apt-get to install ${missing[*]}, but it failed; LLVM 22 is in Debian 12 with its security updates" >&2
  echo "setup: (bookworm-security), elsewhere add the packages of apt.llvm.org" >&2
  exit 1
fi
