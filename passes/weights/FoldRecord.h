// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the folds of one function write into the manifest. What the manifest is stands in Manifest.h.

#ifndef RESID_PASSES_WEIGHTS_FOLDRECORD_H
#define RESID_PASSES_WEIGHTS_FOLDRECORD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/placement/Manifest.h"
#include "passes/stream/NormSites.h"

namespace mlir::resid {

/// The parameters that one pass folds in one function. Norms are numbered through the function, as they stand in it
/// before the pass; the placement is that of the blocks, if there is one alone.
class FoldRecord {
public:
  explicit FoldRecord(func::FuncOp function);

  /// A parameter that `norm` had before the fold, and still has as another number if it stays there. Null passes.
  void addNormParameter(const NormSite &norm, Value parameter, bool staysInNorm);
  /// A parameter of no norm. Null passes.
  void addParameter(Value parameter);
  /// Appends the record to the module's manifest, if anything was folded.
  void finish();

private:
  std::string getNormName(const NormSite &norm) const;

  func::FuncOp function;
  Conversion conversion;
  /// The first number of the norms of an op.
  DenseMap<Operation *, size_t> numbers;
};

} // namespace mlir::resid

#endif // RESID_PASSES_WEIGHTS_FOLDRECORD_H
