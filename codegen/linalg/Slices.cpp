// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices and single elements of tensors outside of linalg ops, such as the places of new keys in a cache: they must lie
// in their tensor. What linalg ops look up is Lookups.cpp's.

#include "codegen/linalg/ElementConditions.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// Elements offset, offset + stride, … of one dimension of a tensor.
struct Range {
  OpFoldResult offset, size, stride;
  Value tensor;
  int64_t dimension;
};

/// Requires that the ranges of one op lie in their dimensions.
class RangeChecks {
public:
  explicit RangeChecks(Operation *op) : op(op), builder(OpBuilder(op), op->getLoc()) {}

  /// An offset that keeps the op inside where the call is refused; the range's own where nothing is to be checked.
  OpFoldResult require(const Range &range);

private:
  bool isKnownInside(const Range &range);
  Value toValue(OpFoldResult number) { return getValueOrCreateConstantIndexOp(builder, op->getLoc(), number); }
  void add(Value condition, resid_status status);

  Operation *op;
  Code builder;
};

} // namespace

/// Whether 0 <= size, and 0 <= offset and offset + (size - 1)·stride < the dimension or size = 0, follows from
/// constants, sizes and loops.
bool RangeChecks::isKnownInside(const Range &range) {
  using Bounds = ValueBoundsConstraintSet;
  std::optional<int64_t> stride = getConstantIntValue(range.stride);
  if (!stride || *stride < 0)
    return false;
  OpFoldResult zero = builder.getIndexAttr(0);
  AffineExpr offset = builder.getAffineDimExpr(0), size = builder.getAffineDimExpr(1);
  Bounds::Variable last(AffineMap::get(2, 0, offset + (size - 1) * *stride), {range.offset, range.size});
  return Bounds::compare(range.offset, Bounds::GE, zero) && Bounds::compare(range.size, Bounds::GE, zero) &&
         Bounds::compare(last, Bounds::LT, {range.tensor, range.dimension});
}

void RangeChecks::add(Value condition, resid_status status) {
  std::string text = (op->getName().getStringRef() + " reaches outside of its tensor").str();
  rows::RequireOp::create(builder, condition, status, text, Value());
}

/// Two conditions, since sizes are mostly those of arguments, which are refused before anything runs: that the range
/// fits at all, and that it fits at its offset. All numbers are compared as unsigned ones, of which negative ones are
/// larger than any size.
OpFoldResult RangeChecks::require(const Range &range) {
  if (isKnownInside(range))
    return range.offset;
  constexpr auto isAtMost = arith::CmpIPredicate::ule;
  Value offset = toValue(range.offset), size = toValue(range.size), stride = toValue(range.stride);
  Value limit = builder.createOrFold<tensor::DimOp>(range.tensor, range.dimension);
  Value isEmpty = builder.isEqual(size, 0);
  // The distance from the first element to after the last; the product cannot overflow where the factors are sizes.
  Value extent = builder.add(builder.multiply(builder.subtract(size, 1), stride), 1);
  extent = builder.select(isEmpty, 0, extent);
  auto isSize = [&](Value number) { return builder.compare(isAtMost, number, limit); };
  Value fits = builder.both(isSize(size), isSize(extent));
  if (!getConstantIntValue(range.stride))
    fits = builder.both(fits, builder.either(isEmpty, isSize(stride)));
  if (!isKnownInside({builder.getIndexAttr(0), range.size, range.stride, range.tensor, range.dimension}))
    add(fits, RESID_BAD_SHAPE);
  if (getConstantIntValue(range.offset) == 0)
    return range.offset;
  Value room = builder.subtract(limit, extent);
  Value isInside = builder.both(isSize(offset), builder.compare(isAtMost, offset, room));
  add(isInside, RESID_BAD_VALUE);
  return keepInside(builder, isInside, offset);
}

/// Checks the slice that `op` takes from `tensor`, or puts into it.
template <typename OpTy> static void requireSlice(OpTy op, Value tensor) {
  RangeChecks checks(op);
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  for (auto [dimension, offset] : llvm::enumerate(offsets))
    offset = checks.require({offset, sizes[dimension], strides[dimension], tensor, int64_t(dimension)});
  SmallVector<int64_t> numbers;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(offsets, values, numbers);
  op.getOffsetsMutable().assign(values);
  op.setStaticOffsets(numbers);
}

/// The same for a single element.
template <typename OpTy> static void requireElement(OpTy op, Value tensor) {
  RangeChecks checks(op);
  Builder builder(op.getContext());
  OpFoldResult one = builder.getIndexAttr(1);
  SmallVector<Value> indices(op.getIndices());
  for (auto [dimension, index] : llvm::enumerate(indices))
    if (auto kept = dyn_cast<Value>(checks.require({index, one, one, tensor, int64_t(dimension)})))
      index = kept;
  op.getIndicesMutable().assign(indices);
}

/// Padding that is known when a call begins must not be negative: it says where the padded array is put.
static void requirePadding(tensor::PadOp op) {
  Code builder(OpBuilder(op), op.getLoc());
  for (Value number : llvm::concat<Value>(SmallVector<Value>(op.getLow()), SmallVector<Value>(op.getHigh()))) {
    Value isCount = builder.compare(arith::CmpIPredicate::sge, number, 0);
    rows::RequireOp::create(builder, isCount, RESID_BAD_SHAPE, "padding of tensor.pad is negative", Value());
  }
}

void resid::requireSlices(Operation *root) {
  SmallVector<Operation *> operations;
  root->walk([&](Operation *op) {
    if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp, tensor::InsertOp, tensor::PadOp>(op) &&
        hasStatus(op))
      operations.push_back(op);
  });
  for (Operation *op : operations) {
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      requirePadding(pad);
    else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      requireSlice(extract, extract.getSource());
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      requireSlice(insert, insert.getDest());
    else if (auto element = dyn_cast<tensor::ExtractOp>(op))
      requireElement(element, element.getTensor());
    else
      requireElement(cast<tensor::InsertOp>(op), cast<tensor::InsertOp>(op).getDest());
  }
}
