#!/bin/bash
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every tool on programs of the tests under valgrind, which sees uninitialised memory, also in the packaged LLVM.
# Ends with an exit code other than 0 where valgrind reports something, or where a tool does not end as it should: one
# that gave up early has shown nothing. Kernels are compiled, but not called: valgrind does not know all instructions of
# the machine, and so the tools compile for named processors.
#   [JOBS=2] test/sanitize/valgrind.sh BUILD [NAME]    NAME: only this run
set -u
build=$(cd "$1" && pwd)
only=${2-}
jobs=${JOBS:-2}
tests=$(cd "$(dirname "$0")/.." && pwd)
work=$build/test/valgrind
rm -rf "$work" && mkdir -p "$work/bin" && cd "$work" || exit 3

# valgrind's reader of debug information falls over that of the static archives.
for tool in residc resid-opt; do strip -o bin/$tool "$build/bin/$tool" || exit 3; done
for tool in resid-run resid-reduce resid-lsp-server; do ln bin/residc bin/$tool; done

# check NAME EXPECTED TOOL ARGUMENT...: leaves NAME.verdict, one line.
check() {
  local name=$1 expected=$2 tool=$3 code
  shift 3
  valgrind --smc-check=all -q --error-exitcode=99 --log-file="$name.%p.log" bin/$tool "$@" > "$name.out" 2>&1
  code=$?
  if [ $code != "$expected" ]; then
    echo "failed: expected exit code $expected but got $code" > "$name.verdict"
    tail -n 5 "$name.out"
  elif grep -q . "$name".*.log; then
    echo "failed: it has reports" > "$name.verdict"
  else
    echo "nothing reported, exit code $code" > "$name.verdict"
  fi
  cat "$name".*.log
  echo "valgrind: $name: $(cat "$name.verdict")"
}

# Starts a run once fewer than that many are at work.
start() {
  if [ -z "$only" ] || [ "$only" = "$1" ]; then
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    started=$((started + 1))
    check "$@" <&0 &
  fi
}
started=0
run() { start "$1" 0 "${@:2}"; }

# Every pass of resid that rewrites programs, on each program of its tests.
rewrites='resid-check-stream,resid-form-blocks,resid-expand-blocks,resid-fuse-add-norm,resid-expand-add-norm,resid-inference'
weights='resid-fold-norm-affine,resid-fold-layer-scale,resid-fold-deepnorm,resid-center-stream,resid-rotate-pre-norm'
lowering='resid-expand-blocks,resid-prepare-entries,resid-row-kernels,resid-bufferize,resid-plan-scratch,resid-build-entries'
lowering=$lowering,resid-lower-to-cpu
for name in resid-form-blocks resid-fuse-add-norm resid-expand-blocks; do
  run $name resid-opt "$tests/passes/$name.mlir" "--pass-pipeline=builtin.module($rewrites)"
done
for name in resid-fold-norm-affine resid-fold-layer-scale resid-fold-deepnorm resid-center-stream resid-rotate-pre-norm; do
  run $name resid-opt "$tests/passes/$name.mlir" --split-input-file "--pass-pipeline=builtin.module($weights)"
done
run placement resid-opt "$tests/tools/Inputs/post_stack.mlir" --resid-form-blocks --resid-convert-norm-placement=to=pre
run lowering resid-opt "$tests/tools/Inputs/block.mlir" "--pass-pipeline=builtin.module($lowering)"

# The compiler with reports on, every kind of output, several processors, and messages.
program=$tests/tools/Inputs/block.mlir
run report residc "$program" -o report.o --header=report.h --mcpu=x86-64-v3 --report
run report-file residc "$program" -o expanded.mlir --report=report.json --mcpu=x86-64-v4
run several residc "$program" -o several.o --mcpu=x86-64-v2,x86-64-v3,x86-64-v4 --report
run drawing residc "$tests/tools/Inputs/streams.mlir" -o streams.svg
run inference residc "$program" -o inference.ll --mode=inference --mcpu=x86-64-v3
head -c 300 "$program" > truncated.mlir
start message 1 residc truncated.mlir -o truncated.o

cat > norm.mlir << 'PROGRAM'
func.func @norm(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}
PROGRAM
run evaluator resid-run norm.mlir --backend=reference '--arg=f32[4x8]=random:1' '--arg=f32[8]=1' --check=wide
run reduction resid-reduce norm.mlir --test=/bin/false --passes=canonicalize
printf '%s\n// -----\n' \
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":"","capabilities":{},"trace":"off"}}' \
  '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///a.mlir","languageId":"mlir","version":1,"text":"func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>\n  return %y : tensor<4x8xf32>\n}\n"}}}' \
  '{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"test:///a.mlir"},"position":{"line":1,"character":10}}}' \
  '{"jsonrpc":"2.0","id":2,"method":"textDocument/completion","params":{"textDocument":{"uri":"test:///a.mlir"},"position":{"line":1,"character":7}}}' \
  '{"jsonrpc":"2.0","id":3,"method":"textDocument/formatting","params":{"textDocument":{"uri":"test:///a.mlir"},"options":{"tabSize":2,"insertSpaces":true}}}' \
  '{"jsonrpc":"2.0","id":4,"method":"shutdown"}' '{"jsonrpc":"2.0","method":"exit"}' > session.txt
run editor resid-lsp-server --lit-test < session.txt

wait
clean=$(cat ./*.verdict | grep -vc failed)
echo "valgrind: $clean of $started runs are clean"
[ $started -gt 0 ] && [ "$clean" = $started ]
