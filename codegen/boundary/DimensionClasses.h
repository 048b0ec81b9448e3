// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions of the tensors in a function are equal whenever the function is called rightly, and which follow
// from others. Reads the function's operations, changes nothing.

#ifndef RESID_CODEGEN_BOUNDARY_DIMENSIONCLASSES_H
#define RESID_CODEGEN_BOUNDARY_DIMENSIONCLASSES_H

#include "codegen/boundary/SizeExpression.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mlir::resid::boundary {

/// Classes of equal (tensor, dimension) pairs, from what the operations require and promise of their shapes. Two
/// dimensions in different classes may still be equal.
class DimensionClasses {
public:
  using Dimension = std::pair<Value, int64_t>;
  /// Two sizes that are one: expressions over size parameters, and the operation that says so.
  struct Equality {
    SizeExpr a, b;
    Operation *op;
  };

  explicit DimensionClasses(func::FuncOp function);

  bool areEqual(Value a, int64_t dimensionOfA, Value b, int64_t dimensionOfB);
  /// The static size of some member of the class.
  std::optional<int64_t> getStaticSize(Value value, int64_t dimension);

  /// Finds what follows from the sizes of these dimensions: size i of all expressions is that of parameters[i].
  void resolve(ArrayRef<Dimension> parameters);
  /// The size as an expression; null where it does not follow from the parameters. After resolve().
  SizeExpr getSize(Value value, int64_t dimension);
  /// What must hold beyond the equality of dimensions of one class. After resolve(). Equalities that hold by themselves
  /// are left out; one of two different constants holds never.
  ArrayRef<Equality> getEqualities() const { return equalities; }

private:
  /// The size of a dimension (by node) is this expression, whose sizes are nodes.
  struct Fact {
    unsigned node;
    SizeExpr size;
    Operation *op;
    /// Follows from other facts, and so requires nothing.
    bool isImplied;
  };

  unsigned find(unsigned node);
  unsigned nodeOf(Dimension dimension);
  void unite(Dimension a, Dimension b);
  void uniteShapes(Value a, Value b);
  /// Dimension i of `value` with dimension i + offset of `reference`.
  void uniteAligned(Value value, Value reference, int64_t offset, bool broadcastsOnes = false);
  void uniteWithSize(Dimension dimension, OpFoldResult size);
  void setSize(unsigned node, int64_t size);
  void addFact(Dimension dimension, SizeExpr size, bool isImplied = false);

  /// Sizes as expressions over nodes; null where it is none.
  SizeExpr toExpression(Dimension dimension);
  SizeExpr toExpression(OpFoldResult size, unsigned depth = 0);
  /// Over parameters instead of nodes; null where a node is not resolved.
  SizeExpr substitute(SizeExpr overNodes);

  void visit(Operation *op);
  void visitResidOp(Operation *op);
  void visitDynamicSizes(Value tensor, ValueRange sizes);
  void visitLoop(Operation *op);
  void visitReshape(Value expanded, Value collapsed, ArrayRef<SmallVector<int64_t, 2>> groups);
  void visitShapeOp(Operation *op);
  void visitConcat(Operation *op);
  void visitDivision(Operation *op, Value divisor);

  MLIRContext *context;
  /// The operation that is being visited.
  Operation *current = nullptr;
  SmallVector<Fact> facts;
  /// Over nodes until resolve().
  SmallVector<std::pair<SizeExpr, Operation *>> divisors;
  SmallVector<Equality> equalities;
  /// Per root that is resolved.
  llvm::DenseMap<unsigned, SizeExpr> resolved;
  llvm::DenseMap<Value, SizeExpr> indexExpressions;
  llvm::DenseMap<Dimension, unsigned> nodes;
  SmallVector<unsigned> parents;
  /// Per root: the static size, or -1.
  SmallVector<int64_t> sizes;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_DIMENSIONCLASSES_H
