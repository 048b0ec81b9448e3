// What the caller hints at in its resid_ctx comes before what a kernel guesses by how much it writes.

// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=256 masked-bits=32 x86" -o %t
// RUN: FileCheck %s < %t

// By its size a result is large if it is larger than 8 MiB or a quarter of the last level, and than the second one.
// CHECK-LABEL: func.func private @add.impl(
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK:         call @resid.ask_caches()
// CHECK:         llvm.mlir.addressof @resid.second_cache_bytes
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.load %{{.*}} atomic acquire
// CHECK:         llvm.mlir.addressof @resid.last_cache_bytes
// CHECK-NEXT:    %[[LAST:.*]] = llvm.load %{{.*}} atomic acquire
// CHECK:         %[[SHARE:.*]] = arith.divui %[[LAST]], %c4_i64
// CHECK:         %[[LIMIT:.*]] = arith.minui %[[SHARE]], %c8388608_i64
// CHECK:         %[[ATLEAST:.*]] = arith.maxui %[[LIMIT]], %[[SECOND]]
// CHECK:         %[[LARGE:.*]] = arith.cmpi ugt, %{{.*}}, %[[ATLEAST]]
// The two hints are the low bits of the second member. A NULL context has none; both are as good as none.
// CHECK:         %[[THERE:.*]] = llvm.icmp "ne" %[[CONTEXT]]
// CHECK:         %[[HINTS:.*]] = scf.if %[[THERE]] -> (i32) {
// CHECK-NEXT:      %[[MEMBER:.*]] = llvm.getelementptr %[[CONTEXT]][4]
// CHECK-NEXT:      llvm.load %[[MEMBER]] : !llvm.ptr -> i32
// CHECK:         %[[KNOWN:.*]] = arith.andi %[[HINTS]], %c3_i32{{.*}} : i32
// CHECK:         %[[SOON:.*]] = arith.cmpi eq, %[[KNOWN]], %c1_i32{{.*}} : i32
// CHECK:         %[[NOTSOON:.*]] = arith.xori %[[SOON]], %{{.*}} : i1
// CHECK:         %[[STREAM:.*]] = arith.cmpi eq, %[[KNOWN]], %c2_i32{{.*}} : i32
// CHECK:         %[[BYSIZE:.*]] = arith.andi %[[LARGE]], %[[NOTSOON]]
// CHECK:         arith.ori %[[STREAM]], %[[BYSIZE]]
func.func @add(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>) -> tensor<?x768xf32> {
  %y = resid.add %x, %f : tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// A kernel that writes what the function itself reads again knows better: the first of these two asks for no hint.
// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=256 masked-bits=32 x86 schedule=product-row-blocks=0" -o %t.whole
// RUN: sed -n '/func.func private @between.impl/,/return/p' %t.whole | grep -c '\[4\]' | FileCheck %s --check-prefix=ONE
// ONE: {{^}}1{{$}}
func.func @between(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>, %f: tensor<?x768xf32>) -> tensor<?x768xf32> {
  %h = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x768xf32>
  %m = linalg.matmul ins(%h, %w : tensor<?x768xf32>, tensor<768x768xf32>) outs(%f : tensor<?x768xf32>) -> tensor<?x768xf32>
  %y = resid.rms_norm %m {epsilon = 1.0e-5} : tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// A schedule that says how to store leaves no choice.
// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries \
// RUN:   --resid-lower-kernels="vector-bits=256 masked-bits=32 x86 schedule=stores=nontemporal" | FileCheck %s --check-prefix=FIXED
// FIXED-LABEL: func.func private @add.impl(
// FIXED-NOT:     [4]
// FIXED:         return
