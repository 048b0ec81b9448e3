// Results are computed in the destinations themselves; what is only between two operations needs one buffer.
// RUN: resid-opt %s --resid-bufferize | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>

// CHECK-LABEL: func.func private @twice.impl(
// CHECK-SAME:      %[[X:.*]]: memref<?x?xf32>, %[[OUT:.*]]: memref<?x?xf32>)
// CHECK-NOT:     memref.copy
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<?x?xf32>) outs(%[[OUT]] : memref<?x?xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func private @twice.impl(%x: memref<?x?xf32>, %out: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = bufferization.to_tensor %x restrict : memref<?x?xf32> to tensor<?x?xf32>
  %rows = tensor.dim %t, %c0 : tensor<?x?xf32>
  %cols = tensor.dim %t, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%rows, %cols) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}

// A temporary of an iteration is made in it: then it is known to live no longer. Its place is found once, before the function
// runs (emit-plan-scratch.mlir).
// CHECK-LABEL: func.func private @loop.impl(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc
// CHECK-NEXT:      linalg.fill
// CHECK:         return
func.func private @loop.impl(%x: memref<4x8xf32>, %w: memref<8x8xf32>, %n: index, %out: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x restrict : memref<4x8xf32> to tensor<4x8xf32>
  %m = bufferization.to_tensor %w restrict : memref<8x8xf32> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> tensor<4x8xf32> {
    %e = tensor.empty() : tensor<4x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %p = linalg.matmul ins(%a, %m : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
    %s = linalg.add ins(%a, %p : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %s : tensor<4x8xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<4x8xf32>, memref<4x8xf32>) -> ()
  return
}

// Large constants of one value are filled in where they belong, and read as a scalar; small ones are stored.
// CHECK-LABEL: func.func private @splats.impl(
// CHECK-SAME:      %{{.*}}: memref<64x64xf32>, %[[OUT:.*]]: memref<64x64xf32>, %[[OUT1:.*]]: memref<64x64xf32>, %{{.*}}: memref<2xf32>)
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     get_global @__constant_64x64xf32
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : memref<64x64xf32>) outs(%[[OUT1]] : memref<64x64xf32>)
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%[[OUT]] : memref<64x64xf32>)
// CHECK:         memref.copy
// CHECK:         return
func.func private @splats.impl(%x: memref<64x64xf32>, %out: memref<64x64xf32>, %out1: memref<64x64xf32>, %out2: memref<2xf32>) {
  %c = arith.constant dense<1.5> : tensor<64x64xf32>
  %small = arith.constant dense<1.5> : tensor<2xf32>
  %t = bufferization.to_tensor %x restrict : memref<64x64xf32> to tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.mul ins(%t, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  bufferization.materialize_in_destination %c in restrict writable %out : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  bufferization.materialize_in_destination %y in restrict writable %out1 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  bufferization.materialize_in_destination %small in restrict writable %out2 : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}

// What one op writes is no memory of another one, though both begin with the same tensor without contents; and zeros are made
// where they are read.
// CHECK-LABEL: func.func private @starts.impl(
// CHECK:         %[[FIRST:.*]] = memref.alloc
// CHECK-NEXT:    linalg.exp {{.*}} outs(%[[FIRST]] :
// CHECK-NEXT:    %[[SECOND:.*]] = memref.alloc
// CHECK-NEXT:    linalg.fill {{.*}} outs(%[[SECOND]] :
// CHECK-NEXT:    linalg.matmul {{.*}} outs(%[[SECOND]] :
// CHECK-NEXT:    %[[THIRD:.*]] = memref.alloc
// CHECK-NEXT:    linalg.exp {{.*}} outs(%[[THIRD]] :
// CHECK:         linalg.fill {{.*}} outs(%[[OUT:.*]] :
// CHECK-NEXT:    linalg.matmul {{.*}} outs(%[[OUT]] :
func.func private @starts.impl(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %out: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x restrict : memref<8x8xf32> to tensor<8x8xf32>
  %m = bufferization.to_tensor %w restrict : memref<8x8xf32> to tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = linalg.exp ins(%t : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.matmul ins(%a, %m : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = linalg.exp ins(%b : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = linalg.matmul ins(%c, %m : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  bufferization.materialize_in_destination %d in restrict writable %out : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}
