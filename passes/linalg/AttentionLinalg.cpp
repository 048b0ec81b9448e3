// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/linalg/AttentionLinalg.h"

#include "dialect/SeenKeys.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

using Sizes = SmallVector<OpFoldResult>;

static Value toIndex(ImplicitLocOpBuilder &b, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

Value resid::requirePlaces(ImplicitLocOpBuilder &b, Value past, OpFoldResult added, OpFoldResult places) {
  Value begin = arith::IndexCastOp::create(b, b.getIndexType(), past);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value free = arith::SubIOp::create(b, toIndex(b, places), toIndex(b, added));
  Value isCount = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, begin, zero);
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, begin, free);
  cf::AssertOp::create(b, arith::AndIOp::create(b, isCount, fits),
                       "expected a cache with places for the keys of this call");
  return begin;
}

AttentionLinalg::AttentionLinalg(AttentionOp op, OpBuilder &builder)
    : op(op), b(op.getLoc(), builder), type(op.getArithmeticType()) {
  findSizes();
}

void AttentionLinalg::findSizes() {
  q = tensor::getMixedSizes(b, b.getLoc(), op.getQ());
  k = tensor::getMixedSizes(b, b.getLoc(), op.getK());
  std::optional<int64_t> heads = getConstantIntValue(q[1]), keyHeads = getConstantIntValue(k[1]);
  if (heads && keyHeads) {
    group = b.getIndexAttr(*keyHeads == 0 ? 1 : *heads / *keyHeads);
  } else {
    Value all = toIndex(b, q[1]), some = toIndex(b, k[1]), one = arith::ConstantIndexOp::create(b, 1);
    Value quotient = arith::DivUIOp::create(b, all, arith::MaxSIOp::create(b, some, one));
    Value divides = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, arith::MulIOp::create(b, quotient, some), all);
    cf::AssertOp::create(b, divides, "expected a number of heads in k that divides that of q");
    group = quotient;
  }
  isGrouped = getConstantIntValue(group) != 1;
  if (op.getPast()) {
    past = requirePlaces(b, op.getPast(), q[2], k[2]);
    filled = arith::AddIOp::create(b, past, toIndex(b, q[2]));
  }
}

Value AttentionLinalg::number(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(type, value)); }

Value AttentionLinalg::convert(Value value, Type to) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from < width)
    return arith::ExtFOp::create(b, to, value);
  return from > width ? Value(arith::TruncFOp::create(b, to, value)) : value;
}

AffineMap AttentionLinalg::getMap(unsigned loops, ArrayRef<unsigned> dimensions) {
  return AffineMap::getMultiDimMapWithTargets(loops, dimensions, b.getContext());
}

Value AttentionLinalg::makeGeneric(ValueRange inputs, Value init, ArrayRef<AffineMap> maps, unsigned reductions,
                                   function_ref<Value(ValueRange)> body) {
  SmallVector<utils::IteratorType> kinds(maps.front().getNumDims(), utils::IteratorType::parallel);
  std::fill(kinds.end() - reductions, kinds.end(), utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(b, TypeRange(init.getType()), inputs, ValueRange(init), maps, kinds,
                                           [&](OpBuilder &nested, Location, ValueRange arguments) {
                                             OpBuilder::InsertionGuard guard(b);
                                             b.setInsertionPointToEnd(nested.getInsertionBlock());
                                             linalg::YieldOp::create(b, body(arguments));
                                           });
  return generic.getResult(0);
}

Value AttentionLinalg::makeFilled(const Sizes &sizes, double value) {
  Value empty = tensor::EmptyOp::create(b, sizes, type);
  return linalg::FillOp::create(b, number(value), empty).getResult(0);
}

/// A product whose last loop is contracted.
Value AttentionLinalg::contract(Value x, Value y, const Sizes &sizes, ArrayRef<AffineMap> maps) {
  return makeGeneric({x, y}, makeFilled(sizes, 0), maps, 1, [&](ValueRange arguments) -> Value {
    Value product = arith::MulFOp::create(b, convert(arguments[0], type), convert(arguments[1], type));
    return arith::AddFOp::create(b, arguments[2], product);
  });
}

Value AttentionLinalg::split(Value value) {
  if (!isGrouped)
    return value;
  auto from = cast<RankedTensorType>(value.getType());
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), value);
  sizes[1] = k[1];
  sizes.insert(sizes.begin() + 2, group);
  SmallVector<int64_t> shape(from.getShape());
  bool isOpen = !getConstantIntValue(k[1]) || !getConstantIntValue(group);
  if (isOpen && !from.isDynamicDim(1)) {
    shape[1] = ShapedType::kDynamic;
    value = tensor::CastOp::create(b, from.clone(shape), value);
  }
  auto to = RankedTensorType::get(decomposeMixedValues(sizes).first, from.getElementType());
  return tensor::ExpandShapeOp::create(b, to, value, heads, sizes);
}

Value AttentionLinalg::join(Value value) {
  if (!isGrouped)
    return value;
  Value joined = tensor::CollapseShapeOp::create(b, value, heads);
  if (getConstantIntValue(group))
    return joined;
  // That the heads of k times their quotient are those of q again, sizes do not say.
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), joined);
  sizes[1] = q[1];
  return extractSlice(b, b.getLoc(), /*type=*/nullptr, joined, Sizes(4, b.getIndexAttr(0)), sizes,
                      Sizes(4, b.getIndexAttr(1)));
}

Sizes AttentionLinalg::getSplitSizes(OpFoldResult columns) {
  Sizes sizes = {k[0], k[1], q[2], columns};
  if (isGrouped)
    sizes.insert(sizes.begin() + 2, group);
  else
    sizes[1] = q[1];
  return sizes;
}

/// Of a product: along its two inputs, the second of which knows no groups, and its result.
SmallVector<AffineMap> AttentionLinalg::getProductMaps(ArrayRef<unsigned> x, ArrayRef<unsigned> y) {
  unsigned leading = isGrouped ? 3 : 2, loops = leading + 3;
  SmallVector<unsigned> first, second{0, 1}, result;
  for (unsigned loop = 0; loop != leading; ++loop)
    first.push_back(loop), result.push_back(loop);
  for (unsigned loop : x)
    first.push_back(leading + loop);
  for (unsigned loop : y)
    second.push_back(leading + loop);
  result.append({leading, leading + 1});
  return {getMap(loops, first), getMap(loops, second), getMap(loops, result)};
}

Value AttentionLinalg::multiplyQueries() {
  return join(contract(split(op.getQ()), op.getK(), getSplitSizes(k[2]), getProductMaps({0, 2}, {1, 2})));
}

Value AttentionLinalg::multiplyValues(Value weights) {
  return join(contract(split(weights), getValues(), getSplitSizes(b.getIndexAttr(op.getV().getType().getDimSize(3))),
                       getProductMaps({0, 2}, {2, 1})));
}

/// Places of the cache that hold nothing yet may hold NaN, which no weight of 0 would remove.
Value AttentionLinalg::getValues() {
  if (!filled)
    return op.getV();
  Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), op.getV()),
                                        getElementTypeOrSelf(op.getV().getType()));
  AffineMap all = b.getMultiDimIdentityMap(4);
  return makeGeneric(op.getV(), empty, {all, all}, 0, [&](ValueRange arguments) -> Value {
    Value key = linalg::IndexOp::create(b, 2);
    Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key, filled);
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(arguments[0].getType(), 0));
    return arith::SelectOp::create(b, isThere, arguments[0], zero);
  });
}

AffineMap AttentionLinalg::getMaskMap() {
  SmallVector<AffineExpr> sizes;
  int64_t rank = op.getMask().getType().getRank();
  for (int64_t i = 0; i != rank; ++i)
    sizes.push_back(op.getMask().getType().getDimSize(i) == 1 ? b.getAffineConstantExpr(0)
                                                              : b.getAffineDimExpr(4 - rank + i));
  return AffineMap::get(4, 0, sizes, b.getContext());
}

/// In a body over the scores: -Inf where the key is not there, not seen, or not near enough.
Value AttentionLinalg::hide(Value score) {
  using Predicate = arith::CmpIPredicate;
  auto hideWhere = [&](Predicate predicate, Value limit) {
    Value isHidden = arith::CmpIOp::create(b, predicate, linalg::IndexOp::create(b, 3), limit);
    score = arith::SelectOp::create(b, isHidden, number(-std::numeric_limits<double>::infinity()), score);
  };
  if (filled)
    hideWhere(Predicate::sge, filled);
  SeenKeys seen(op.getCausal(), op.getWindowOrZero());
  if (!seen.first && !seen.end)
    return score;
  Value place = linalg::IndexOp::create(b, 2);
  if (past)
    place = arith::AddIOp::create(b, past, place);
  auto count = [&](int64_t keys) { return arith::AddIOp::create(b, place, arith::ConstantIndexOp::create(b, keys)); };
  hideWhere(Predicate::sge, count(*seen.end));
  if (seen.first)
    hideWhere(Predicate::slt, count(*seen.first));
  return score;
}

Value AttentionLinalg::createScores() {
  Value products = multiplyQueries();
  SmallVector<Value> inputs{products};
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(4));
  if (op.getMask()) {
    inputs.push_back(op.getMask());
    maps.insert(maps.begin() + 1, getMaskMap());
  }
  Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), products), type);
  return makeGeneric(inputs, empty, maps, 0, [&](ValueRange arguments) -> Value {
    Value score = arith::MulFOp::create(b, arguments[0], number(op.getScoreScale()));
    if (op.getCap()) {
      Value cap = number(op.getCapOrZero());
      score = arith::MulFOp::create(b, cap, math::TanhOp::create(b, arith::DivFOp::create(b, score, cap)));
    }
    if (op.getMask() && arguments[1].getType().isInteger(1))
      score = arith::SelectOp::create(b, arguments[1], score, number(-std::numeric_limits<double>::infinity()));
    else if (op.getMask())
      score = arith::AddFOp::create(b, score, convert(arguments[1], type));
    return hide(score);
  });
}

Value AttentionLinalg::drop(Value weights) {
  if (!op.hasDropout())
    return weights;
  return DropoutOp::create(b, weights, op.getSeed(), op.getStep(), op.getP()->convertToDouble(), *op.getSite(),
                           getDropoutOrigin(op));
}

SmallVector<AffineMap> AttentionLinalg::getRowMaps(ValueRange inputs) {
  return llvm::map_to_vector(inputs, [&](Value input) {
    return cast<RankedTensorType>(input.getType()).getRank() == 4 ? b.getMultiDimIdentityMap(4) : getMap(4, {0, 1, 2});
  });
}

Value AttentionLinalg::reduce(ValueRange inputs, double start, function_ref<Value(ValueRange)> combine) {
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), inputs.front());
  sizes.pop_back();
  SmallVector<AffineMap> maps = getRowMaps(inputs);
  maps.push_back(getMap(4, {0, 1, 2}));
  return makeGeneric(inputs, makeFilled(sizes, start), maps, 1, combine);
}

Value AttentionLinalg::map(ValueRange inputs, Type element, function_ref<Value(ValueRange)> apply) {
  Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), inputs.front()), element);
  SmallVector<AffineMap> maps = getRowMaps(inputs);
  maps.push_back(b.getMultiDimIdentityMap(4));
  return makeGeneric(inputs, empty, maps, 0, apply);
}

Value AttentionLinalg::mapWithSink(ValueRange rows, function_ref<Value(ValueRange)> apply) {
  SmallVector<Value> inputs(rows);
  inputs.push_back(op.getSink());
  SmallVector<AffineMap> maps(rows.size() + 2, b.getMultiDimIdentityMap(3));
  maps[rows.size()] = getMap(3, {1});
  Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), rows.front()), type);
  return makeGeneric(inputs, empty, maps, 0, [&](ValueRange arguments) {
    SmallVector<Value> numbers(arguments.take_front(inputs.size()));
    numbers.back() = convert(numbers.back(), type);
    return apply(numbers);
  });
}

Value AttentionLinalg::isInfinitelyLow(Value score) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, number(-std::numeric_limits<double>::infinity()));
}
