// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-run's arguments, outputs and exit codes, on the evaluator.
//
// Help and version:
// RUN: resid-run --help | FileCheck %s --check-prefix=HELP
// RUN: resid-run --version | FileCheck %s --check-prefix=VERSION
// HELP: USAGE: resid-run IN.mlir
// HELP: examples:
// VERSION: resid-run {{[0-9]+\.[0-9]+\.[0-9]+}}
//
// What is written can be read back, in every type, and a second run gives the same bytes:
// RUN: resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=random:1 --arg=f16[2]=random:2 --arg=i32[2]=-5 \
// RUN:   --arg=i1[3]=true,false,1 --arg=-7 --out=%t.0.npy --out=%t.1.npy --out=%t.2.npy --out=%t.3.npy
// RUN: resid-run %s --backend=reference --entry=identity --arg=%t.0.npy --arg=%t.1.npy --arg=%t.2.npy --arg=%t.3.npy \
// RUN:   --arg=-7 --out=%t.4.npy --out=%t.5.npy --out=%t.6.npy | FileCheck %s --check-prefix=REST
// RUN: cmp %t.0.npy %t.4.npy
// RUN: cmp %t.1.npy %t.5.npy
// RUN: cmp %t.2.npy %t.6.npy
// REST: out3: 3xi1, min 0, max 1, first 1 0 1
// REST-NEXT: out4: index -7
//
// Checks and times:
// RUN: resid-run %s --backend=reference --entry=norm --arg=f32[4x8]=random:1 --check=wide --repeat=3 | FileCheck %s --check-prefix=CHECK
// CHECK: out0: ok, largest error {{.*}}, bound there
// CHECK: median of 3: {{.*}} us, {{.*}} GB/s of 256 compulsory bytes
//
// Random values may be scaled; a power of two moves no bit of them.
// RUN: resid-run %s --backend=reference --entry=sum --arg=f32[1x2]=random:7*0.5 --arg=f32[1x2]=random:7*0.5 --out=%t.halves.npy
// RUN: resid-run %s --backend=reference --entry=sum --arg=f32[1x2]=random:7 --arg=f32[1x2]=0 --out=%t.whole.npy
// RUN: cmp %t.halves.npy %t.whole.npy
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=reference --entry=norm --arg=f32[4x8]=random:1*x 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 --arg=f16[2]=2 --arg=i32[2]=random:1*2 \
// RUN:   --arg=i1[3]=1 --arg=-7 2>&1 | FileCheck %s --check-prefix=SCALEINT
// SCALE: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected a finite scale of floats after 'random:SEED*' but got 'f32[4x8]=random:1*x'
// SCALEINT: resid-run: error: argument 2 ('c') of type tensor<2xi32>: expected a finite scale of floats after 'random:SEED*' but got 'i32[2]=random:1*2'
//
// Exit 2, wrong flags or argument count:
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run 2>&1 | FileCheck %s --check-prefix=NOINPUT
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --nonsense=1 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=tpu 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: env RESID_CUDA_DRIVER=%t.none %python %S/Inputs/expect_exit.py 4 resid-run %s --entry=norm --backend=cuda --arg=f32[1x4]=1 2>&1 | FileCheck %s --check-prefix=CUDA
// CUDA: resid-run: error: expected the CUDA driver, libcuda.so.1, but it could not be loaded
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=cuda --threads=2 2>&1 | FileCheck %s --check-prefix=CUDATHREADS
// CUDATHREADS: resid-run: error: expected no --threads beside --backend=cuda, but got '2'
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=missing 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[1x1]=1 --out=a.npy --out=b.npy 2>&1 | FileCheck %s --check-prefix=OUTS
// NOINPUT: resid-run: error: expected an input file, but got none; resid-run --help shows examples
// FLAG: resid-run: error: unknown flag '--nonsense=1'; resid-run --help lists all
// BACKEND: resid-run: error: expected --backend=cpu, cuda or reference, but got 'tpu'
// ENTRY: resid-run: error: --entry: expected a public function but got 'missing'; {{.*}} has 'identity', 'norm', 'sum'
// COUNT: resid-run: error: expected one --arg per argument of 'norm', 1, but got 0; --check makes some up
// OUTS: resid-run: error: expected at most one --out per result of 'norm', 1, but got 2
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s %s 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: cp %s %t.kept.mlir && %python %S/Inputs/expect_exit.py 2 resid-run %t.kept.mlir --backend=reference --entry=norm --arg=f32[4x8]=1 --out=%t.kept.mlir 2>&1 | FileCheck %s --check-prefix=ITSELF
// RUN: cmp %s %t.kept.mlir
// ITSELF: resid-run: error: expected another file than the input for each output, but got '{{.*}}kept.mlir'
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[4x8]=1 --out=%t.npy --out=%t.npy 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: resid-run: error: expected another name for each output, but got '{{.*}}npy' twice
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --threads=-1 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --rtol=tight 2>&1 | FileCheck %s --check-prefix=RTOL
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry 2>&1 | FileCheck %s --check-prefix=NOVALUE
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --entry=sum 2>&1 | FileCheck %s --check-prefix=ONCE
// TWO: resid-run: error: expected one input, but got '{{.*}}' and '{{.*}}'
// THREADS: resid-run: error: --threads: expected a number from 0 to {{[0-9]+}}, but got '-1'
// RTOL: resid-run: error: --rtol: expected a number of 0 or more, but got 'tight'
// NOVALUE: resid-run: error: expected a value after --entry, but got none
// ONCE: resid-run: error: expected --entry once, but got 'norm' and 'sum'
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --check=narrow 2>&1 | FileCheck %s --check-prefix=WHICHCHECK
// WHICHCHECK: resid-run: error: expected --check=wide, but got 'narrow'
//
// Flags that would change nothing:
// RUN: for flags in --atol=1 --rtol=1 '--backend=reference --threads=2' '--backend=reference --mcpu=x86-64' '--backend=reference --check' \
// RUN:   '--check --check' --row-padding=3 '--in-place --repeat=3' '--in-place --backend=reference'; do \
// RUN:   %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[4x8]=1 $flags || exit 1; done 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: resid-run: error: expected --check beside --atol, but got none
// IDLE: resid-run: error: expected --check beside --rtol, but got none
// IDLE: resid-run: error: expected no --threads beside --backend=reference, which compiles nothing and runs on one thread, but got '2'
// IDLE: resid-run: error: expected no --mcpu beside --backend=reference, which compiles nothing and runs on one thread, but got 'x86-64'
// IDLE: resid-run: error: expected --check=wide beside --backend=reference, but got --check, which would compare the evaluator with itself
// IDLE: resid-run: error: expected --check once, but got it twice
// IDLE: resid-run: error: expected a function with resid.strided arrays beside --row-padding, but 'norm' has none
// IDLE: resid-run: error: expected no --repeat beside --in-place, which leaves other arguments, but got '3'
// IDLE: resid-run: error: expected no --in-place beside --backend=reference, which has no buffers, but got one
//
// Results in arguments: both of them, and where none may be.
// RUN: for backend in cpu cuda; do env RESID_CUDA_DRIVER=%build_dir/test/lib/libresid-fake-cuda.so resid-run %source_dir/benchmarks/kernels/add_layer_norm.mlir --backend=$backend --in-place --check \
// RUN:   --arg=f32[5x250]=random:1 --arg=f32[5x250]=random:2 --arg=f32[250]=random:3 --arg=f32[250]=random:4 || exit 1; done | FileCheck %s --check-prefix=INPLACE
// INPLACE-COUNT-2: out{{[01]}}: ok
// INPLACE-COUNT-2: out{{[01]}}: {{[0-9]}}
// INPLACE: out0: ok
// INPLACE-COUNT-2: the bits of the CPU
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %source_dir/benchmarks/kernels/column_sums_f32.mlir --in-place --arg=f32[5x250]=random:1 2>&1 | FileCheck %s --check-prefix=NOTINPLACE
// NOTINPLACE: resid-run: error: expected a function with results that may lie in arguments beside --in-place, but 'column_sums' has none
//
// Exit 2 too, texts that are wrong for every program; exit 1, arguments that are wrong for this one:
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[4x8]=x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[4x8]=1,2 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[4y8]=1 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=f32[4x8]=random:x 2>&1 | FileCheck %s --check-prefix=SEED
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --entry=norm --arg=f32[9999999999x9999999999]=1 2>&1 | FileCheck %s --check-prefix=LARGE
// NUMBER: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected a number but got 'f32[4x8]=x'
// VALUES: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected 1 or 32 values but got 2
// SIZES: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected sizes such as 4x512 but got 'f32[4y8]=1'
// SEED: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected a seed after 'random:' but got 'f32[4x8]=random:x'
// LARGE: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected at most 2^47 bytes
// RUN: for value in f32[4x8]=1e999 f32[4x8]=-3.5e38 f32[4x8]=random:1*1e39 f32[4x8] f32[4x8=1 f32[-4x8]=1 f33[4x8]=1 f32[4x8]=randm:1 f32[4x8]=Random; do \
// RUN:   %python %S/Inputs/expect_exit.py 2 resid-run %s --entry=norm --arg=$value || exit 1; done 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: resid-run %s --backend=reference --entry=sum --arg=f32[1x2]=inf,3.4028235e38 --arg=f32[1x2]=0 | FileCheck %s --check-prefix=EDGE
// RANGE: expected a number in the range of f32 but got 'f32[4x8]=1e999'
// RANGE: expected a number in the range of f32 but got 'f32[4x8]=-3.5e38'
// RANGE: expected a finite scale of floats after 'random:SEED*' but got 'f32[4x8]=random:1*1e39'
// RANGE: expected a .npy file or TYPE[SIZES]=VALUE, such as f32[4x512]=random:1, but got 'f32[4x8]'
// RANGE: expected a .npy file or TYPE[SIZES]=VALUE, such as f32[4x512]=random:1, but got 'f32[4x8=1'; did you mean 'f32[4x8]=1'?
// RANGE: expected sizes such as 4x512 but got 'f32[-4x8]=1'
// RANGE: expected elements of type 'f16', {{.*}} or 'i64' but got 'f33[4x8]=1'; did you mean 'f32[4x8]=1'?
// RANGE: expected a number or random:SEED but got 'f32[4x8]=randm:1'; did you mean 'f32[4x8]=random:1'?
// RANGE: expected a number or random:SEED but got 'f32[4x8]=Random'; did you mean 'f32[4x8]=random:1'?
// EDGE: first inf 3.40282e+38
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 --arg=f16[2]=2 --arg=i32[2]=1 \
// RUN:   --arg=i1[3]=1 --arg=18446744073709551615 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: resid-run: error: argument 4 ('e') of type index: expected an integer but got '18446744073709551615'
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=norm --arg=0.5 2>&1 | FileCheck %s --check-prefix=LONE
// RUN: for code_value in 1=0.5 1=f32[2]=1 2=seven; do %python %S/Inputs/expect_exit.py ${code_value%%%%=*} resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 \
// RUN:   --arg=f16[2]=2 --arg=i32[2]=1 --arg=i1[3]=1 --arg=${code_value#*=} || exit 1; done 2>&1 | FileCheck %s --check-prefix=SCALAR
// LONE: argument 0 ('x') of type tensor<?x?xf32>: expected a .npy file or TYPE[SIZES]=VALUE, such as f32[4x512]=random:1, but got '0.5'
// SCALAR: argument 4 ('e') of type index: expected an integer but got '0.5'
// SCALAR: argument 4 ('e') of type index: expected a number but got 'f32[2]=1'
// SCALAR: argument 4 ('e') of type index: expected an integer but got 'seven'
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=norm --arg=f64[4x8]=1 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=norm --arg=f32[4]=1 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=norm --arg=%t.1.npy 2>&1 | FileCheck %s --check-prefix=FILETYPE
// RUN: %python %S/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=sum --arg=f32[2x3]=1 --arg=f32[3x3]=1 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 --arg=f16[2]=2 --arg=i32[2]=1 \
// RUN:   --arg=i1[3]=2 --arg=-7 2>&1 | FileCheck %s --check-prefix=BOOL
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 --arg=f16[2]=2 --arg=i32[2]=0.5 \
// RUN:   --arg=i1[3]=1 --arg=-7 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: %python %S/Inputs/expect_exit.py 2 resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 --arg=f16[2]=2 \
// RUN:   --arg=i32[2]=4294967296 --arg=i1[3]=1 --arg=-7 2>&1 | FileCheck %s --check-prefix=BITS
// BOOL: resid-run: error: argument 3 ('d') of type tensor<3xi1>: expected true or false but got 'i1[3]=2'
// INTEGER: resid-run: error: argument 2 ('c') of type tensor<2xi32>: expected an integer but got 'i32[2]=0.5'
// BITS: resid-run: error: argument 2 ('c') of type tensor<2xi32>: expected an integer of 32 bits but got 'i32[2]=4294967296'
// TYPE: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected an array of its type but got 'f64[4x8]=1'
// RANK: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected an array of its shape but got [4]
// FILETYPE: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: expected elements of its type but {{.*}} has '<f2'
// SHAPES: resid-run.mlir:[[#]]:{{[0-9]+}}: error: 'resid.add' op expected x and f of one shape but got 2x3xf32 and 3x3xf32
//
// Exit 5, an array for which there is no memory: the argument and its bytes.
// RUN: %if !sanitized %{ (ulimit -v 8000000; %python %S/Inputs/expect_exit.py 5 resid-run %s --entry=norm --arg=f32[9999999999x8]=1) 2>&1 | FileCheck %s --check-prefix=MEMORY %}
// MEMORY: resid-run: error: out of memory: argument 0 ('x') of type tensor<?x?xf32> takes 319999999968 bytes as 9999999999x8
//
// Exit 3, files; an old output stays as it was:
// RUN: %python %S/Inputs/expect_exit.py 3 resid-run %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: %python %S/Inputs/expect_exit.py 3 resid-run %s --backend=reference --entry=norm --arg=%s 2>&1 | FileCheck %s --check-prefix=NOTNPY
// RUN: %python %S/Inputs/expect_exit.py 3 resid-run %s --backend=reference --entry=norm --arg=f32[1x1]=1 --out=%t.no/y.npy 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// RUN: echo old > %t.old.npy
// RUN: not resid-run %s --backend=reference --entry=sum --arg=f32[2x3]=1 --arg=f32[3x3]=1 --out=%t.old.npy
// RUN: grep old %t.old.npy
// RUN: rm -f %t.first.npy && %python %S/Inputs/expect_exit.py 3 resid-run %s --backend=reference --entry=identity --arg=bf16[2x3]=1 \
// RUN:   --arg=f16[2]=2 --arg=i32[2]=-5 --arg=i1[3]=true --arg=-7 --out=%t.first.npy --out=%t.no/y.npy 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// RUN: not ls %t.first.npy
// MISSING: resid-run: error: cannot read '{{.*}}.missing.mlir': No such file or directory
// NOTNPY: resid-run: error: argument 0 ('x') of type tensor<?x?xf32>: {{.*}}resid-run.mlir: expected a .npy file but got one that starts with
// UNWRITABLE: resid-run: error: cannot write '{{.*}}.no/y.npy': No such file or directory

func.func @identity(%a: tensor<2x3xbf16>, %b: tensor<?xf16>, %c: tensor<2xi32>, %d: tensor<3xi1>, %e: index)
    -> (tensor<2x3xbf16>, tensor<?xf16>, tensor<2xi32>, tensor<3xi1>, index) {
  return %a, %b, %c, %d, %e : tensor<2x3xbf16>, tensor<?xf16>, tensor<2xi32>, tensor<3xi1>, index
}

func.func @norm(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @sum(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.add %x, %f : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
