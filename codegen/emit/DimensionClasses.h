// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions of the tensors in a function are equal whenever the function is called rightly. Reads the function's
// operations, changes nothing.

#ifndef RESID_CODEGEN_EMIT_DIMENSIONCLASSES_H
#define RESID_CODEGEN_EMIT_DIMENSIONCLASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mlir::resid::emit {

/// Classes of equal (tensor, dimension) pairs, from what the operations require and promise of their shapes. Two
/// dimensions in different classes may still be equal.
class DimensionClasses {
public:
  explicit DimensionClasses(func::FuncOp function);

  bool areEqual(Value a, int64_t dimensionOfA, Value b, int64_t dimensionOfB);
  /// The static size of some member of the class.
  std::optional<int64_t> getStaticSize(Value value, int64_t dimension);

private:
  using Dimension = std::pair<Value, int64_t>;

  unsigned find(unsigned node);
  unsigned nodeOf(Dimension dimension);
  void unite(Dimension a, Dimension b);
  void uniteShapes(Value a, Value b);
  /// Dimension i of `value` with dimension i + offset of `reference`.
  void uniteAligned(Value value, Value reference, int64_t offset, bool broadcastsOnes = false);
  void uniteWithSize(Dimension dimension, OpFoldResult size);

  void visit(Operation *op);
  void visitResidOp(Operation *op);
  void visitDynamicSizes(Value tensor, ValueRange sizes);
  void visitLoop(Operation *op);
  void visitReshape(Value expanded, Value collapsed, ArrayRef<SmallVector<int64_t, 2>> groups);

  llvm::DenseMap<Dimension, unsigned> nodes;
  SmallVector<unsigned> parents;
  /// Per root: the static size, or -1.
  SmallVector<int64_t> sizes;
};

} // namespace mlir::resid::emit

#endif // RESID_CODEGEN_EMIT_DIMENSIONCLASSES_H
