#!/bin/sh
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every tool on programs of the tests under valgrind, which sees uninitialised memory, also in the packaged LLVM.
# Ends with an exit code other than 0 where valgrind reports something. Kernels are compiled, but not called: valgrind
# does not know all instructions of the machine.
#   test/sanitize/valgrind.sh BUILD
set -u
build=$(cd "$1" && pwd)
tests=$(cd "$(dirname "$0")/.." && pwd)
work=$build/test/valgrind
rm -rf "$work" && mkdir -p "$work/bin" && cd "$work" || exit 3

# valgrind's reader of debug information falls over that of the static archives.
for tool in residc resid-opt; do strip -o bin/$tool "$build/bin/$tool" || exit 3; done
for tool in resid-run resid-reduce resid-lsp-server; do ln bin/residc bin/$tool; done

failures=0
run() {
  name=$1 tool=$2
  shift 2
  # What the tool itself answers is for the tests to say.
  valgrind --smc-check=all -q --error-exitcode=99 --log-file="$name.%p.log" bin/$tool "$@" > "$name.out" 2>&1
  code=$?
  if [ $code -ge 99 ] || grep -q . "$name".*.log; then
    failures=$((failures + 1))
    echo "valgrind: $name: exit code $code"
    cat "$name".*.log
  else
    echo "valgrind: $name: nothing reported"
  fi
}

# Every pass of resid that rewrites programs, on each program of its tests.
rewrites='resid-check-stream,resid-form-blocks,resid-expand-blocks,resid-fuse-add-norm,resid-expand-add-norm,resid-inference'
weights='resid-fold-norm-affine,resid-fold-layer-scale,resid-fold-deepnorm,resid-center-stream,resid-rotate-pre-norm'
lowering='resid-to-linalg,resid-form-kernels,resid-bufferize,resid-plan-scratch,resid-lower-to-cpu'
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
run report-file residc "$tests/tools/Inputs/streams.mlir" -o streams.mlir --report=streams.json --mcpu=x86-64-v4
run several residc "$program" -o several.o --mcpu=x86-64-v2,x86-64-v3,x86-64-v4 --report
run drawing residc "$tests/tools/Inputs/streams.mlir" -o streams.svg
run inference residc "$program" -o inference.ll --mode=inference --mcpu=x86-64-v3
head -c 300 "$program" > truncated.mlir
run message residc truncated.mlir -o truncated.o

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

echo "valgrind: $failures of the runs above have reports"
[ $failures = 0 ]
