// Contractions on buffers become functions that pack, and functions over cells of the product around micro-kernels.
// RUN: resid-opt --split-input-file --resid-allocate-scratch --resid-lower-kernels='vector-bits=512 x86=true' %s | FileCheck %s
// RUN: resid-opt --split-input-file --resid-allocate-scratch --resid-lower-kernels='vector-bits=256 x86=true' %s | FileCheck %s --check-prefix=AVX2
// RUN: resid-opt --split-input-file --resid-allocate-scratch --resid-lower-kernels='vector-bits=128' %s | FileCheck %s --check-prefix=NEON
// RUN: not resid-opt --split-input-file --resid-lower-kernels=schedule=product-rows=1 %s 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: product-rows

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>

// Two equal products share their functions: b is packed by one and multiplied by the other. A bias is added where a row
// is complete. 128 rows are whole blocks of 8, and 96 columns whole groups of 48: one micro-kernel is enough. One tile has
// all terms, so that its sums begin in registers, and the lines of the results are fetched while it runs.
// CHECK-LABEL:   func.func private @equal__pack_panels(
// CHECK-NOT:     __pack_rows
// CHECK-LABEL:   func.func private @equal__product(
// CHECK:           "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}>
// CHECK-NOT:       llvm.store
// CHECK-COUNT-1:   call @resid.product_8x48_of_48_f32_from_zero(
// CHECK-NOT:       call @resid.product
// CHECK:           arith.addf %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK-LABEL:   func.func private @equal.impl(
// CHECK:           call @equal__pack_panels(
// CHECK:           call @equal__product(
// CHECK:           call @equal__pack_panels(
// CHECK:           call @equal__product(
// CHECK-LABEL:   func.func private @resid.product_8x48_of_48_f32_from_zero(
// CHECK-NOT:       llvm.load
// CHECK:           scf.for
// CHECK-COUNT-3:     llvm.load {{.+}} -> vector<16xf32>
// CHECK-COUNT-24:    math.fma
// CHECK:             scf.yield
// CHECK-COUNT-24:  llvm.store
// CHECK-NOT:     func.func

// Six rows of a panel; 128 is no multiple of 6, so two rows are left.
// AVX2-LABEL:    func.func private @equal__product(
// AVX2:            call @resid.product_6x16_of_16_f32_from_zero(
// AVX2:            call @resid.product_2x16_of_16_f32_from_zero(
// AVX2-NOT:        call @resid.product
// AVX2-LABEL:    func.func private @equal.impl(
// NEON-LABEL:    func.func private @equal__product(
// NEON:            call @resid.product_6x16_of_16_f32_from_zero(
func.func private @equal.impl(%x: memref<128x64xf32>, %w: memref<64x96xf32>, %v: memref<64x96xf32>, %b: memref<96xf32>,
                              %y: memref<128x96xf32>, %z: memref<128x96xf32>) {
  %zero = arith.constant 0.0 : f32
  contraction.kernel a(%x : memref<128x64xf32>) b(%w : memref<64x96xf32>) start(%zero : f32) ins(%b : memref<96xf32>) outs(%y : memref<128x96xf32>)
      attributes {indexing_maps = [#mk, #kn, #n, #mn], parallel_loops = 2 : i64} {
  ^bb0(%p: f32, %bias: f32):
    %s = arith.addf %p, %bias : f32
    contraction.yield %s : f32
  }
  contraction.kernel a(%x : memref<128x64xf32>) b(%v : memref<64x96xf32>) start(%zero : f32) ins(%b : memref<96xf32>) outs(%z : memref<128x96xf32>)
      attributes {indexing_maps = [#mk, #kn, #n, #mn], parallel_loops = 2 : i64} {
  ^bb0(%p: f32, %bias: f32):
    %s = arith.addf %p, %bias : f32
    contraction.yield %s : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows of bf16 are widened before the product. Panels that were packed ahead hold pairs of terms, which a shift and a
// mask widen. 7 rows are 4, 2 and 1. There is nothing else to pack.
// CHECK-LABEL:   func.func private @narrow__pack_rows(
// CHECK-NOT:     __pack_panels
// CHECK-LABEL:   func.func private @narrow__product(
// CHECK-NOT:       resid.product_8x
// CHECK:           call @resid.product_4x16_of_16_bf16_from_zero(
// CHECK:           call @resid.product_2x16_of_16_bf16_from_zero(
// CHECK:           call @resid.product_1x16_of_16_bf16_from_zero(
// CHECK:           arith.truncf {{.+}} : vector<16xf32> to vector<16xbf16>
// CHECK-LABEL:   func.func private @resid.product_4x16_of_16_bf16_from_zero(
// CHECK:           scf.for
// CHECK:             llvm.load {{.+}} -> vector<16xi32>
// CHECK:             arith.shli
// CHECK:             arith.andi
// CHECK-COUNT-8:     math.fma
// CHECK-NOT:         math.fma
// CHECK:             scf.yield
// CHECK:           scf.if
func.func private @narrow.impl(%x: memref<7x65xbf16>, %w: memref<1x33x16x2xbf16>, %y: memref<7x16xbf16>) {
  %zero = arith.constant 0.0 : bf16
  contraction.kernel a(%x : memref<7x65xbf16>) b(%w : memref<1x33x16x2xbf16>) start(%zero : bf16) outs(%y : memref<7x16xbf16>)
      attributes {indexing_maps = [#mk, #kn, #mn], parallel_loops = 2 : i64, packed_columns = 16 : i64} {
  ^bb0(%p: bf16):
    contraction.yield %p : bf16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// How many rows there are is seen when it runs. Few rows pack parts of b on the stack, and need no other memory.
// CHECK-LABEL:   func.func private @open__few_rows(
// CHECK-LABEL:   func.func private @open.impl(
// CHECK:           arith.select {{.+}} : i64
// CHECK:           memref.alloc(
// CHECK:           scf.if
// CHECK:             call @open__few_rows(
// CHECK:           else
// CHECK:             call @open__pack_panels(
// CHECK:             call @open__product(
func.func private @open.impl(%x: memref<?x64xf32>, %w: memref<?x64xf32>, %y: memref<?x?xf32>) {
  contraction.kernel a(%x : memref<?x64xf32>) b(%w : memref<?x64xf32>) initial(%y : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#mk, #nk, #mn, #mn], parallel_loops = 2 : i64} {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return
}

// -----

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows that are neighbours in memory, as in the gradient of a weight, are widened and turned in registers: 16 terms of 16
// rows at once. What is left moves by itself.
// CHECK-LABEL:   func.func private @turned__pack_rows(
// CHECK-COUNT-16:  llvm.load {{.+}} -> vector<16xi16>
// CHECK:           llvm.shufflevector {{.+}} : vector<16xf32>
// CHECK-COUNT-16:  llvm.store {{.+}} : vector<16xf32>
// CHECK:           llvm.load {{.+}} -> i16
// CHECK-LABEL:   func.func private @turned__pack_panels(
func.func private @turned.impl(%x: memref<65x40xbf16>, %w: memref<65x32xf32>, %y: memref<40x32xf32>) {
  %zero = arith.constant 0.0 : f32
  contraction.kernel a(%x : memref<65x40xbf16>) b(%w : memref<65x32xf32>) start(%zero : f32) outs(%y : memref<40x32xf32>)
      attributes {indexing_maps = [#km, #kn, #mn], parallel_loops = 2 : i64} {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#rc = affine_map<(r, c) -> (r, c)>

// Blocks of rows: all kernels work on one block before the next. The rows of a temporary lie where those of the task's
// first block do.
// CHECK-LABEL:   func.func private @blocks.impl(
// CHECK:           call @blocks__pack_panels(
// CHECK:           scf.for %[[BLOCK:.+]] = %{{.+}} to
// CHECK:             llvm.getelementptr %{{.+}}[%{{.+}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:             call @blocks__product(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[ROWS:.+]], %{{.+}}, %{{.+}})
// CHECK:             llvm.getelementptr %{{.+}} -> !llvm.ptr, i8
// CHECK:             call @blocks__rows(
func.func private @blocks.impl(%x: memref<4096x64xf32>, %w: memref<32x64xf32>, %y: memref<4096x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c4096 = arith.constant 4096 : index
  %c32 = arith.constant 32 : index
  %t = memref.alloc() : memref<4096x32xf32>
  %scratch = memref.alloc() : memref<8192xi8>
  contraction.row_blocks locals(%t : memref<4096x32xf32>) attributes {row_bytes = array<i64: 128>} {
    contraction.kernel a(%x : memref<4096x64xf32>) b(%w : memref<32x64xf32>) start(%zero : f32) outs(%t : memref<4096x32xf32>) scratch(%scratch : memref<8192xi8>)
        attributes {indexing_maps = [#mk, #nk, #mn], parallel_loops = 2 : i64} {
    ^bb0(%p: f32):
      contraction.yield %p : f32
    }
    rows.kernel rows(%c4096) columns(%c32) ins(%t : memref<4096x32xf32>) outs(%y : memref<4096x32xf32>)
        attributes {indexing_maps = [#rc, #rc]} {
    ^bb0(%row: index, %tr: !rows.row<f32>, %yr: !rows.row<f32>):
      rows.phase [] {
      ^bb0(%j: index):
        %v = rows.load %tr[%j] : <f32> -> f32
        %n = arith.negf %v : f32
        rows.store %n, %yr[%j] : f32, <f32>
      }
    }
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 24 columns are a panel and half of one, in one micro-kernel. Where a register holds a panel, half of one that has the
// number of a in all lanes serves the half panel. Narrower registers leave room for four rows.
// CHECK-LABEL:   func.func private @thin__product(
// CHECK:           call @resid.product_8x24_of_32_f32_from_zero(
// CHECK-NOT:       call @resid.product
// CHECK-LABEL:   func.func private @resid.product_8x24_of_32_f32_from_zero(
// CHECK:           scf.for
// CHECK:             llvm.load {{.+}} -> vector<16xf32>
// CHECK:             llvm.load {{.+}} -> vector<8xf32>
// CHECK:             llvm.inline_asm "", "=v,0" {{.+}} : (vector<16xf32>) -> vector<16xf32>
// CHECK:             math.fma {{.+}} : vector<16xf32>
// CHECK:             math.fma {{.+}} : vector<8xf32>
// CHECK:             scf.yield
// AVX2-LABEL:    func.func private @thin__product(
// AVX2:            call @resid.product_4x24_of_32_f32_from_zero(
// AVX2-NOT:        call @resid.product
// AVX2-LABEL:    func.func private @resid.product_4x24_of_32_f32_from_zero(
// AVX2-NOT:        inline_asm
// AVX2:            return
func.func private @thin.impl(%x: memref<64x64xf32>, %w: memref<24x64xf32>, %y: memref<64x24xf32>) {
  %zero = arith.constant 0.0 : f32
  contraction.kernel a(%x : memref<64x64xf32>) b(%w : memref<24x64xf32>) start(%zero : f32) outs(%y : memref<64x24xf32>)
      attributes {indexing_maps = [#mk, #nk, #mn], parallel_loops = 2 : i64} {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return
}
