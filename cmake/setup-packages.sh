#!/usr/bin/env bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes sure that what resid is built and tested with is there: installs it where this may be done (root on a system with
# apt-get), else says what to install and stops. Does nothing, quickly, where nothing is missing. Arguments are further
# packages, of targets that few people need.
set -euo pipefail

packages=(cmake ninja-build make git g++ python3 libgtest-dev
          clang-22 lld-22 liblld-22-dev llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools)
packages+=("$@")

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: no dpkg and apt-get here; building with what the system has. Needed: CMake 3.25, Ninja, a C++17 compiler," >&2
  echo "setup: Python 3.9, GoogleTest and LLVM and MLIR 22 with shared libraries, lit and FileCheck." >&2
  exit 0
fi

# What only tests need, of Python, of packages and of programs for other processors; without, they are left out, and the
# tests say so. And the archive of zstd, without which the tools use the shared library.
optional=(python3-numpy python3-dev python3-pip python3-pytest dpkg-dev libzstd-dev libmpich-dev mpich)
[ "$(dpkg --print-architecture)" = amd64 ] && optional+=(qemu-user libstdc++-12-dev-arm64-cross)

is_missing() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" != installed ]; }

missing=()
for package in "${packages[@]}"; do
  ! is_missing "$package" || missing+=("$package")
done

install_optional() {
  local package
  for package in ${optional[@]+"${optional[@]}"}; do
    # No update of the lists for these: that would take its time at every call where they are not to be had.
    if is_missing "$package" && [ "$(id -u)" -eq 0 ] && [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then
      echo "setup: installing $package, which may be missing"
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" </dev/null ||
        echo "setup: $package could not be installed; the build goes on without" >&2
    fi
  done
}

if [ ${#missing[@]} -eq 0 ]; then
  install_optional
  exit 0
fi

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
install_optional
