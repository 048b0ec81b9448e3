// bf16 and f16 that nothing is computed on are integers, also in memory and in constants; conversions that are left get floats.
// RUN: resid-opt %s --resid-carry-narrow-floats | FileCheck %s

// CHECK-LABEL: func @moved(%arg0: memref<?xi16>, %arg1: i16, %arg2: vector<4xi16>) -> (i16, vector<4xi16>)
// CHECK: %[[C:.*]] = arith.constant 16256 : i16
// CHECK: %[[V:.*]] = arith.constant dense<[15360, -16384, 0, 31744]> : vector<4xi16>
// CHECK: %[[X:.*]] = memref.load %arg0[%{{.*}}] : memref<?xi16>
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[X]], %[[C]] : i16
// CHECK: memref.store %arg1, %arg0[%{{.*}}] : memref<?xi16>
// CHECK-NOT: bitcast
// CHECK: arith.addi %arg1, %[[S]] : i16
// CHECK: return %{{.*}}, %[[V]] : i16, vector<4xi16>
func.func @moved(%m: memref<?xbf16>, %x: bf16, %v: vector<4xf16>) -> (bf16, vector<4xf16>) {
  %one = arith.constant 1.0 : bf16
  %numbers = arith.constant dense<[1.0, -2.0, 0.0, 0x7C00]> : vector<4xf16>
  %zero = arith.constant 0 : index
  %true = arith.constant true
  %y = memref.load %m[%zero] : memref<?xbf16>
  %s = arith.select %true, %y, %one : bf16
  memref.store %x, %m[%zero] : memref<?xbf16>
  %bits = arith.bitcast %x : bf16 to i16
  %other = arith.bitcast %s : bf16 to i16
  %sum = arith.addi %bits, %other : i16
  %r = arith.bitcast %sum : i16 to bf16
  return %r, %numbers : bf16, vector<4xf16>
}

// A conversion of what another one gave.
// CHECK-LABEL: func @converted(%arg0: vector<8xf32>) -> (vector<8xf32>, vector<8xi16>)
// CHECK: %[[N:.*]] = arith.truncf %arg0 : vector<8xf32> to vector<8xf16>
// CHECK: %[[B:.*]] = arith.bitcast %[[N]] : vector<8xf16> to vector<8xi16>
// CHECK: %[[F:.*]] = arith.bitcast %[[B]] : vector<8xi16> to vector<8xf16>
// CHECK: %[[W:.*]] = arith.extf %[[F]] : vector<8xf16> to vector<8xf32>
// CHECK: return %[[W]], %[[B]]
func.func @converted(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf16>) {
  %n = arith.truncf %x : vector<8xf32> to vector<8xf16>
  %w = arith.extf %n : vector<8xf16> to vector<8xf32>
  return %w, %n : vector<8xf32>, vector<8xf16>
}

// CHECK-LABEL: func @packed(%arg0: vector<16xf32>) -> vector<32xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%arg0, %arg0) : (vector<16xf32>, vector<16xf32>) -> vector<32xbf16>
// CHECK: arith.bitcast %{{.*}} : vector<32xbf16> to vector<32xi16>
func.func @packed(%x: vector<16xf32>) -> vector<32xbf16> {
  %y = llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%x, %x) : (vector<16xf32>, vector<16xf32>) -> vector<32xbf16>
  return %y : vector<32xbf16>
}
