// RUN: resid-opt %s -resid-raise -split-input-file | FileCheck %s
// RUN: resid-opt %s -resid-raise=report=true -split-input-file -verify-diagnostics -o /dev/null
// RUN: resid-opt %s -resid-raise=level=off -split-input-file | FileCheck %s --check-prefix=OFF
// OFF-NOT: resid.add
// Residual connections that are written as sums. The values are compared in test/run/raise.test.

// The branch on either side, over one stream; a branch that is turned; in bf16, which rounds once as the op does.
#rows = affine_map<(a, b) -> (a, b)>
#turned = affine_map<(a, b) -> (b, a)>
!t = tensor<6x6xf32>
!h = tensor<6x6xbf16>
// CHECK-LABEL: func.func @residuals(
// CHECK: %[[P:.*]] = linalg.matmul
// CHECK: %[[S:.*]] = resid.add %arg0, %[[P]] : tensor<6x6xf32>
// CHECK: %[[L:.*]] = resid.linear %[[S]]
// CHECK: %[[T:.*]] = resid.add %[[S]], %[[L]] : tensor<6x6xf32>
// CHECK: %[[B:.*]] = linalg.transpose
// CHECK: %[[U:.*]] = resid.add %[[T]], %[[B]] : tensor<6x6xf32>
// CHECK: %[[Q:.*]] = resid.linear %arg3
// CHECK: %[[V:.*]] = resid.add %arg3, %[[Q]] : tensor<6x6xbf16>
// CHECK: return %[[U]], %[[V]]
func.func @residuals(%x: !t, %w: !t, %b: tensor<6xf32>, %n: !h) -> (!t, !h) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%x, %w : !t, !t) outs(%z : !t) -> !t
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %s = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%p, %x : !t, !t) outs(%e : !t) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %v = arith.addf %a, %c : f32
    linalg.yield %v : f32
  } -> !t
  %l = resid.linear %s, %w bias(%b) : !t, !t, tensor<6xf32>
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %t = arith.addf %s, %l : !t
  %m = resid.linear %t, %w : !t, !t
  %r = linalg.transpose ins(%m : !t) outs(%e : !t) permutation = [1, 0]
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %u = arith.addf %r, %t : !t
  %q = resid.linear %n, %w : !h, !t
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %v = arith.addf %n, %q : !h
  return %u, %v : !t, !h
}

// -----

// Dropout of a training export stands in the branch, as a mask and a quotient. A branch in bf16 on a stream in f32 is widened, in the op of the sum or before.
#rows = affine_map<(a, b) -> (a, b)>
!t = tensor<6x6xf32>
!h = tensor<6x6xbf16>
// CHECK-LABEL: func.func @branches(
// CHECK: %[[D:.*]] = linalg.generic
// CHECK: arith.divf
// CHECK: %[[S:.*]] = resid.add %arg0, %[[D]] : tensor<6x6xf32>
// CHECK: %[[L:.*]] = resid.linear %[[S]], {{.*}} -> tensor<6x6xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[L]] : tensor<6x6xbf16> to tensor<6x6xf32>
// CHECK: %[[T:.*]] = resid.add %[[S]], %[[W]] : tensor<6x6xf32>
// CHECK: %[[M:.*]] = resid.linear %[[T]], {{.*}} -> tensor<6x6xbf16>
// CHECK: %[[X:.*]] = arith.extf %[[M]]
// CHECK: resid.add %[[T]], %[[X]] : tensor<6x6xf32>
func.func @branches(%x: !t, %w: !t, %mask: tensor<6x6xi1>) -> !t {
  %keep = arith.constant 0.9 : f32
  %e = tensor.empty() : !t
  %p = resid.linear %x, %w : !t, !t
  %d = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%mask, %p : tensor<6x6xi1>, !t) outs(%e : !t) {
  ^bb0(%a: i1, %c: f32, %out: f32):
    %v = arith.uitofp %a : i1 to f32
    %k = arith.mulf %v, %c : f32
    %q = arith.divf %k, %keep : f32
    linalg.yield %q : f32
  } -> !t
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %s = arith.addf %x, %d : !t
  %l = resid.linear %s, %w : !t, !t -> !h
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %t = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%s, %l : !t, !h) outs(%e : !t) {
  ^bb0(%a: f32, %c: bf16, %out: f32):
    %k = arith.extf %c : bf16 to f32
    %v = arith.addf %a, %k : f32
    linalg.yield %v : f32
  } -> !t
  %m = resid.linear %t, %w : !t, !t -> !h
  %n = arith.extf %m : !h to !t
  // expected-remark @below {{raised (bit-exact): resid.add}}
  %u = arith.addf %n, %t : !t
  return %u : !t
}

// -----

// What a loop carries is a stream. A branch may hold its products in a region.
!t = tensor<6x6xf32>
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for {{.*}} iter_args(%[[H:.*]] = %arg0)
// CHECK: %[[F:.*]] = scf.if
// CHECK: resid.add %[[H]], %[[F]]
func.func @loop(%x: !t, %w: !t, %skip: i1) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x) -> !t {
    %f = scf.if %skip -> !t {
      scf.yield %h : !t
    } else {
      %l = resid.linear %h, %w : !t, !t
      scf.yield %l : !t
    }
    // expected-remark @below {{raised (bit-exact): resid.add}}
    %s = arith.addf %h, %f : !t
    scf.yield %s : !t
  }
  return %y : !t
}

// -----

// No branches: what is computed without a product, or beside one; what a product computes from something else; what a
// product starts from or has as its bias; the stream itself; a scaled sum; the sum with a norm of what the branch reads.
#rows = affine_map<(a, b) -> (a, b)>
!t = tensor<6x6xf32>
// CHECK-LABEL: func.func @others(
// CHECK-NOT: resid.add
// CHECK: return
func.func @others(%x: !t, %y: !t, %w: !t, %c: tensor<6xf32>) -> (!t, !t, !t, !t, !t, !t, !t, !t) {
  %half = arith.constant dense<0.5> : !t
  %e = tensor.empty() : !t
  %m = arith.mulf %x, %half : !t
  %0 = arith.addf %x, %m : !t
  %l = resid.linear %y, %w : !t, !t
  %1 = arith.addf %x, %l : !t
  %2 = arith.addf %x, %x : !t
  %k = resid.linear %x, %w : !t, !t
  %3 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %k : !t, !t) outs(%e : !t) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %h = arith.constant 0.5 : f32
    %d = arith.mulf %b, %h : f32
    %v = arith.addf %a, %d : f32
    linalg.yield %v : f32
  } -> !t
  %g = arith.mulf %m, %l : !t
  %4 = arith.addf %x, %g : !t
  %p = linalg.matmul ins(%y, %w : !t, !t) outs(%x : !t) -> !t
  %5 = arith.addf %x, %p : !t
  %r = tensor.extract_slice %x[0, 0] [1, 6] [1, 1] : !t to tensor<6xf32>
  %q = resid.linear %y, %w bias(%r) : !t, !t, tensor<6xf32>
  %6 = arith.addf %x, %q : !t
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : !t
  %7 = arith.addf %n, %k : !t
  return %0, %1, %2, %3, %4, %5, %6, %7 : !t, !t, !t, !t, !t, !t, !t, !t
}

// -----

// Nor sums of other shapes, places or types: a row that is added to all rows, a branch that is read turned, a stream that is widened, sizes of which one is known; embeddings of tokens
// and positions; two layers of one input.
#rows = affine_map<(a, b) -> (a, b)>
#turned = affine_map<(a, b) -> (b, a)>
#one = affine_map<(a, b) -> (0, b)>
!t = tensor<6x6xf32>
!h = tensor<6x6xbf16>
// CHECK-LABEL: func.func @shapes(
// CHECK-NOT: resid.add
// CHECK: return
func.func @shapes(%x: !t, %row: tensor<1x6xf32>, %w: !t, %n: !h, %tokens: !t, %positions: !t, %dynamic: tensor<?x6xf32>) -> (!t, !t, !t, !t, !t, tensor<?x6xf32>, tensor<?x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %l = resid.linear %row, %w : tensor<1x6xf32>, !t
  %all = linalg.generic {indexing_maps = [#one, #rows], iterator_types = ["parallel", "parallel"]} ins(%l : tensor<1x6xf32>) outs(%e : !t) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> !t
  %0 = linalg.generic {indexing_maps = [#one, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%row, %all : tensor<1x6xf32>, !t) outs(%e : !t) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> !t
  %k = resid.linear %x, %w : !t, !t
  %1 = linalg.generic {indexing_maps = [#rows, #turned, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %k : !t, !t) outs(%e : !t) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> !t
  %m = resid.linear %n, %w : !h, !t -> !t
  %2 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%n, %m : !h, !t) outs(%e : !t) {
  ^bb0(%a: bf16, %b: f32, %out: f32):
    %d = arith.extf %a : bf16 to f32
    %v = arith.addf %d, %b : f32
    linalg.yield %v : f32
  } -> !t
  %3 = arith.addf %tokens, %positions : !t
  %c = resid.linear %x, %w {transposed} : !t, !t
  %4 = arith.addf %k, %c : !t
  %o = tensor.cast %dynamic : tensor<?x6xf32> to !t
  %q = resid.linear %o, %w : !t, !t
  %5 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%dynamic, %q : tensor<?x6xf32>, !t) outs(%dynamic : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x6xf32>
  %6 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %k : !t, !t) outs(%dynamic : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x6xf32>
  return %0, %1, %2, %3, %4, %5, %6 : !t, !t, !t, !t, !t, tensor<?x6xf32>, tensor<?x6xf32>
}
