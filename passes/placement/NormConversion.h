// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two ways to give a stack another norm placement: each sub-layer keeps its norm (KeepNorms.cpp), or the norms
// shift by one sub-layer (ShiftNorms.cpp). Both follow from the table of placements. Which stacks there are and what is
// asked for is the pass's affair.

#ifndef RESID_PASSES_PLACEMENT_NORMCONVERSION_H
#define RESID_PASSES_PLACEMENT_NORMCONVERSION_H

#include "passes/Passes.h"
#include "passes/placement/Manifest.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/Stacks.h"

namespace mlir::resid {

/// What is asked for, of one stack.
struct PlacementChange {
  Placement from, to;
  FinalNormSource finalNorm;
};

/// What was done, for the manifest, and in words.
struct ConvertedStack {
  Conversion conversion;
  std::string summary;
};

/// The conversion of one stack. Every stack of a program is prepared before one is applied: what a stack's readers are
/// is said of the program as it was. Errors leave a program that is half converted.
class StackConversion {
public:
  virtual ~StackConversion() = default;
  /// Reports what stands in the way, and sees to those who read the stream between the sub-layers.
  virtual LogicalResult prepare() = 0;
  virtual FailureOr<ConvertedStack> apply() = 0;
};

/// Each sub-layer keeps its norms; they take the positions of the target. Requires the placement `change.from` of every
/// block, and that it has a norm.
std::unique_ptr<StackConversion> createKeepNorms(func::FuncOp function, const Stack &stack,
                                                 const PlacementChange &change);

/// Whether norms can shift between the placements: one has a norm after the add, the other one before the branch.
bool canShiftNorms(Placement from, Placement to);

/// What shifting keeps. Requires canShiftNorms.
RewriteClass getShiftClass(Placement from, Placement to);

/// From a norm after the add, each norm moves to the next sub-layer, the last one becomes the final norm; back
/// likewise. Where that leaves a sub-layer without a norm its placement is `none`. Requires canShiftNorms, and that
/// every block has the placement `change.from`, or `none` where shifting leaves it: the first one where the norm is
/// before the branch, the last one where it is after the add and shifting is bit-exact.
std::unique_ptr<StackConversion> createShiftNorms(func::FuncOp function, const Stack &stack,
                                                  const PlacementChange &change);

/// Appends what becomes of the parameters of a norm.
void recordNorm(Conversion &conversion, const NormParts &norm, ParameterAction action, StringRef from, StringRef to);

/// "norm i", as the manifest counts: by the places for norms, in the order of the stream.
std::string getNormName(size_t block, Placement placement, size_t position = 0);

constexpr StringLiteral kFinalNorm = "final norm";
constexpr StringLiteral kEntryNorm = "entry norm";

/// Whether sub-layers that are no part of the stack read the stream's end as theirs: the stream forks and goes on.
bool goesOn(const Stack &stack);

/// Reports whoever reads the stream and would find another meaning in it: readers between the sub-layers, and
/// sub-layers after a fork.
LogicalResult refuseReaders(const Stack &stack, const PlacementChange &change);

/// Reports a norm of the stream's end that has other readers beside it: it cannot be told whether it is the final norm.
LogicalResult refuseSharedEnd(const Stack &stack);

/// Whether `norm` can go away for a value of the type of its operand: its result has that type, and its statistics have
/// no reader.
bool isPlainNorm(Operation *norm);

/// Makes a norm of `stream` before `place`, which every reader of `stream` reads instead.
void normalizeForReaders(Value stream, const NormParts &norm, Operation *place, Location loc);

} // namespace mlir::resid

#endif // RESID_PASSES_PLACEMENT_NORMCONVERSION_H
