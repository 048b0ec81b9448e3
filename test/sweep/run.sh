#!/bin/sh
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All programs of the sweep, forward and with gradients, on both paths of each level of x86-64 that this machine runs, and
# compiled for aarch64 (docs/fuzz.md). One line each; ends with an error where a program is at fault.
# Usage: run.sh BUILD [STEP]: one of STEP programs, others in each run

build=$1 step=${2:-1} run=0 faults=0
here=$(dirname "$0")
programs=$build/test/sweep-programs.mlir
levels="x86-64-v2"
grep -qw avx2 /proc/cpuinfo && levels="$levels x86-64-v3"
grep -qw avx512vl /proc/cpuinfo && levels="$levels x86-64-v4"
for gradients in "" --gradients; do
  for target in $(for level in $levels native; do echo "--mcpu=$level"; done) \
      --mtriple=aarch64-linux-gnu,--mcpu=generic --mtriple=aarch64-linux-gnu,--mcpu=neoverse-n1; do
    for path in scalar vector; do
      run=$((run + 1))
      python3 "$here/Inputs/sweep.py" "$here/Inputs/programs.mlir" "$here/../../docs/dialect" "$step" "$run" > "$programs" || exit 1
      # shellcheck disable=SC2046,SC2086
      "$build/bin/resid-sweep" "$programs" $(echo $target | tr , ' ') --schedule=path=$path $gradients > "$programs.log" || faults=1
      grep -v ' faults$' "$programs.log"
      echo "$target, $path path${gradients:+, gradients}: $(tail -n 1 "$programs.log")"
    done
  done
done
exit $faults
