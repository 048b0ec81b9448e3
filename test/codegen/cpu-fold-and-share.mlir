// What the one walk over lowered kernels folds, inlines and shares, and what it leaves.
// RUN: resid-opt %s --resid-fold-and-share | FileCheck %s

// A loop of one turn is its body, and what follows from the index is folded there; one of no turn is what it starts from.
// CHECK-LABEL: func @turns
// CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[N:.*]]: i64, %[[X:.*]]: f32)
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i64
// CHECK-NOT: arith.constant
// CHECK: memref.store %[[X]], %[[A]][%[[C5]]]
// CHECK-NEXT: scf.for %[[I:.*]] = %[[C1]] to %[[N]] step %[[C1]]
// CHECK-NEXT: arith.index_cast %[[I]]
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: return %[[X]]
func.func @turns(%a: memref<?xf32>, %n: i64, %x: f32) -> f32 {
  %zero = arith.constant 0 : index
  %ten = arith.constant 10 : index
  %step = arith.constant 64 : index
  %same = scf.for %i = %zero to %ten step %step iter_args(%carried = %x) -> f32 {
    %five = arith.constant 5 : index
    %at = arith.addi %i, %five : index
    memref.store %carried, %a[%at] : memref<?xf32>
    scf.yield %carried : f32
  }
  %none = scf.for %i = %ten to %zero step %step iter_args(%carried = %same) -> f32 {
    %next = arith.addf %carried, %carried : f32
    scf.yield %next : f32
  }
  %one = arith.constant 1 : i64
  scf.for %i = %one to %n step %one : i64 {
    %at = arith.index_cast %i : i64 to index
    memref.store %none, %a[%at] : memref<?xf32>
  }
  return %none : f32
}

// Of a known condition one branch is left, and inside of it what is known goes on.
// CHECK-LABEL: func @branches
// CHECK-SAME: (%[[A:.*]]: memref<f32>, %[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT: memref.store %[[Y]], %[[A]][]
// CHECK-NEXT: return %[[Y]]
func.func @branches(%a: memref<f32>, %x: f32, %y: f32) -> f32 {
  %four = arith.constant 4 : i64
  %five = arith.constant 5 : i64
  %less = arith.cmpi slt, %five, %four : i64
  %r = scf.if %less -> f32 {
    memref.store %x, %a[] : memref<f32>
    scf.yield %x : f32
  } else {
    %sum = arith.addi %four, %five : i64
    %isNine = arith.cmpi eq, %sum, %five : i64
    scf.if %isNine {
      memref.store %x, %a[] : memref<f32>
    }
    memref.store %y, %a[] : memref<f32>
    scf.yield %y : f32
  }
  return %r : f32
}

// What was computed before, outside too, is computed once; not what another branch computed, nor what has effects.
// CHECK-LABEL: func @shared
// CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[P:.*]]: !llvm.ptr, %[[X:.*]]: f32, %[[C:.*]]: i1)
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: llvm.store %[[SQUARE]], %[[P]]
// CHECK-NEXT: %[[R:.*]] = scf.if
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SQUARE]], %[[X]]
// CHECK-NEXT: scf.yield %[[SUM]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[OTHER:.*]] = arith.addf %[[SQUARE]], %[[X]]
// CHECK-NEXT: %[[MORE:.*]] = arith.addf %[[OTHER]], %[[SQUARE]]
// CHECK-NEXT: scf.yield %[[MORE]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[LAST:.*]] = arith.addf %[[SQUARE]], %[[X]]
// CHECK-NEXT: llvm.store %[[R]], %[[P]]
// CHECK-NEXT: llvm.store %[[R]], %[[P]]
// CHECK-NEXT: return %[[LAST]]
func.func @shared(%a: memref<?xf32>, %p: !llvm.ptr, %x: f32, %c: i1) -> f32 {
  %square = arith.mulf %x, %x : f32
  llvm.store %square, %p : f32, !llvm.ptr
  %r = scf.if %c -> f32 {
    %again = arith.mulf %x, %x : f32
    %sum = arith.addf %again, %x : f32
    scf.yield %sum : f32
  } else {
    %sum = arith.addf %square, %x : f32
    %more = arith.addf %sum, %square : f32
    %unused = arith.mulf %more, %x : f32
    %unusedToo = arith.mulf %unused, %x : f32
    scf.yield %more : f32
  }
  %last = arith.addf %square, %x : f32
  llvm.store %r, %p : f32, !llvm.ptr
  llvm.store %r, %p : f32, !llvm.ptr
  return %last : f32
}

// Of the blocks of a function only the first comes before all others.
// CHECK-LABEL: func @blocks
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: ^bb1:
// CHECK-NEXT: %[[LEFT:.*]] = arith.mulf %[[SUM]]
// CHECK-NEXT: return %[[LEFT]]
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: %[[RIGHT:.*]] = arith.mulf %[[SUM]]
// CHECK-NEXT: return %[[RIGHT]]
func.func @blocks(%x: f32, %y: f32, %c: i1) -> f32 {
  %sum = arith.addf %x, %y : f32
  cf.cond_br %c, ^left, ^right
^left:
  %again = arith.addf %x, %y : f32
  %a = arith.mulf %again, %sum : f32
  return %a : f32
^right:
  %b = arith.mulf %sum, %sum : f32
  return %b : f32
}
