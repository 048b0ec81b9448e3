// Loops whose steps are independent and carry floats through loops of their own run as lanes of vectors, in a function
// that tasks share. All other loops stay as they are.
// RUN: resid-opt %s --resid-lower-kernels=vector-bits=256 | FileCheck %s
// RUN: resid-opt %s --resid-spread-temporaries=on-stack=true | FileCheck %s --check-prefix=STACK
// RUN: resid-opt %s --resid-spread-temporaries=on-stack=true --resid-lower-kernels=vector-bits=512 | FileCheck %s --check-prefix=NARROW

// Eight steps at a time; those that the last group lacks are the last step again.
// CHECK-LABEL: func.func private @powers__steps(
// CHECK-SAME:    %[[LOW:[a-z0-9]+]]: i64, %[[HIGH:[a-z0-9]+]]: i64) attributes
// CHECK:         scf.for %[[GROUP:.*]] = %[[LOW]] to %[[HIGH]]
// CHECK-COUNT-8: arith.minsi
// CHECK:         %[[X:.*]] = vector.from_elements {{.*}} : vector<8xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[S:.*]] = %[[X]]) -> (vector<8xf32>)
// CHECK:           arith.mulf %[[S]], %[[X]] : vector<8xf32>
// CHECK-COUNT-8: memref.store
// CHECK-LABEL: func.func private @powers__steps_task(
// CHECK-LABEL: func.func @powers(
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @powers(%context: !llvm.ptr, %x: memref<?x3xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %rows step %c1 {
    %first = memref.load %x[%i, %c2] : memref<?x3xf32>
    %last = scf.for %k = %c0 to %c9 step %c1 iter_args(%s = %first) -> (f32) {
      %p = arith.mulf %s, %first : f32
      scf.yield %p : f32
    }
    memref.store %last, %y[%i] : memref<?xf32>
  }
  return
}

// What a step keeps to itself is on the stack, with the lanes last. Four lanes have room there where sixteen do not.
// CHECK-LABEL: func.func @kept(
// STACK-LABEL: func.func @kept(
// STACK:         memref.alloca() : memref<2000xf32>
// STACK-LABEL: func.func @too_large(
// STACK:         memref.alloc() : memref<6000xf32>
// NARROW-LABEL: func.func private @kept__steps(
// NARROW:         memref.alloca() {alignment = 64 : i64} : memref<2000x4xf32>
// NARROW:         scf.for
// NARROW:           vector.store {{.*}} : memref<2000x4xf32>, vector<4xf32>
func.func @kept(%context: !llvm.ptr, %x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c2000 = arith.constant 2000 : index
  %c1999 = arith.constant 1999 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %own = memref.alloc() : memref<2000xf32>
    %first = memref.load %x[%i] : memref<64xf32>
    %unused = scf.for %k = %c0 to %c2000 step %c1 iter_args(%s = %first) -> (f32) {
      memref.store %s, %own[%k] : memref<2000xf32>
      %p = arith.mulf %s, %first : f32
      scf.yield %p : f32
    }
    %last = scf.for %k = %c0 to %c2000 step %c1 iter_args(%s = %first) -> (f32) {
      %place = arith.subi %c1999, %k : index
      %power = memref.load %own[%place] : memref<2000xf32>
      %sum = arith.addf %s, %power : f32
      scf.yield %sum : f32
    }
    memref.store %last, %y[%i] : memref<64xf32>
  }
  return
}

func.func @too_large(%context: !llvm.ptr, %x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %own = memref.alloc() : memref<6000xf32>
    %first = memref.load %x[%i] : memref<64xf32>
    %last = scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %first) -> (f32) {
      memref.store %s, %own[%k] : memref<6000xf32>
      %p = arith.mulf %s, %first : f32
      scf.yield %p : f32
    }
    memref.store %last, %y[%i] : memref<64xf32>
  }
  return
}

// Steps that read what others write; one that asks for its number; loops that carry integers, or nothing.
// CHECK-LABEL: func.func @dependent(
// CHECK:         scf.for
// CHECK-LABEL: func.func @numbered(
// CHECK:         scf.for
// CHECK-LABEL: func.func @integers(
// CHECK:         scf.for
// CHECK-LABEL: func.func @innermost(
// CHECK:         scf.for
func.func @dependent(%context: !llvm.ptr, %x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %first = memref.load %x[%c0] : memref<64xf32>
    %last = scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %first) -> (f32) {
      %p = arith.mulf %s, %first : f32
      scf.yield %p : f32
    }
    memref.store %last, %x[%i] : memref<64xf32>
  }
  return
}

func.func @numbered(%context: !llvm.ptr, %x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %first = memref.load %x[%i] : memref<64xf32>
    %last = scf.for %k = %c0 to %i step %c1 iter_args(%s = %first) -> (f32) {
      %p = arith.mulf %s, %first : f32
      scf.yield %p : f32
    }
    memref.store %last, %y[%i] : memref<64xf32>
  }
  return
}

func.func @integers(%context: !llvm.ptr, %x: memref<64xi32> {llvm.noalias}, %y: memref<64xi32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %first = memref.load %x[%i] : memref<64xi32>
    %last = scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %first) -> (i32) {
      %p = arith.muli %s, %first : i32
      scf.yield %p : i32
    }
    memref.store %last, %y[%i] : memref<64xi32>
  }
  return
}

func.func @innermost(%context: !llvm.ptr, %x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %first = memref.load %x[%i] : memref<64xf32>
    %p = arith.mulf %first, %first : f32
    memref.store %p, %y[%i] : memref<64xf32>
  }
  return
}
