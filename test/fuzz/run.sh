#!/usr/bin/env bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh BUILD TARGET [flags of libFuzzer]: runs resid-fuzz-TARGET of BUILD on seeds made from the tests, with a corpus that is kept in
# BUILD/fuzz. A finding is left there as TARGET-crash-…, and the exit code is not 0.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
target=$2
shift 2
python3 "$source/test/fuzz/make_corpus.py" "$source" "$build/fuzz"
mkdir -p "$build/fuzz/$target"
cd "$build/fuzz"
dictionary=dictionary.txt seeds=seeds
if [ "$target" = weights ]; then
  dictionary=weights-dictionary.txt seeds=weights-seeds
fi
# libMLIR is not instrumented: see test/lit.cfg.py. Faults of its parser after an error are the business of the target.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0
ASAN_OPTIONS+=:handle_segv=0:handle_sigbus=0:handle_abort=0:detect_odr_violation=0
ulimit -s 262144 # the stack of the tools
exec nice "../bin/resid-fuzz-$target" -dict="$dictionary" -max_len=1500 -timeout=20 -rss_limit_mb=4096 -reload=0 -reduce_inputs=0 \
  -artifact_prefix="$target-" -print_final_stats=1 "$@" "$target" "$seeds"
