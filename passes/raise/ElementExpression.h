// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one element of a tensor is computed from: scalar operations, across linalg ops, tensor-level arith and math ops,
// places, and sums of rows. Looks at the program only.

#ifndef RESID_PASSES_RAISE_ELEMENTEXPRESSION_H
#define RESID_PASSES_RAISE_ELEMENTEXPRESSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>
#include <vector>

namespace mlir::resid {

/// A number. Equal pointers are equal numbers.
struct ElementNode {
  enum Kind {
    Input,    ///< An element of a tensor that nothing elementwise makes, or a scalar.
    Constant, ///< A float constant.
    Operator, ///< The scalar operation `op` on `operands`, or a tensor-level one on their elements.
    Place,    ///< Where the element is: the one result of `map`, of type index.
    RowSum    ///< The sum of `operands.front()` over the last `summed` dimensions.
  };
  Kind kind = Input;
  Type type;
  Operation *op = nullptr;
  SmallVector<const ElementNode *, 3> operands;
  std::optional<APFloat> constant;
  unsigned summed = 0;
  /// The tensor or the scalar of the program that it was made for.
  Value value;
  /// The tensor that it is an element of, if it is one, and the map from the root's dimensions to the tensor's.
  Value tensor;
  AffineMap map;
  /// A tensor of the root's shape whose element it is at the same place, if there is one. It may be a reshape or a copy
  /// of `tensor`.
  Value whole;
};

/// The constant that all elements of `value`, or the scalar itself, are.
std::optional<APFloat> getFloatConstant(Value value);

class ElementExpression {
public:
  /// The element of `root`, a ranked tensor, at any place.
  explicit ElementExpression(Value root);

  const ElementNode *getRoot() const { return root; }
  /// The nodes that are elements of tensors of the root's shape, at the same place, operands before what is computed
  /// from them.
  ArrayRef<const ElementNode *> getTensors() const { return tensors; }
  /// Whether the expression holds an op that `predicate` likes.
  bool contains(function_ref<bool(Operation *)> predicate) const;
  /// Whether it holds a sum over the last `dimensions`.
  bool hasRowSum(unsigned dimensions) const;

private:
  using Key = std::pair<Value, AffineMap>;

  ElementNode *create(ElementNode::Kind kind, Value value, AffineMap map);
  ElementNode *ofTensor(Value tensor, AffineMap map, unsigned depth);
  ElementNode *makeOfTensor(Value tensor, AffineMap map, unsigned depth);
  ElementNode *ofStructured(linalg::LinalgOp op, Value tensor, AffineMap map, unsigned depth);
  ElementNode *ofRowSum(linalg::LinalgOp op, Value tensor, AffineMap map, unsigned depth);
  /// A value of the body of `op`, whose loops are at `loops`.
  ElementNode *ofScalar(linalg::LinalgOp op, Value value, AffineMap loops, unsigned depth);

  /// `map` with a dimension of the root in place of each constant, where tensor and root have one element along it.
  AffineMap nameUnitDimensions(Value tensor, AffineMap map) const;

  RankedTensorType rootType;
  int64_t rank;
  std::vector<std::unique_ptr<ElementNode>> nodes;
  llvm::DenseMap<Key, ElementNode *> known;
  SmallVector<const ElementNode *> tensors;
  const ElementNode *root = nullptr;
};

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_ELEMENTEXPRESSION_H
