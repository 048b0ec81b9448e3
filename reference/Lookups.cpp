// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.gather and tensor.scatter: slices of a table by tuples of indices. Computes nothing.

#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// Where slices are in a table, and in the array that has one slice per tuple of indices.
struct SliceWalk {
  /// The slice's sizes: 1 in the dimensions that are indexed.
  SmallVector<int64_t> sizes;
  ArrayRef<int64_t> indexed;
  int64_t tuples = 1, elements = 1;

  SliceWalk(const Array &table, ArrayRef<int64_t> indexed, const Array &indices)
      : sizes(table.getShape()), indexed(indexed) {
    for (int64_t dimension : indexed)
      sizes[dimension] = 1;
    for (int64_t size : sizes)
      elements *= size;
    for (int64_t size : indices.getShape().drop_back())
      tuples *= size;
  }
};

} // namespace

/// The position in the table of the first element of the slice that tuple number `tuple` names.
static FailureOr<int64_t> findSlice(Operation *op, const Array &table, const SliceWalk &walk, const Array &indices,
                                    int64_t tuple) {
  int64_t position = 0;
  for (auto [column, dimension] : llvm::enumerate(walk.indexed)) {
    int64_t index = indices.integers()[tuple * walk.indexed.size() + column], size = table.getShape()[dimension];
    if (index < 0 || index >= size)
      return op->emitOpError() << "expected an index below " << size << " in dimension " << dimension << " but got "
                               << index;
    position += index * table.getStrides()[dimension];
  }
  return position;
}

/// Calls `body(inTable, inSlices)` with the positions of each element of each slice.
template <typename Body>
static LogicalResult forEachElement(Operation *op, const Array &table, const SliceWalk &walk, const Array &indices,
                                    Body body) {
  SmallVector<int64_t> strides = table.getStrides();
  for (int64_t tuple = 0; tuple != walk.tuples; ++tuple) {
    FailureOr<int64_t> first = findSlice(op, table, walk, indices, tuple);
    if (failed(first))
      return failure();
    for (int64_t element = 0; element != walk.elements; ++element) {
      int64_t position = *first, rest = element;
      for (int64_t d = static_cast<int64_t>(strides.size()) - 1; d >= 0; --d) {
        position += rest % walk.sizes[d] * strides[d];
        rest /= walk.sizes[d];
      }
      body(position, tuple * walk.elements + element);
    }
  }
  return success();
}

Interpreter::Results Interpreter::evaluate(tensor::GatherOp op) {
  const Array &table = get(op.getSource()), &indices = get(op.getIndices());
  SliceWalk walk(table, op.getGatherDims(), indices);
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  bool keepsIndexed = op.getResultType().getRank() == static_cast<int64_t>(shape.size()) + table.getRank();
  for (auto [dimension, size] : llvm::enumerate(walk.sizes))
    if (keepsIndexed || !llvm::is_contained(op.getGatherDims(), static_cast<int64_t>(dimension)))
      shape.push_back(size);
  Array result = Array::zeros(op.getType(), shape);
  if (failed(forEachElement(op, table, walk, indices,
                            [&](int64_t inTable, int64_t inSlices) { copyElement(table, inTable, result, inSlices); })))
    return failure();
  return SmallVector<Array>{result};
}

Interpreter::Results Interpreter::evaluate(tensor::ScatterOp op) {
  const Array &slices = get(op.getSource()), &indices = get(op.getIndices());
  Array result = get(op.getDest());
  result.setAccuracy(nullptr);
  SliceWalk walk(result, op.getScatterDims(), indices);
  if (walk.tuples * walk.elements != slices.size())
    return op.emitOpError() << "expected " << walk.tuples * walk.elements << " elements but got " << slices.size();
  if (failed(forEachElement(op, result, walk, indices, [&](int64_t inTable, int64_t inSlices) {
        copyElement(slices, inSlices, result, inTable);
      })))
    return failure();
  return SmallVector<Array>{result};
}

} // namespace mlir::resid::reference
