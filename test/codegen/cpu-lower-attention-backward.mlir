// The backward of attention on buffers becomes a function over heads of keys, around the micro-kernels of the forward.
// RUN: resid-opt --resid-allocate-scratch --resid-lower-kernels='vector-bits=512 x86=true' %s | FileCheck %s
// RUN: not resid-opt --resid-lower-kernels %s 2>&1 | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: expected scratch memory

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#rows = affine_map<(b, h, i, j, d) -> (b, h, i)>

// Two equal kernels share a function. Scores and the gradients of weights begin at 0, in rows of a chunk. Each weight is
// divided by the sum of its row. What values take is added to the sums of a chunk, and so is what queries (a row of 32)
// and keys take, once the gradients of scores are there.
// CHECK-LABEL:   func.func private @equal__attention_backward(
// CHECK:           call @resid.product_8x48_of_272_f32_from_zero(
// CHECK:           call @resid.product_8x48_of_272_f32_from_zero(
// CHECK:           arith.divf {{.+}} : vector<16xf32>
// CHECK:           call @resid.product_8x48_of_272_f32(
// CHECK:           call @resid.product_8x{{[0-9]+}}_of_32_f32(
// CHECK:           call @resid.product_8x48_of_272_f32(
// Each of the 3 heads of keys has a slot. It grows with the number of keys, and not with that of queries times keys: it
// has two chunks.
// CHECK-LABEL:   func.func private @equal.impl(
// CHECK:           memref.alloc() {{.*}}: memref<2201856xi8>
// CHECK:           call @equal__attention_backward(
// CHECK:           memref.alloc() {{.*}}: memref<2201856xi8>
// CHECK:           call @equal__attention_backward(
// CHECK-NOT:     @equal__attention_backward_
func.func private @equal.impl(%q: memref<1x6x100x32xf32>, %k: memref<1x3x300x32xf32>, %m: memref<1x6x100xf32>, %dk: memref<1x3x300x32xf32>) {
  attention.backward q(%q : memref<1x6x100x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>)
    dy(%q : memref<1x6x100x32xf32>) max(%m : memref<1x6x100xf32>) sum(%m : memref<1x6x100xf32>)
    outs(%q, %dk, %dk : memref<1x6x100x32xf32>, memref<1x3x300x32xf32>, memref<1x3x300x32xf32>)
    attributes {indexing_maps = [#heads, #keys, #keys, #heads, #rows, #rows, #heads, #keys, #keys], scale = 0.5 : f64}
  attention.backward q(%q : memref<1x6x100x32xf32>) k(%k : memref<1x3x300x32xf32>) v(%k : memref<1x3x300x32xf32>)
    dy(%q : memref<1x6x100x32xf32>) max(%m : memref<1x6x100xf32>) sum(%m : memref<1x6x100xf32>)
    outs(%q, %dk, %dk : memref<1x6x100x32xf32>, memref<1x3x300x32xf32>, memref<1x3x300x32xf32>)
    attributes {indexing_maps = [#heads, #keys, #keys, #heads, #rows, #rows, #heads, #keys, #keys], scale = 0.5 : f64}
  return
}


// Numbers are drawn again, eight for each of the generator's counters. Where the number of keys is open, so is the memory.
// CHECK-LABEL:   func.func private @open__attention_backward(
// CHECK:           call @resid.product_8x48_of_272_bf16_from_zero(
// CHECK-COUNT-20:  arith.muli {{.+}} : vector<8xi64>
// CHECK:           arith.cmpi uge, {{.+}} : vector<16xi32>
// CHECK-LABEL:   func.func private @open.impl(
// CHECK:           memref.alloc(%{{.+}}) {{.*}}: memref<?xi8>
func.func private @open.impl(%q: memref<1x6x100x32xbf16>, %k: memref<1x3x?x32xbf16>, %m: memref<1x6x100xf32>, %dk: memref<1x3x?x32xbf16>, %word: i64) {
  attention.backward q(%q : memref<1x6x100x32xbf16>) k(%k : memref<1x3x?x32xbf16>) v(%k : memref<1x3x?x32xbf16>)
    dy(%q : memref<1x6x100x32xbf16>) max(%m : memref<1x6x100xf32>) sum(%m : memref<1x6x100xf32>) dropout(%word, %word, %word, %word)
    outs(%q, %dk, %dk : memref<1x6x100x32xbf16>, memref<1x3x?x32xbf16>, memref<1x3x?x32xbf16>)
    attributes {causal, indexing_maps = [#heads, #keys, #keys, #heads, #rows, #rows, #heads, #keys, #keys], scale = 0.5 : f64, threshold = 6554 : i64, kept_scale = 1.111 : f64}
  return
}
