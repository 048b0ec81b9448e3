// Mathematical functions, compiled and run: as near to the truth as promised, special values, and no library call.
// REQUIRES: x86_64
// RUN: resid-opt %s --resid-lower-to-cpu="f16c=false fma=false vector-bits=128" | mlir-translate --mlir-to-llvmir -o %t.v2.ll
// RUN: opt -O3 -mcpu=x86-64-v2 %t.v2.ll | llc -O3 -mcpu=x86-64-v2 -filetype=obj -relocation-model=pic -o %t.v2.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-math.c %t.v2.o -lm -o %t.v2.exe
// RUN: %t.v2.exe | FileCheck %s --check-prefix=VALUES
// RUN: resid-opt %s --resid-lower-to-cpu | mlir-translate --mlir-to-llvmir -o %t.v3.ll
// RUN: opt -O3 -mcpu=x86-64-v3 %t.v3.ll | llc -O3 -mcpu=x86-64-v3 -filetype=obj -relocation-model=pic -o %t.v3.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-math.c %t.v3.o -lm -o %t.v3.exe
// RUN: not grep -qw avx2 /proc/cpuinfo || %t.v3.exe | FileCheck %s --check-prefix=VALUES
// VALUES: all as expected
// RUN: llvm-nm --undefined-only %t.v2.o %t.v3.o | FileCheck %s --check-prefix=UNDEFINED --allow-empty
// UNDEFINED-NOT: {{ U }}

func.func @exp_f32(%from: memref<?xf32>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf32>
    %r = math.exp %x : f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}

func.func @exp_f64(%from: memref<?xf64>, %to: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf64>
    %r = math.exp %x : f64
    memref.store %r, %to[%i] : memref<?xf64>
  }
  return
}

func.func @tanh_f32(%from: memref<?xf32>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf32>
    %r = math.tanh %x : f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}

func.func @tanh_f64(%from: memref<?xf64>, %to: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf64>
    %r = math.tanh %x : f64
    memref.store %r, %to[%i] : memref<?xf64>
  }
  return
}

func.func @erf_f32(%from: memref<?xf32>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf32>
    %r = math.erf %x : f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}

func.func @erf_f64(%from: memref<?xf64>, %to: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf64>
    %r = math.erf %x : f64
    memref.store %r, %to[%i] : memref<?xf64>
  }
  return
}

func.func @rsqrt_f32(%from: memref<?xf32>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf32>
    %r = math.rsqrt %x : f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}

func.func @rsqrt_f64(%from: memref<?xf64>, %to: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf64>
    %r = math.rsqrt %x : f64
    memref.store %r, %to[%i] : memref<?xf64>
  }
  return
}

func.func @others_f32(%from: memref<?xf32>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %from[%i] : memref<?xf32>
    %p = arith.constant 1.5 : f32
    %three = arith.constant 3.0 : f32
    %1 = math.sin %x : f32
    %2 = math.cos %x : f32
    %3 = math.log %x : f32
    %4 = math.log1p %x : f32
    %5 = math.powf %x, %p : f32
    %6 = math.exp2 %x : f32
    %7 = arith.mulf %x, %three : f32
    %8 = math.floor %7 : f32
    %9 = arith.addf %1, %2 : f32
    %10 = arith.addf %9, %3 : f32
    %11 = arith.addf %10, %4 : f32
    %12 = arith.addf %11, %5 : f32
    %13 = arith.addf %12, %6 : f32
    %r = arith.addf %13, %8 : f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}
