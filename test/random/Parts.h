// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that programs are made of: single ops, branches, sub-layers, stacks and loops, each drawn at random. Where
// their operands come from is the scope's.

#ifndef RESID_TEST_RANDOM_PARTS_H
#define RESID_TEST_RANDOM_PARTS_H

#include "dialect/AddParts.h"
#include "passes/stream/NormParts.h"
#include "test/random/Scope.h"

namespace mlir::resid::random {

/// What the sub-layers of a program have in common; absent: drawn for each.
struct Style {
  std::optional<Placement> placement;
  std::optional<NormKind> kind;
  double dropout = 0.0, gate = 0.0, scales = 0.0, narrow = 0.0, taps = 0.0;
  /// How likely a sub-layer has another placement or norm all the same.
  double odd = 0.07;
  /// Branches are linear functions that weights can be folded into.
  bool isLinear = false;
  /// Nothing but norms reads the stream: the last block is followed by a norm.
  bool hasFinalNorm = false;
  /// The site of the next dropout.
  int64_t site = 0;
};

Style drawStyle(Random &random);

// Clauses (Clauses.cpp).

/// A float type for parameters beside a stream of this type.
Type drawParameterType(Random &random, Type element);
/// A narrower float type than this, or this.
Type drawNarrowerType(Random &random, Type element);
/// A norm of `x`; `parts.x` is not set.
NormParts drawNorm(Scope &scope, const Style &style, const Stream &x);
/// The clauses of an add to the stream, with factors of each form that broadcasts to it.
AddParts drawAddParts(Scope &scope, const Style &style, const Stream &x);

/// The operands and attributes of a dropout; no seed: there is none.
struct DropoutParts {
  Value seed, step;
  DropoutOrigin origin;
  FloatAttr p;
  IntegerAttr site;
};
DropoutParts drawDropout(Scope &scope, Style &style);

// Linear layers (Linear.cpp).

/// A tensor.empty with the sizes of `x`.
Value makeEmptyLike(Scope &scope, const Stream &x);
/// x·W, or x·W + b, from the last dimension of `x` to `out`, in one of the forms that programs write it in.
Stream drawLinear(Scope &scope, const Stream &x, Dim out);

// Branches (Branches.cpp).

/// One to a few ops on `h`: a value of its sizes and element type.
Value drawBranchOps(Scope &scope, Style &style, const Stream &h, unsigned depth);
/// A whole branch from `h` to a value of `result`, through narrower types sometimes.
Value drawBranch(Scope &scope, Style &style, const Stream &h, RankedTensorType result, unsigned depth);

// Sub-layers and what is made of them (Stacks.cpp).

/// A resid.block on `x`, inside of `depth` others.
Stream drawBlock(Scope &scope, Style &style, const Stream &x, unsigned depth = 0);
/// A norm op without statistics.
Stream drawFlatNorm(Scope &scope, const Style &style, const Stream &x);
/// Blocks one after another, perhaps between a first and a final norm; what else the function shall return goes to
/// `taps`.
Stream drawStack(Scope &scope, Style &style, Stream x, int64_t depth, SmallVectorImpl<Value> &taps);
/// A loop over blocks with stacked parameters.
Stream drawLoop(Scope &scope, Style &style, Stream x, SmallVectorImpl<Value> &taps);

// Several streams (Streams.cpp).

/// Copies of `x` as streams, written to by `branch`, which is of the type of x, and perhaps by another branch; mixed,
/// and read as one row again. Their number and weights are drawn.
Stream drawStreams(Scope &scope, Style &style, const Stream &x, Value branch);

// Flat ops (FlatOps.cpp).

/// Ops on values that fan out at random; all results that the function shall return go to `results`.
void drawFlatOps(Scope &scope, Style &style, ArrayRef<Stream> inputs, int64_t count, SmallVectorImpl<Value> &results);

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_PARTS_H
