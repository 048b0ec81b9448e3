// Attention on buffers becomes a function over units of work, around micro-kernels whose sums begin at 0.
// RUN: resid-opt --resid-allocate-scratch --resid-lower-kernels='vector-bits=512 x86=true' %s | FileCheck %s
// RUN: resid-opt --resid-allocate-scratch --resid-lower-kernels='vector-bits=256 x86=true' %s | FileCheck %s --check-prefix=AVX2
// RUN: not resid-opt --resid-lower-kernels=schedule=product-rows=1 %s 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not resid-opt --resid-lower-kernels %s 2>&1 | FileCheck %s --check-prefix=SCRATCH
// BAD: product-rows
// SCRATCH: expected scratch memory

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>

// Two equal kernels share a function. A head of 32 columns has two panels of values. Each task has a slot: there are 3 units, of at most 256 rows.
// CHECK-LABEL:   func.func private @equal__attention(
// CHECK:           call @resid.product_8x48_of_272_f32_from_zero(
// CHECK:           arith.cmpf uno, {{.+}} : vector<16xf32>
// CHECK:           math.fma {{.+}} : vector<16xf32>
// CHECK:           call @resid.product_8x32_of_32_f32_from_zero(
// CHECK:           arith.divf {{.+}} : vector<16xf32>
// CHECK-LABEL:   func.func private @equal.impl(
// CHECK:           memref.alloc() {{.*}}: memref<{{[0-9]+}}xi8>
// CHECK:           call @equal__attention(
// CHECK:           memref.alloc() {{.*}}: memref<{{[0-9]+}}xi8>
// CHECK:           call @equal__attention(
// CHECK-NOT:     @equal__attention_
// CHECK-LABEL:   func.func private @causal__attention(
// Only a kernel with dropout draws numbers, eight for each of the generator's counters.
// CHECK-NOT:     arith.muli {{.+}} : vector<8xi64>
// CHECK-LABEL:   func.func private @dropped__attention(
// CHECK-COUNT-40:  arith.muli {{.+}} : vector<8xi64>
// CHECK:           arith.cmpi uge, {{.+}} : vector<16xi32>
// CHECK-NOT:     arith.muli {{.+}} : vector<8xi64>
// Few rows read keys and values where they lie: keys are transposed in registers, nothing is packed, and no micro-kernel is called. Where sums
// are no numbers, the values are looked at one by one.
// CHECK-LABEL:   func.func private @few__attention(
// CHECK-NOT:       call
// CHECK:           llvm.intr.prefetch
// CHECK-COUNT-64:  llvm.shufflevector {{.+}} : vector<16xf32>
// CHECK:           math.fma {{.+}} : vector<16xf32>
// CHECK-NOT:       call
// CHECK:           arith.cmpf uno, {{.+}} : vector<16xf32>
// CHECK:           math.fma {{.+}} : f32
// CHECK-NOT:       call
// CHECK:         func.func private @few.impl
// Where the number of queries is open, both forms are there. Where the elements of values are apart, all is packed.
// CHECK-LABEL:   func.func private @open__attention(
// CHECK:           llvm.intr.prefetch
// CHECK:           call @resid.product_8x48_of_272_f32_from_zero(
// CHECK-LABEL:   func.func private @gaps__attention(
// CHECK-NOT:       llvm.intr.prefetch
// CHECK:           call @resid.product_1x48_of_272_f32_from_zero(
// CHECK:         func.func private @resid.product_8x48_of_272_f32_from_zero(
// CHECK-NOT:       llvm.load {{.+}} -> vector<16xf32>
// CHECK:           scf.for
// CHECK-COUNT-3:     llvm.load {{.+}} -> vector<16xf32>
// CHECK-COUNT-24:    math.fma
// AVX2-LABEL:    func.func private @equal__attention(
// AVX2:            call @resid.product_6x16_of_272_f32_from_zero(
// AVX2-LABEL:    func.func private @few__attention(
// AVX2-COUNT-24:   llvm.shufflevector {{.+}} : vector<8xf32>
func.func private @equal.impl(%q: memref<1x3x100x32xf32>, %k: memref<1x3x300x32xf32>, %y: memref<1x3x100x32xf32>, %z: memref<1x3x100x32xf32>) {
  attention.kernel q(%q : memref<1x3x100x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>)
    outs(%y : memref<1x3x100x32xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 0.5 : f64}
  attention.kernel q(%y : memref<1x3x100x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>)
    outs(%z : memref<1x3x100x32xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 0.5 : f64}
  return
}

// Another one that hides keys is another function.
func.func private @causal.impl(%q: memref<1x3x100x32xf32>, %k: memref<1x3x300x32xf32>, %y: memref<1x3x100x32xf32>, %past: i64) {
  attention.kernel q(%q : memref<1x3x100x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>) past(%past)
    outs(%y : memref<1x3x100x32xf32>) attributes {causal, indexing_maps = [#heads, #keys, #keys, #heads], scale = 0.5 : f64}
  return
}

func.func private @dropped.impl(%q: memref<1x3x100x32xf32>, %k: memref<1x3x300x32xf32>, %y: memref<1x3x100x32xf32>, %word: i64) {
  attention.kernel q(%q : memref<1x3x100x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>) dropout(%word, %word, %word, %word)
    outs(%y : memref<1x3x100x32xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 0.5 : f64, threshold = 6554 : i64, kept_scale = 1.111 : f64}
  return
}

func.func private @few.impl(%q: memref<1x6x2x32xf32>, %k: memref<1x3x300x32xf32>, %y: memref<1x6x2x32xf32>) {
  attention.kernel q(%q : memref<1x6x2x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>)
    outs(%y : memref<1x6x2x32xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 0.5 : f64}
  return
}

func.func private @open.impl(%q: memref<1x3x?x32xf32>, %k: memref<1x3x300x32xf32>, %y: memref<1x3x?x32xf32>) {
  attention.kernel q(%q : memref<1x3x?x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>)
    outs(%y : memref<1x3x?x32xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 0.5 : f64}
  return
}

#columns = affine_map<(b, h, i, j, d) -> (b, h, d, j)>
func.func private @gaps.impl(%q: memref<1x3x1x32xf32>, %k: memref<1x3x300x32xf32>, %v: memref<1x3x32x300xf32>, %y: memref<1x3x1x32xf32>) {
  attention.kernel q(%q : memref<1x3x1x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%v : memref<1x3x32x300xf32>)
    outs(%y : memref<1x3x1x32xf32>) attributes {indexing_maps = [#heads, #keys, #columns, #heads], scale = 0.5 : f64}
  return
}
