// Conversions of narrow floats, compiled and run over all values; by hardware where there is some, else by integers.
// REQUIRES: x86_64
// RUN: resid-opt %s --resid-lower-to-cpu="f16c=false fma=false vector-bits=128" | mlir-translate --mlir-to-llvmir -o %t.v2.ll
// RUN: opt -O3 -mcpu=x86-64-v2 %t.v2.ll | llc -O3 -mcpu=x86-64-v2 -filetype=obj -relocation-model=pic -o %t.v2.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-narrow-floats.c %t.v2.o -lm -o %t.v2.exe
// RUN: %t.v2.exe | FileCheck %s --check-prefix=VALUES
// RUN: resid-opt %s --resid-lower-to-cpu | mlir-translate --mlir-to-llvmir -o %t.v3.ll
// RUN: opt -O3 -mcpu=x86-64-v3 %t.v3.ll | llc -O3 -mcpu=x86-64-v3 -filetype=obj -relocation-model=pic -o %t.v3.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-narrow-floats.c %t.v3.o -lm -o %t.v3.exe
// RUN: not grep -qw avx2 /proc/cpuinfo || %t.v3.exe | FileCheck %s --check-prefix=VALUES
// VALUES: all as expected

// No conversion is a call into a library, on any level.
// RUN: opt -O3 -mcpu=x86-64-v4 %t.v3.ll | llc -O3 -mcpu=x86-64-v4 -filetype=obj -relocation-model=pic -o %t.v4.o
// RUN: llvm-nm --undefined-only %t.v2.o %t.v3.o %t.v4.o | FileCheck %s --check-prefix=UNDEFINED --allow-empty
// UNDEFINED-NOT: {{ U }}

func.func @bf16_to_f32(%from: memref<?xbf16>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xbf16>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xbf16>
    %r = arith.extf %v : bf16 to f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}

func.func @f16_to_f32(%from: memref<?xf16>, %to: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf16>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf16>
    %r = arith.extf %v : f16 to f32
    memref.store %r, %to[%i] : memref<?xf32>
  }
  return
}

func.func @f16_to_f64(%from: memref<?xf16>, %to: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf16>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf16>
    %r = arith.extf %v : f16 to f64
    memref.store %r, %to[%i] : memref<?xf64>
  }
  return
}

func.func @f32_to_bf16(%from: memref<?xf32>, %to: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf32>
    %r = arith.truncf %v : f32 to bf16
    memref.store %r, %to[%i] : memref<?xbf16>
  }
  return
}

func.func @f32_to_f16(%from: memref<?xf32>, %to: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf32>
    %r = arith.truncf %v : f32 to f16
    memref.store %r, %to[%i] : memref<?xf16>
  }
  return
}

func.func @f64_to_bf16(%from: memref<?xf64>, %to: memref<?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf64>
    %r = arith.truncf %v : f64 to bf16
    memref.store %r, %to[%i] : memref<?xbf16>
  }
  return
}

func.func @f64_to_f16(%from: memref<?xf64>, %to: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf64>
    %r = arith.truncf %v : f64 to f16
    memref.store %r, %to[%i] : memref<?xf16>
  }
  return
}

// Arithmetic on narrow types is done in f32 and rounded after each operation.
func.func @four_times_f16(%from: memref<?xf16>, %to: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %from, %c0 : memref<?xf16>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %from[%i] : memref<?xf16>
    %three = arith.constant 3.0 : f16
    %triple = arith.mulf %v, %three : f16
    %r = arith.addf %triple, %v : f16
    memref.store %r, %to[%i] : memref<?xf16>
  }
  return
}
