// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A window of attention has the bits of the boolean mask that says the same. A window over all keys has those of none, and one of a single key
// gives its value. There are several blocks of queries and chunks of keys.
// RUN: rm -rf %t && mkdir %t && cd %t && for entry in causal both all one; do \
// RUN:   resid-run %s --entry=$entry --arg=f32[1x4x640x24]=random:1 --arg=f32[1x2x640x24]=random:2 --arg=f32[1x2x640x24]=random:3 --threads=5 \
// RUN:     --out=y.npy --out=z.npy && cmp y.npy z.npy || exit 1; done

!q = tensor<1x4x?x24xf32>
!k = tensor<1x2x?x24xf32>

func.func @causal(%q: !q, %k: !k, %v: !k) -> (!q, !q) {
  %mask = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c290 = arith.constant 290 : index
    %end = arith.addi %j, %c290 : index
    %near = arith.cmpi slt, %i, %end : index
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %near, %before : i1
    tensor.yield %seen : i1
  } : tensor<640x640xi1>
  %y = resid.attention %q, %k, %v {causal, window = 290} : !q, !k, !k
  %z = resid.attention %q, %k, %v mask(%mask) : !q, !k, !k, tensor<640x640xi1>
  return %y, %z : !q, !q
}

func.func @both(%q: !q, %k: !k, %v: !k) -> (!q, !q) {
  %mask = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c40 = arith.constant 40 : index
    %end = arith.addi %j, %c40 : index
    %near = arith.cmpi slt, %i, %end : index
    %next = arith.addi %i, %c40 : index
    %before = arith.cmpi slt, %j, %next : index
    %seen = arith.andi %near, %before : i1
    tensor.yield %seen : i1
  } : tensor<640x640xi1>
  %y = resid.attention %q, %k, %v {window = 40} : !q, !k, !k
  %z = resid.attention %q, %k, %v mask(%mask) : !q, !k, !k, tensor<640x640xi1>
  return %y, %z : !q, !q
}

func.func @all(%q: !q, %k: !k, %v: !k) -> (!q, !q) {
  %y = resid.attention %q, %k, %v {window = 640} : !q, !k, !k
  %z = resid.attention %q, %k, %v : !q, !k, !k
  return %y, %z : !q, !q
}

func.func @one(%q: !q, %k: !k, %v: !k) -> (!k, !k) {
  %y = resid.attention %k, %k, %v {window = 1} : !k, !k, !k
  return %y, %v : !k, !k
}
