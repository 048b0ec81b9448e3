// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention and the cache where a size that is open follows from elsewhere, and may not be what the ops want.
//
// The number of heads follows from the mask.
// RUN: resid-run %s --check --entry=masked_heads --arg=f32[1x6x3x4]=random:1 --arg=f32[1x2x5x4]=random:2 --arg=f32[6x1x5]=random:3 | FileCheck %s
// RUN: resid-run %s --check --entry=one_open --arg=f32[1x6x3x4]=random:1 --arg=f32[1x3x5x4]=random:2 | FileCheck %s
// RUN: resid-run %s --check --entry=another_open --arg=f32[1x6x3x4]=random:1 --arg=f32[1x3x5x4]=random:2 | FileCheck %s
// CHECK: {{^}}out0: ok, bit-equal
//
// Six heads are no multiple of four, and nine keys do not fit into eight places: whatever the arguments are, a call is refused.
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --entry=contradiction --arg=f32[1x6x3x4]=1 --arg=f32[1x4x5x4]=1 --arg=f32[6x1x5]=1 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: BAD_SHAPE
// HEADS-SAME: 6
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --entry=too_many --arg=f32[1x2x8x4]=1 --arg=f32[1x2x9x4]=1 --arg=f32[9]=1 --arg=0 2>&1 | FileCheck %s --check-prefix=KEYS
// KEYS: BAD_VALUE
//
// Words of dropout that its generator's counters do not hold are refused by both, and nothing is asked of them where nothing is dropped.
// RUN: for words in "-1 0 0" "4294967296 0 0" "0 -1 0" "0 4294967290 0" "0 0 -4" "0 0 4294967294"; do set -- $words; for backend in reference cpu; do \
// RUN:   %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=$backend --entry=dropped --arg=f32[1x2x5x4]=1 --arg=1 --arg=$1 --arg=$2 --arg=$3 || exit 1; done; done 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WORDS
// WORDS-COUNT-6: {{step|row|site|end of the rows}} of dropout is
// RUN: resid-run %s --check --entry=dropped --arg=f32[1x2x5x4]=random:1 --arg=1 --arg=4294967295 --arg=4294967286 --arg=-3 | FileCheck %s
// RUN: resid-run %s --check --entry=nothing_dropped --arg=f32[1x2x5x4]=random:1 --arg=1 --arg=-1 --arg=-1 --arg=-1 | FileCheck %s
// RUN: resid-opt %s -resid-inference | resid-run - --check --entry=dropped --arg=f32[1x2x5x4]=random:1 --arg=1 --arg=-1 --arg=-1 --arg=-1 | FileCheck %s

// A query or a few, whose keys are read where they lie: chunks of which the last is not whole, heads that are no multiple of a vector.
// RUN: resid-run %s --check --entry=one_query --arg=f32[2x2x1x72]=random:1 --arg=f32[2x2x525x72]=random:2 --arg=f32[2x2x525x72]=random:3 | FileCheck %s
// RUN: resid-run %s --check --entry=few_queries --arg=bf16[1x6x2x88]=random:1 --arg=bf16[1x2x300x88]=random:2 --arg=f16[1x2x300x88]=random:3 --arg=290 | FileCheck %s

func.func @one_query(%q: tensor<2x2x1x72xf32>, %k: tensor<2x2x?x72xf32>, %v: tensor<2x2x?x72xf32>) -> tensor<2x2x1x72xf32> {
  %y = resid.attention %q, %k, %v : tensor<2x2x1x72xf32>, tensor<2x2x?x72xf32>, tensor<2x2x?x72xf32>
  return %y : tensor<2x2x1x72xf32>
}

func.func @few_queries(%q: tensor<1x6x2x88xbf16>, %k: tensor<1x2x300x88xbf16>, %v: tensor<1x2x300x88xf16>, %past: i64) -> tensor<1x6x2x88xbf16> {
  %y = resid.attention %q, %k, %v past(%past) {causal} : tensor<1x6x2x88xbf16>, tensor<1x2x300x88xbf16>, tensor<1x2x300x88xf16>
  return %y : tensor<1x6x2x88xbf16>
}

func.func @masked_heads(%q: tensor<?x?x?x4xf32>, %k: tensor<?x?x?x4xf32>, %mask: tensor<6x1x5xf32>) -> tensor<?x?x?x4xf32> {
  %y = resid.attention %q, %k, %k mask(%mask) : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<6x1x5xf32>
  return %y : tensor<?x?x?x4xf32>
}

func.func @one_open(%q: tensor<?x?x?x4xf32>, %k: tensor<?x3x?x4xf32>) -> tensor<?x?x?x4xf32> {
  %y = resid.attention %q, %k, %k : tensor<?x?x?x4xf32>, tensor<?x3x?x4xf32>, tensor<?x3x?x4xf32>
  return %y : tensor<?x?x?x4xf32>
}

func.func @another_open(%q: tensor<?x6x?x4xf32>, %k: tensor<?x?x?x4xf32>) -> tensor<?x6x?x4xf32> {
  %y = resid.attention %q, %k, %k : tensor<?x6x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>
  return %y : tensor<?x6x?x4xf32>
}

func.func @contradiction(%q: tensor<?x?x?x4xf32>, %k: tensor<?x4x?x4xf32>, %mask: tensor<6x1x5xf32>) -> tensor<?x?x?x4xf32> {
  %y = resid.attention %q, %k, %k mask(%mask) : tensor<?x?x?x4xf32>, tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>, tensor<6x1x5xf32>
  return %y : tensor<?x?x?x4xf32>
}

// The mask says how many keys there are, and they are appended to a cache.
func.func @too_many(%cache: tensor<1x2x8x4xf32>, %x: tensor<1x2x?x4xf32>, %mask: tensor<9xf32>, %past: i64)
    -> (tensor<1x2x8x4xf32>, tensor<1x2x?x4xf32>) {
  %c = resid.append %cache, %x past(%past) : tensor<1x2x8x4xf32>, tensor<1x2x?x4xf32>
  %y = resid.attention %x, %x, %x mask(%mask) : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>, tensor<9xf32>
  return %c, %y : tensor<1x2x8x4xf32>, tensor<1x2x?x4xf32>
}

func.func @dropped(%q: tensor<?x?x?x4xf32>, %seed: i64, %step: i64, %row: i64, %site: i64) -> tensor<?x?x?x4xf32> {
  %y = resid.attention %q, %q, %q dropout(%seed, %step) origin(%row, %site) {p = 0.5, site = 3} : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>
  return %y : tensor<?x?x?x4xf32>
}

func.func @nothing_dropped(%q: tensor<?x?x?x4xf32>, %seed: i64, %step: i64, %row: i64, %site: i64) -> tensor<?x?x?x4xf32> {
  %y = resid.attention %q, %q, %q dropout(%seed, %step) origin(%row, %site) {p = 0.0, site = 3} : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>
  return %y : tensor<?x?x?x4xf32>
}
