// A tensor that a loop carries stays in one buffer, and a kernel writes its rows over those it has read.
// RUN: resid-opt --resid-carry-loop-tensors %s | FileCheck %s --check-prefix=TENSORS
// RUN: resid-opt --resid-row-kernels --resid-bufferize %s | FileCheck %s

// TENSORS-LABEL: @layers
// TENSORS: scf.for {{.+}} iter_args(%[[H:.+]] = %{{.+}})
// TENSORS: %[[Y:.+]] = resid.rms_norm
// TENSORS: %[[NEXT:.+]] = bufferization.materialize_in_destination %[[Y]] in %[[H]]
// TENSORS: scf.yield %[[NEXT]]

// CHECK-LABEL: @layers
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK-NOT: memref.copy
// CHECK: rows.kernel {{.+}} ins(%[[H:.+]] : memref<?x8xf32>) outs(%[[H]] : memref<?x8xf32>)
// CHECK-NOT: memref.copy
// CHECK: memref.copy %[[H]]
// CHECK-NOT: memref.copy
func.func private @layers(%xm: memref<?x8xf32>, %n: index, %om: memref<?x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<?x8xf32> to tensor<?x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<?x8xf32> {
    %y = resid.rms_norm %h {epsilon = 1.0e-5} : tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %om : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// The old value is needed after the norm is made, so the norm gets a buffer of its own. It is also a factor of the
// product, which adds it at last and so cannot be written over it.
// CHECK-LABEL: @old_value_needed
// CHECK: memref.copy %arg0, %[[H:.+]] :
// CHECK: scf.for
// CHECK-NOT: memref.copy
// CHECK: rows.kernel {{.+}} ins(%[[H]] : memref<8x8xf32>) outs(%[[Y:.+]] : memref<8x8xf32>)
// CHECK: contraction.kernel a(%[[H]] : memref<8x8xf32>) b(%[[Y]] : memref<8x8xf32>) {{.+}} ins(%[[H]] : {{.+}} outs(%[[M:.+]] : memref<8x8xf32>)
// CHECK: memref.copy %[[M]], %[[H]]
// CHECK-NOT: memref.copy
// CHECK: memref.copy %[[H]], %arg2
func.func private @old_value_needed(%xm: memref<8x8xf32>, %n: index, %om: memref<8x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<8x8xf32> to tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<8x8xf32> {
    %y = resid.rms_norm %h {epsilon = 1.0e-5} : tensor<8x8xf32>
    %e = tensor.empty() : tensor<8x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %m = linalg.matmul ins(%h, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %s = resid.add %h, %m : tensor<8x8xf32>
    scf.yield %s : tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %om : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// What an inner loop carries on is in the buffer already.
// TENSORS-LABEL: @inner_loop
// TENSORS: materialize_in_destination
// TENSORS: scf.yield
// TENSORS-NOT: materialize_in_destination
// TENSORS: scf.yield

// CHECK-LABEL: @inner_loop
// CHECK: memref.copy %arg0, %[[H:.+]] :
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: memref.copy
// CHECK: rows.kernel {{.+}} ins(%[[H]] : memref<8x8xf32>) outs(%[[H]] : memref<8x8xf32>)
// CHECK-NOT: memref.copy
// CHECK: memref.copy %[[H]], %arg2
func.func private @inner_loop(%xm: memref<8x8xf32>, %n: index, %om: memref<8x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<8x8xf32> to tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<8x8xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%k = %h) -> tensor<8x8xf32> {
      %y = resid.rms_norm %k {epsilon = 1.0e-5} : tensor<8x8xf32>
      scf.yield %y : tensor<8x8xf32>
    }
    scf.yield %s : tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %om : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// Where tensors change places, one old value is kept.
// TENSORS-LABEL: @swap
// TENSORS: scf.for {{.+}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}})
// TENSORS-NEXT: %[[OLD:.+]] = bufferization.alloc_tensor(){{.*}} copy(%[[A]])
// TENSORS-NEXT: %[[FIRST:.+]] = bufferization.materialize_in_destination %[[B]] in %[[A]]
// TENSORS-NEXT: %[[SECOND:.+]] = bufferization.materialize_in_destination %[[OLD]] in %[[B]]
// TENSORS-NEXT: scf.yield %[[FIRST]], %[[SECOND]]
// CHECK-LABEL: @swap
func.func private @swap(%xm: memref<8x8xf32>, %n: index, %om: memref<8x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<8x8xf32> to tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<8x8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    scf.yield %b, %a : tensor<8x8xf32>, tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %om : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// The later of two tensors is written first, and no value is kept.
// TENSORS-LABEL: @follow
// TENSORS: scf.for {{.+}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}})
// TENSORS-NEXT: %[[Y:.+]] = resid.add
// TENSORS-NEXT: %[[SECOND:.+]] = bufferization.materialize_in_destination %[[A]] in %[[B]]
// TENSORS-NEXT: %[[FIRST:.+]] = bufferization.materialize_in_destination %[[Y]] in %[[A]]
// TENSORS-NEXT: scf.yield %[[FIRST]], %[[SECOND]]
// CHECK-LABEL: @follow
func.func private @follow(%xm: memref<8x8xf32>, %n: index, %om: memref<8x8xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<8x8xf32> to tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<8x8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %z) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %y = resid.add %a, %b : tensor<8x8xf32>
    scf.yield %y, %a : tensor<8x8xf32>, tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %om : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}
