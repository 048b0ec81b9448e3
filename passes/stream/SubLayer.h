// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the residual sub-layers that flat ops state, and says why others are none. Looks at the program only; rewriting
// is FormBlocks'. One sub-layer for itself is SubLayer.cpp's; which norm between two belongs to which,
// SubLayerChain.cpp's.

#ifndef RESID_PASSES_STREAM_SUBLAYER_H
#define RESID_PASSES_STREAM_SUBLAYER_H

#include "dialect/Placement.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <array>
#include <optional>
#include <string>

namespace mlir::resid {

/// One residual sub-layer in flat ops, all in the block of its add. On several streams, `read` makes the row that the
/// branch reads, and `write` is in the place of the add.
struct SubLayer {
  AddOp add;
  ReadOp read;
  WriteOp write;
  /// The stream is the second operand of the add, which commutes.
  bool isSwapped = false;
  /// On the branch, or null.
  DropoutOp dropout;
  /// By NormPosition; null where there is none.
  std::array<Operation *, 4> norms = {};

  Operation *&getNorm(NormPosition position) { return norms[static_cast<size_t>(position)]; }
  Operation *getNorm(NormPosition position) const { return norms[static_cast<size_t>(position)]; }
  /// The add or the write.
  Operation *getSumOp() const { return write ? WriteOp(write).getOperation() : AddOp(add).getOperation(); }
  Value getSum() const { return getSumOp()->getResult(0); }
  /// Whether there are no norms around the branch, so that there could be one before the sub-layer or after the add.
  bool isBare() const { return !getNorm(NormPosition::BeforeBranch) && !getNorm(NormPosition::AfterBranch); }
  /// The operand of the add that skips the branch, or the row that was read of several streams.
  Value getSkip() const;
  /// The other operand of the add.
  Value getBranch() const;
  /// What the first op of the branch reads: the norm before it, or what skips it.
  Value getBranchInput() const;
  /// What the branch hands to norm, dropout and add.
  Value getBranchOutput() const;
  /// The op after which nothing of the sub-layer stands: its last norm, or the add.
  Operation *getLast() const;
  /// The ops of the branch without norms and dropout of the sub-layer, in the order of the program. Asks the program as
  /// it is now, since what lies in the branch may have become blocks.
  SmallVector<Operation *> getBranchOps() const;
};

/// Why a residual add is no sub-layer that a block can state.
struct SubLayerRefusal {
  Operation *op; ///< the residual add
  std::string reason;
  Operation *other = nullptr; ///< what stands in the way, if it is another op
  std::string otherIs;        ///< what that op is
  bool isSubLayer = true; ///< whether one operand of the add depends on the other: if not, it is a sum like any other
};

/// The sub-layers found so far in one block, in the order of their adds.
struct SubLayers {
  SmallVector<SubLayer> layers;
  /// The norms that they have, each in one of them.
  llvm::DenseSet<Operation *> norms;
  llvm::DenseMap<Operation *, size_t> byAdd;

  /// The sub-layer whose sum `value` is, or null.
  const SubLayer *getBySum(Value value) const;
  /// The sub-layer from whose sum comes what skips the branch of `layer`, itself or its norm, which must be in the same
  /// block; else null.
  const SubLayer *getPrevious(const SubLayer &layer) const;
  /// Whether sub-layers without norms between them lead up to `layer`, so that a norm of its sum is the norm after all
  /// of them. In a loop there is no such norm: it would come after each iteration.
  bool followsRawSums(const SubLayer &layer) const;
};

/// The norm of the add's block that makes what skips the branch, or null.
Operation *getSkipNorm(const SubLayer &layer);

/// The sub-layer that ends in `add`, by its branch and the norms around that; a norm after the add and one whose value
/// skips the branch are left to the chain. `earlier`: the sub-layers with adds before this one.
std::optional<SubLayer> findSubLayer(AddOp add, const SubLayers &earlier, SmallVectorImpl<SubLayerRefusal> &refusals);

/// The same on several streams, that ends in `write`.
std::optional<SubLayer> findSubLayer(WriteOp write, const SubLayers &earlier,
                                     SmallVectorImpl<SubLayerRefusal> &refusals);

/// All sub-layers of a block in the order of their adds; one inside of another's branch stands before that. Refusals
/// are in the order of the program too.
SmallVector<SubLayer> findSubLayers(Block &block, SmallVectorImpl<SubLayerRefusal> &refusals);

/// Reports a refusal at its add.
void reportRefusal(const SubLayerRefusal &refusal, DiagnosticSeverity severity);

/// "expected WHAT 'T' but got 'U'", as diagnostics write types.
std::string describeTypes(StringRef what, Type expected, Type found);

/// Whether a norm's result has the type of what it normalises.
bool keepsType(Operation *norm);

/// Whether somebody reads a norm's statistics, which no block hands out.
bool hasReadStatistics(Operation *norm);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_SUBLAYER_H
