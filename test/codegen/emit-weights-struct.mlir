// RUN: resid-opt %s --resid-prepare-entries=weights-struct | FileCheck %s --check-prefix=SIGNATURE
// RUN: resid-opt %s --resid-prepare-entries=weights-struct --resid-bufferize --resid-plan-scratch --resid-build-entries | FileCheck %s --check-prefix=ENTRY
// RUN: resid-opt %s --resid-prepare-entries | FileCheck %s --check-prefix=PLAIN --implicit-check-not='weight ='

// Arguments that are weights, or made by @F_prepare, become members of a struct, with their names in checkpoints. An argument
// may have the name that the struct has in C.
// SIGNATURE-LABEL: func.func private @layer.impl(
// SIGNATURE-SAME:    memref<?x4xf32>, %{{[a-z0-9]+}}: memref<4x4xf32>, %{{[a-z0-9]+}}: memref<4xbf16>, %{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: memref<4xf32>, %{{[a-z0-9]+}}: memref<?x4xf32>
// SIGNATURE-SAME:    {name = "x", shape = array<i64: -1, 4>, type = tensor<?x4xf32>},
// SIGNATURE-SAME:    {name = "w", shape = array<i64: 4, 4>, type = tensor<4x4xf32>, weight = "layer.0.w"},
// SIGNATURE-SAME:    {name = "float_", shape = array<i64: 4>, type = tensor<4xbf16>, weight = "float"},
// SIGNATURE-SAME:    {name = "weights", type = f32},
// SIGNATURE-SAME:    {name = "folded", shape = array<i64: 4>, type = tensor<4xf32>, weight = ""}
// SIGNATURE-SAME:    weights = "weights_"

// PLAIN-LABEL: func.func private @layer.impl(
// PLAIN-SAME:    {name = "w", shape = array<i64: 4, 4>, type = tensor<4x4xf32>}

// The struct stands in the place of the first member. It is looked at after the context, and its members are loaded once.
// The number 3583 is reason 13 over the byte of -1.
// ENTRY-LABEL: func.func @layer(
// ENTRY-SAME:    %[[CTX:[a-z0-9]+]]: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[DIM:[a-z0-9]+]]: i64, %[[WEIGHTS:[a-z0-9]+]]: !llvm.ptr, %[[SCALE:[a-z0-9]+]]: f32, %[[OUT:[a-z0-9]+]]: !llvm.ptr) -> i32
// ENTRY:         llvm.store %[[X]], %{{.*}} : !llvm.ptr, !llvm.ptr
// ENTRY:         llvm.store %[[W:[0-9]+]], %{{.*}} : !llvm.ptr, !llvm.ptr
// ENTRY:         llvm.store %[[B:[0-9]+]], %{{.*}} : !llvm.ptr, !llvm.ptr
// ENTRY:         llvm.store %[[FOLDED:[0-9]+]], %{{.*}} : !llvm.ptr, !llvm.ptr
// ENTRY:         llvm.store %[[OUT]], %{{.*}} : !llvm.ptr, !llvm.ptr
// ENTRY:         call @layer.refuse_arrays(%[[CTX]],
// ENTRY:         %[[VERSION:.*]] = llvm.load {{.*}} -> i32
// ENTRY:         llvm.icmp "eq" %[[WEIGHTS]], %{{.*}}
// ENTRY:         call @layer.refuse_value(%[[CTX]], %c3583_i32, %{{.*}})
// ENTRY:         %[[FIRST:.*]] = llvm.getelementptr %[[WEIGHTS]][0]
// ENTRY-NEXT:    %[[W]] = llvm.load %[[FIRST]] : !llvm.ptr -> !llvm.ptr
// ENTRY-NEXT:    %[[SECOND:.*]] = llvm.getelementptr %[[WEIGHTS]][1]
// ENTRY-NEXT:    %[[B]] = llvm.load %[[SECOND]] : !llvm.ptr -> !llvm.ptr
// ENTRY-NEXT:    %[[THIRD:.*]] = llvm.getelementptr %[[WEIGHTS]][2]
// ENTRY-NEXT:    %[[FOLDED]] = llvm.load %[[THIRD]] : !llvm.ptr -> !llvm.ptr
// ENTRY-NOT:     %[[WEIGHTS]]
// ENTRY:         llvm.icmp "eq" %[[W]]
// ENTRY:         llvm.ptrtoint %[[W]]
// ENTRY:         call @layer.impl(%[[CTX]], %[[X]], %[[W]], %[[B]], %[[SCALE]], %[[FOLDED]], %[[OUT]], %[[DIM]]
func.func @layer(%x: tensor<?x4xf32> {resid.name = "x"}, %w: tensor<4x4xf32> {resid.name = "w", resid.weight = "layer.0.w"},
                 %b: tensor<4xbf16> {resid.name = "float", resid.weight}, %s: f32 {resid.name = "weights"},
                 %f: tensor<4xf32> {resid.name = "folded", resid.prepared = 0 : i64}) -> tensor<?x4xf32> {
  %0 = linalg.add ins(%x, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// No member, no struct.
// ENTRY-LABEL: func.func @plain(
// ENTRY-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr) -> i32
// ENTRY-NOT:     4351
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
