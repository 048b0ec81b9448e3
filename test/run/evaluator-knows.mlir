// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that are compiled beside those of layers: the evaluator knows each. A unit test (ReferenceKnownOps.cpp) reads which
// ones stand here.
// REQUIRES: resid-run
// RUN: resid-run %s --check --entry=indices --arg=f32[2x3]=1 | FileCheck %s --check-prefix=INDICES
// RUN: resid-run %s --check --entry=regions --arg=f32[8]=random:1 --arg=3 --arg=2 | FileCheck %s --check-prefix=REGIONS
// RUN: resid-run %s --check --entry=elements --arg=f32[6]=-2.5,-0.5,0,1,2,7 --arg=i32[6]=-7,2147483647,5,-1,8,0 --arg=i32[6]=3,2,-5,-1,8,1 --arg=f32[6]=0.5 | FileCheck %s --check-prefix=ELEMENTS
// RUN: resid-run %s --check --entry=functions --arg=f32[3]=0.25,0.5,0.75 | FileCheck %s --check-prefix=FUNCTIONS
// RUN: resid-run %s --check --entry=integers --arg=i32[6]=-7,2147483647,5,-1,8,0 --arg=f32[6]=-2.5,-0.5,0,1,2,7 | FileCheck %s --check-prefix=INTEGERS
// FUNCTIONS-COUNT-22: ok
// INTEGERS-COUNT-5: ok, bit-equal
// INDICES-COUNT-4: ok, bit-equal
// REGIONS-COUNT-5: ok
// ELEMENTS-COUNT-8: ok

// Each element of the first result adds up what the ops of index make of its number.
func.func @indices(%x: tensor<?x?xf32>) -> (tensor<9xindex>, tensor<12xindex>, tensor<6xindex>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = index.constant 4
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %0 = tensor.generate {
  ^bb0(%i: index):
    %k = index.constant 3
    %less = index.sub %i, %c4
    %add = index.add %less, %k
    %sub = index.sub %less, %k
    %mul = index.mul %less, %k
    %divs = index.divs %less, %k
    %divu = index.divu %less, %k
    %ceildivs = index.ceildivs %less, %k
    %ceildivu = index.ceildivu %less, %k
    %floordivs = index.floordivs %less, %k
    %rems = index.rems %less, %k
    %remu = index.remu %less, %k
    %maxs = index.maxs %less, %k
    %maxu = index.maxu %less, %k
    %mins = index.mins %less, %k
    %minu = index.minu %less, %k
    %and = index.and %less, %k
    %or = index.or %less, %k
    %xor = index.xor %less, %k
    %shl = index.shl %i, %k
    %shrs = index.shrs %i, %k
    %shru = index.shru %i, %k
    %truth = index.bool.constant true
    %isless = index.cmp slt(%less, %k)
    %isabove = index.cmp ugt(%less, %k)
    %both = arith.xori %isless, %isabove : i1
    %chosen = arith.select %both, %i, %k : index
    %other = arith.select %truth, %chosen, %k : index
    %wide = index.casts %less : index to i64
    %back = index.castu %wide : i64 to index
    %bits = index.sizeof
    %rank = tensor.rank %x : tensor<?x?xf32>
    %size = tensor.dim %x, %c0 : tensor<?x?xf32>
    %scaled0 = arith.muli %c0, %k : index
    %sum0 = arith.addi %scaled0, %add : index
    %scaled1 = arith.muli %sum0, %k : index
    %sum1 = arith.addi %scaled1, %sub : index
    %scaled2 = arith.muli %sum1, %k : index
    %sum2 = arith.addi %scaled2, %mul : index
    %scaled3 = arith.muli %sum2, %k : index
    %sum3 = arith.addi %scaled3, %divs : index
    %scaled4 = arith.muli %sum3, %k : index
    %sum4 = arith.addi %scaled4, %divu : index
    %scaled5 = arith.muli %sum4, %k : index
    %sum5 = arith.addi %scaled5, %ceildivs : index
    %scaled6 = arith.muli %sum5, %k : index
    %sum6 = arith.addi %scaled6, %ceildivu : index
    %scaled7 = arith.muli %sum6, %k : index
    %sum7 = arith.addi %scaled7, %floordivs : index
    %scaled8 = arith.muli %sum7, %k : index
    %sum8 = arith.addi %scaled8, %rems : index
    %scaled9 = arith.muli %sum8, %k : index
    %sum9 = arith.addi %scaled9, %remu : index
    %scaled10 = arith.muli %sum9, %k : index
    %sum10 = arith.addi %scaled10, %maxs : index
    %scaled11 = arith.muli %sum10, %k : index
    %sum11 = arith.addi %scaled11, %maxu : index
    %scaled12 = arith.muli %sum11, %k : index
    %sum12 = arith.addi %scaled12, %mins : index
    %scaled13 = arith.muli %sum12, %k : index
    %sum13 = arith.addi %scaled13, %minu : index
    %scaled14 = arith.muli %sum13, %k : index
    %sum14 = arith.addi %scaled14, %and : index
    %scaled15 = arith.muli %sum14, %k : index
    %sum15 = arith.addi %scaled15, %or : index
    %scaled16 = arith.muli %sum15, %k : index
    %sum16 = arith.addi %scaled16, %xor : index
    %scaled17 = arith.muli %sum16, %k : index
    %sum17 = arith.addi %scaled17, %shl : index
    %scaled18 = arith.muli %sum17, %k : index
    %sum18 = arith.addi %scaled18, %shrs : index
    %scaled19 = arith.muli %sum18, %k : index
    %sum19 = arith.addi %scaled19, %shru : index
    %scaled20 = arith.muli %sum19, %k : index
    %sum20 = arith.addi %scaled20, %other : index
    %scaled21 = arith.muli %sum20, %k : index
    %sum21 = arith.addi %scaled21, %back : index
    %scaled22 = arith.muli %sum21, %k : index
    %sum22 = arith.addi %scaled22, %bits : index
    %scaled23 = arith.muli %sum22, %k : index
    %sum23 = arith.addi %scaled23, %rank : index
    %scaled24 = arith.muli %sum23, %k : index
    %sum24 = arith.addi %scaled24, %size : index
    tensor.yield %sum24 : index
  } : tensor<9xindex>
  %1 = tensor.generate {
  ^bb0(%i: index):
    %a = affine.apply affine_map<(d0)[s0] -> ((d0 - 5) mod 4 + s0 ceildiv 2 - (d0 - 5) floordiv 3)>(%i)[%rows]
    %b = affine.min affine_map<(d0)[s0] -> (d0, s0, 7)>(%a)[%rows]
    %c = affine.max affine_map<(d0) -> (d0 - 9, -2)>(%i)
    %q, %r = affine.delinearize_index %i into (4, 3) : index, index
    %l = affine.linearize_index [%r, %q] by (3, 4) : index
    %d = arith.muli %b, %c : index
    %e = arith.addi %d, %l : index
    tensor.yield %e : index
  } : tensor<12xindex>
  %p = affine.apply affine_map<()[s0] -> (s0 * 3)>()[%rows]
  %m = affine.min affine_map<()[s0, s1] -> (s0, s1)>()[%p, %c4]
  %2 = tensor.splat %m : tensor<6xindex>
  %z = arith.constant 0.5 : f32
  %3 = tensor.splat %z[%m] : tensor<?xf32>
  return %0, %1, %2, %3 : tensor<9xindex>, tensor<12xindex>, tensor<6xindex>, tensor<?xf32>
}

func.func @regions(%x: tensor<8xf32>, %n: index, %turns: index)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %0 = scf.index_switch %n -> tensor<8xf32>
  case 1 {
    scf.yield %x : tensor<8xf32>
  }
  case 3 {
    %a = arith.addf %x, %x : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  default {
    %a = arith.mulf %x, %x : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  %e = tensor.empty() : tensor<8xf32>
  %1 = scf.forall (%i) in (4) shared_outs(%o = %e) -> tensor<8xf32> {
    %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %s = tensor.extract_slice %x[%j] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %t = arith.addf %s, %s : tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%j] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  %2 = scf.execute_region -> tensor<8xf32> {
    %a = arith.addf %1, %x : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  %sum = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %v = tensor.extract %x[%i] : tensor<8xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }
  %3 = tensor.splat %sum : tensor<8xf32>
  %4 = tensor.generate {
  ^bb0(%i: index):
    %a = scf.for %j = %c0 to %i step %turns iter_args(%b = %c1) -> index {
      %c = arith.addi %b, %j : index
      scf.yield %c : index
    }
    %s = scf.index_switch %i -> index
    case 2 {
      scf.yield %c8 : index
    }
    default {
      %r = scf.execute_region -> index {
        scf.yield %a : index
      }
      scf.yield %r : index
    }
    tensor.yield %s : index
  } : tensor<8xindex>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xindex>
}

func.func @elements(%x: tensor<6xf32>, %a: tensor<6xi32>, %b: tensor<6xi32>, %d: tensor<6xf32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi1>, tensor<6xi32>, tensor<6xi32>, tensor<6xf32>, tensor<6xf32>) {
  %low = arith.constant dense<-1.0> : tensor<6xf32>
  %high = arith.constant dense<1.5> : tensor<6xf32>
  %0 = math.clampf %x to [%low, %high] : tensor<6xf32>
  %copy = bufferization.alloc_tensor() copy(%x) : tensor<6xf32>
  %1 = arith.addf %copy, %x : tensor<6xf32>
  bufferization.dealloc_tensor %copy : tensor<6xf32>
  %2, %3 = arith.addui_extended %a, %b : tensor<6xi32>, tensor<6xi1>
  %s0, %4 = arith.mulsi_extended %a, %b : tensor<6xi32>
  %u0, %5 = arith.mului_extended %a, %b : tensor<6xi32>
  %6 = bufferization.materialize_in_destination %1 in %d : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %e = tensor.empty() : tensor<6xf32>
  %7 = bufferization.materialize_in_destination %0 in %e : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi1>, tensor<6xi32>, tensor<6xi32>, tensor<6xf32>, tensor<6xf32>
}

func.func @functions(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = math.tan %x : tensor<3xf32>
  %1 = math.sqrt %x : tensor<3xf32>
  %2 = math.sinh %x : tensor<3xf32>
  %3 = math.rsqrt %x : tensor<3xf32>
  %4 = math.log %x : tensor<3xf32>
  %5 = math.log2 %x : tensor<3xf32>
  %6 = math.log1p %x : tensor<3xf32>
  %7 = math.log10 %x : tensor<3xf32>
  %8 = math.expm1 %x : tensor<3xf32>
  %9 = math.exp2 %x : tensor<3xf32>
  %10 = math.erfc %x : tensor<3xf32>
  %11 = math.erf %x : tensor<3xf32>
  %12 = math.cosh %x : tensor<3xf32>
  %13 = math.cbrt %x : tensor<3xf32>
  %14 = math.atanh %x : tensor<3xf32>
  %15 = math.atan %x : tensor<3xf32>
  %16 = math.asinh %x : tensor<3xf32>
  %17 = math.asin %x : tensor<3xf32>
  %18 = math.acos %x : tensor<3xf32>
  %one = arith.constant dense<1.5> : tensor<3xf32>
  %19 = math.acosh %one : tensor<3xf32>
  %20 = math.powf %x, %x : tensor<3xf32>
  %21 = math.atan2 %x, %one : tensor<3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

func.func private @double(%x: tensor<6xi32>) -> tensor<6xi32> {
  %y = arith.addi %x, %x : tensor<6xi32>
  return %y : tensor<6xi32>
}

func.func @integers(%a: tensor<6xi32>, %x: tensor<6xf32>) -> (tensor<6xi32>, tensor<6xi64>, tensor<6xi1>, tensor<6xi1>, tensor<6xindex>) {
  %two = arith.constant dense<2> : tensor<6xi32>
  %c0 = arith.constant 0 : index
  %0 = arith.shli %a, %two : tensor<6xi32>
  %1 = arith.shrsi %0, %two : tensor<6xi32>
  %2 = arith.shrui %1, %two : tensor<6xi32>
  %3 = arith.ori %2, %a : tensor<6xi32>
  %4 = arith.andi %3, %0 : tensor<6xi32>
  %5 = arith.minsi %4, %a : tensor<6xi32>
  %6 = arith.maxsi %5, %2 : tensor<6xi32>
  %7 = arith.minui %6, %3 : tensor<6xi32>
  %8 = arith.maxui %7, %1 : tensor<6xi32>
  %9 = math.absi %8 : tensor<6xi32>
  %10 = func.call @double(%9) : (tensor<6xi32>) -> tensor<6xi32>
  %11 = arith.bitcast %x : tensor<6xf32> to tensor<6xi32>
  %12 = arith.xori %10, %11 : tensor<6xi32>
  %first = tensor.extract %a[%c0] : tensor<6xi32>
  %13 = tensor.insert %first into %12[%c0] : tensor<6xi32>
  %14 = arith.extui %13 : tensor<6xi32> to tensor<6xi64>
  %15 = math.isnan %x : tensor<6xf32>
  %16 = math.isfinite %x : tensor<6xf32>
  %17 = arith.index_castui %13 : tensor<6xi32> to tensor<6xindex>
  return %13, %14, %15, %16, %17 : tensor<6xi32>, tensor<6xi64>, tensor<6xi1>, tensor<6xi1>, tensor<6xindex>
}
