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

static Value isPlace(OpBuilder &b, Location loc, Value begin, Value free) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isCount = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, begin, zero);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, begin, free);
  return arith::AndIOp::create(b, loc, isCount, fits);
}

/// Whether `holds` is true of all elements; it gets them and their places.
static Value holdsOfAll(ImplicitLocOpBuilder &b, Value tensor,
                        function_ref<Value(ImplicitLocOpBuilder &, Value, ValueRange)> holds) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  auto flag = RankedTensorType::get({}, b.getI1Type());
  Value start = arith::ConstantOp::create(b, DenseElementsAttr::get(flag, true));
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, b.getContext())};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    ImplicitLocOpBuilder inner(location, nested);
    SmallVector<Value> places;
    for (int64_t dimension = 0; dimension < rank; ++dimension)
      places.push_back(linalg::IndexOp::create(inner, dimension));
    Value next = holds(inner, elements[0], places);
    linalg::YieldOp::create(inner, Value(arith::AndIOp::create(inner, elements[1], next)));
  };
  Value all = linalg::GenericOp::create(b, flag, tensor, start, maps, loops, body).getResult(0);
  return tensor::ExtractOp::create(b, all, ValueRange());
}

void resid::requirePlaces(ImplicitLocOpBuilder &b, Value past, OpFoldResult added, OpFoldResult places) {
  Value free = arith::SubIOp::create(b, toIndex(b, places), toIndex(b, added));
  auto fits = [&](ImplicitLocOpBuilder &inner, Value number, ValueRange) {
    return isPlace(inner, inner.getLoc(), arith::IndexCastOp::create(inner, inner.getIndexType(), number), free);
  };
  Value holds = isa<RankedTensorType>(past.getType()) ? holdsOfAll(b, past, fits) : fits(b, past, {});
  cf::AssertOp::create(b, holds, "expected a cache with places for the keys of this call");
}

Value resid::getBegin(ImplicitLocOpBuilder &b, Value past, Value sample) {
  if (isa<RankedTensorType>(past.getType()))
    past = tensor::ExtractOp::create(b, past, sample);
  return arith::IndexCastOp::create(b, b.getIndexType(), past);
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
  if (op.getPast())
    requirePlaces(b, op.getPast(), q[2], k[2]);
  if (op.hasSegments()) {
    queryPlaces = findPlaces(op.getQuerySegments());
    keyPlaces = findPlaces(op.getKeySegments());
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
  if (!op.getPast())
    return op.getV();
  Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), op.getV()),
                                        getElementTypeOrSelf(op.getV().getType()));
  AffineMap all = b.getMultiDimIdentityMap(4);
  return makeGeneric(op.getV(), empty, {all, all}, 0, [&](ValueRange arguments) -> Value {
    Value key = linalg::IndexOp::create(b, 2);
    Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key, getFilled());
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

Value AttentionLinalg::getFilled() {
  if (!op.getPast())
    return Value();
  return arith::AddIOp::create(b, getBegin(b, op.getPast(), linalg::IndexOp::create(b, 0)), toIndex(b, q[2]));
}

/// How many numbers equal to one come before it. That equal ones stand side by side is asserted.
Value AttentionLinalg::findPlaces(Value segments) {
  Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), segments);
  Value empty = tensor::EmptyOp::create(b, sizes, b.getIndexType());
  Value none = linalg::FillOp::create(b, arith::ConstantIndexOp::create(b, 0).getResult(), empty).getResult(0);
  SmallVector<AffineMap> maps{getMap(3, {0, 1}), getMap(3, {0, 2}), getMap(3, {0, 1})};
  Value places = makeGeneric({segments, segments}, none, maps, 1, [&](ValueRange elements) -> Value {
    Value isSame = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, elements[0], elements[1]);
    Value isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, linalg::IndexOp::create(b, 2),
                                           linalg::IndexOp::create(b, 1));
    Value more = arith::IndexCastUIOp::create(b, b.getIndexType(), arith::AndIOp::create(b, isSame, isBefore));
    return arith::AddIOp::create(b, elements[2], more);
  });
  Value holds = holdsOfAll(b, segments, [&](ImplicitLocOpBuilder &inner, Value number, ValueRange at) -> Value {
    Value place = tensor::ExtractOp::create(inner, places, at), zero = arith::ConstantIndexOp::create(inner, 0);
    Value isFirst = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, place, zero);
    Value isNone = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, number,
                                         arith::ConstantIntOp::create(inner, number.getType(), -1));
    Value one = arith::ConstantIndexOp::create(inner, 1);
    Value before = arith::MaxSIOp::create(inner, arith::SubIOp::create(inner, at[1], one), zero);
    Value other = tensor::ExtractOp::create(inner, segments, ValueRange{at[0], before});
    Value isSame = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, number, other);
    return arith::OrIOp::create(inner, arith::OrIOp::create(inner, isFirst, isNone), isSame);
  });
  cf::AssertOp::create(b, holds, "expected equal segments side by side");
  return places;
}

/// In a body over the scores: -Inf where the key is not there, not seen, or not near enough.
Value AttentionLinalg::hide(Value score) {
  using Predicate = arith::CmpIPredicate;
  Value query = linalg::IndexOp::create(b, 2), key = linalg::IndexOp::create(b, 3);
  auto hide = [&](Value isHidden) {
    score = arith::SelectOp::create(b, isHidden, number(-std::numeric_limits<double>::infinity()), score);
  };
  auto hideWhere = [&](Predicate predicate, Value limit) { hide(arith::CmpIOp::create(b, predicate, key, limit)); };
  if (Value filled = getFilled())
    hideWhere(Predicate::sge, filled);
  if (op.hasSegments()) {
    Value sample = linalg::IndexOp::create(b, 0);
    auto read = [&](Value tensor, Value place) -> Value {
      return tensor::ExtractOp::create(b, tensor, ValueRange{sample, place});
    };
    Value own = read(op.getQuerySegments(), query), other = read(op.getKeySegments(), key);
    hide(arith::CmpIOp::create(b, Predicate::ne, own, other));
    hide(arith::CmpIOp::create(b, Predicate::eq, own, arith::ConstantIntOp::create(b, own.getType(), -1)));
    query = read(queryPlaces, query), key = read(keyPlaces, key);
  }
  SeenKeys seen(op.getCausal(), op.getWindowOrZero());
  if (!seen.first && !seen.end)
    return score;
  if (op.getPast())
    query = arith::AddIOp::create(b, getBegin(b, op.getPast(), linalg::IndexOp::create(b, 0)), query);
  auto count = [&](int64_t keys) { return arith::AddIOp::create(b, query, arith::ConstantIndexOp::create(b, keys)); };
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
