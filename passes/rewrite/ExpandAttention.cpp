// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-expand-attention: attention as two products and a softmax in linalg, with its dropout between them, and a cache
// as a slice that is inserted.

#include "dialect/ResidDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace mlir::resid {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

using Sizes = SmallVector<OpFoldResult>;

static Value toIndex(ImplicitLocOpBuilder &b, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

static Value widen(ImplicitLocOpBuilder &b, Value value, Type type) {
  return value.getType() == type ? value : arith::ExtFOp::create(b, type, value);
}

/// Where the keys of this call begin, as an index; that they fit is asserted.
static Value requirePlaces(ImplicitLocOpBuilder &b, Value past, OpFoldResult added, OpFoldResult places) {
  Value begin = arith::IndexCastOp::create(b, b.getIndexType(), past);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value free = arith::SubIOp::create(b, toIndex(b, places), toIndex(b, added));
  Value isCount = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, begin, zero);
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, begin, free);
  cf::AssertOp::create(b, arith::AndIOp::create(b, isCount, fits),
                       "expected a cache with places for the keys of this call");
  return begin;
}

namespace {

/// The ops that one attention becomes. Between the two products, heads are one dimension; in them, the heads that share
/// keys are a dimension of their own.
class Expansion {
public:
  Expansion(AttentionOp op, OpBuilder &builder) : op(op), b(op.getLoc(), builder), type(op.getArithmeticType()) {}

  SmallVector<Value> run() {
    findSizes();
    Value scores = mask(multiplyQueries());
    Value max = reduce(scores, -std::numeric_limits<double>::infinity(),
                       [&](Value a, Value sum) { return Value(arith::MaximumFOp::create(b, a, sum)); });
    Value weights = map(scores, max, type, [&](Value score, Value largest) -> Value {
      Value weight = math::ExpOp::create(b, arith::SubFOp::create(b, score, largest));
      Value isAbsent =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, number(-std::numeric_limits<double>::infinity()));
      return arith::SelectOp::create(b, isAbsent, number(0), weight);
    });
    Value sum = reduce(weights, 0, [&](Value a, Value s) { return Value(arith::AddFOp::create(b, s, a)); });
    Type element = getElementTypeOrSelf(op.getResult().getType());
    Value result = map(multiplyValues(drop(weights)), sum, element, [&](Value value, Value total) -> Value {
      // Where no key is present there is nothing to divide by.
      Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, number(0));
      Value mean = arith::SelectOp::create(b, isEmpty, number(0), arith::DivFOp::create(b, value, total));
      return convert(mean, element);
    });
    SmallVector<Value> results{result};
    if (op.getMax())
      results.append({max, sum});
    for (auto [value, old] : llvm::zip_equal(results, op.getResults()))
      if (value.getType() != old.getType())
        value = tensor::CastOp::create(b, old.getType(), value);
    return results;
  }

private:
  void findSizes() {
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

  Value number(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(type, value)); }

  Value convert(Value value, Type to) {
    unsigned from = value.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
    if (from < width)
      return arith::ExtFOp::create(b, to, value);
    return from > width ? Value(arith::TruncFOp::create(b, to, value)) : value;
  }

  AffineMap getMap(unsigned loops, ArrayRef<unsigned> dimensions) {
    return AffineMap::getMultiDimMapWithTargets(loops, dimensions, b.getContext());
  }

  Value makeGeneric(ValueRange inputs, Value init, ArrayRef<AffineMap> maps, unsigned reductions,
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

  Value makeFilled(const Sizes &sizes, double value) {
    Value empty = tensor::EmptyOp::create(b, sizes, type);
    return linalg::FillOp::create(b, number(value), empty).getResult(0);
  }

  /// A product whose last loop is contracted.
  Value contract(Value x, Value y, const Sizes &sizes, ArrayRef<AffineMap> maps) {
    return makeGeneric({x, y}, makeFilled(sizes, 0), maps, 1, [&](ValueRange arguments) -> Value {
      Value product = arith::MulFOp::create(b, widen(b, arguments[0], type), widen(b, arguments[1], type));
      return arith::AddFOp::create(b, arguments[2], product);
    });
  }

  /// Heads of q as heads of k and, in each, those that share its keys; and back.
  Value split(Value value) {
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
  Value join(Value value) {
    if (!isGrouped)
      return value;
    Value joined = tensor::CollapseShapeOp::create(b, value, heads);
    if (getConstantIntValue(group))
      return joined;
    // That the heads of k times their quotient are those of q again, sizes do not say.
    Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), joined);
    sizes[1] = q[1];
    return tensor::ExtractSliceOp::create(b, joined, Sizes(4, b.getIndexAttr(0)), sizes, Sizes(4, b.getIndexAttr(1)));
  }

  Sizes getSplitSizes(OpFoldResult columns) {
    Sizes sizes = {k[0], k[1], q[2], columns};
    if (isGrouped)
      sizes.insert(sizes.begin() + 2, group);
    else
      sizes[1] = q[1];
    return sizes;
  }

  /// Of a product: along its two inputs, the second of which knows no groups, and its result.
  SmallVector<AffineMap> getProductMaps(ArrayRef<unsigned> x, ArrayRef<unsigned> y) {
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

  Value multiplyQueries() {
    return join(contract(split(op.getQ()), op.getK(), getSplitSizes(k[2]), getProductMaps({0, 2}, {1, 2})));
  }
  Value multiplyValues(Value weights) {
    return join(contract(split(weights), getValues(), getSplitSizes(q[3]), getProductMaps({0, 2}, {2, 1})));
  }

  /// Places of the cache that hold nothing yet may hold NaN, which no weight of 0 would remove.
  Value getValues() {
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

  AffineMap getMaskMap() {
    SmallVector<AffineExpr> sizes;
    int64_t rank = op.getMask().getType().getRank();
    for (int64_t i = 0; i != rank; ++i)
      sizes.push_back(op.getMask().getType().getDimSize(i) == 1 ? b.getAffineConstantExpr(0)
                                                                : b.getAffineDimExpr(4 - rank + i));
    return AffineMap::get(4, 0, sizes, b.getContext());
  }

  /// Scores with scale and mask, -Inf for keys that are absent.
  Value mask(Value products) {
    SmallVector<Value> inputs{products};
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(4));
    if (op.getMask()) {
      inputs.push_back(op.getMask());
      maps.insert(maps.begin() + 1, getMaskMap());
    }
    Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), products), type);
    return makeGeneric(inputs, empty, maps, 0, [&](ValueRange arguments) -> Value {
      Value score = arith::MulFOp::create(b, arguments[0], number(op.getScoreScale()));
      auto getAbsent = [&] { return number(-std::numeric_limits<double>::infinity()); };
      if (op.getMask() && arguments[1].getType().isInteger(1))
        score = arith::SelectOp::create(b, arguments[1], score, getAbsent());
      else if (op.getMask())
        score = arith::AddFOp::create(b, score, widen(b, arguments[1], type));
      auto hideFrom = [&](arith::CmpIPredicate predicate, Value limit) {
        Value isHidden = arith::CmpIOp::create(b, predicate, linalg::IndexOp::create(b, 3), limit);
        score = arith::SelectOp::create(b, isHidden, getAbsent(), score);
      };
      if (filled)
        hideFrom(arith::CmpIPredicate::sge, filled);
      if (op.getCausal()) {
        Value query = linalg::IndexOp::create(b, 2);
        hideFrom(arith::CmpIPredicate::sgt, past ? Value(arith::AddIOp::create(b, past, query)) : query);
      }
      return score;
    });
  }

  /// The clause as an op of its own: its rows and columns are those of the weights.
  Value drop(Value weights) {
    if (!op.hasDropout())
      return weights;
    return DropoutOp::create(b, weights, op.getSeed(), op.getStep(), op.getP()->convertToDouble(), *op.getSite(),
                             op.getOriginRow(), op.getOriginSite());
  }

  /// Combines a row's elements, beginning with `start`.
  Value reduce(Value rows, double start, function_ref<Value(Value, Value)> combine) {
    Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), rows);
    sizes.pop_back();
    return makeGeneric(rows, makeFilled(sizes, start), {b.getMultiDimIdentityMap(4), getMap(4, {0, 1, 2})}, 1,
                       [&](ValueRange arguments) { return combine(arguments[0], arguments[1]); });
  }

  /// Each element with a number of its row.
  Value map(Value rows, Value numbers, Type element, function_ref<Value(Value, Value)> apply) {
    Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), rows), element);
    AffineMap all = b.getMultiDimIdentityMap(4);
    return makeGeneric({rows, numbers}, empty, {all, getMap(4, {0, 1, 2}), all}, 0,
                       [&](ValueRange arguments) { return apply(arguments[0], arguments[1]); });
  }

  AttentionOp op;
  ImplicitLocOpBuilder b;
  FloatType type;
  Sizes q, k;
  /// How many heads of q share one of k.
  OpFoldResult group;
  bool isGrouped = false;
  /// How many keys were there before this call, and are there with it. Null without a cache.
  Value past, filled;
  SmallVector<ReassociationIndices> heads = {{0}, {1, 2}, {3}, {4}};
};

struct ExpandAttention : resid::impl::ExpandAttentionBase<ExpandAttention> {
  using ExpandAttentionBase::ExpandAttentionBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op))
        replace(op, [&](OpBuilder &builder) { return Expansion(attention, builder).run(); });
      if (auto append = dyn_cast<AppendOp>(op))
        replace(op, [&](OpBuilder &builder) { return SmallVector<Value>{insert(append, builder)}; });
    });
  }

  void replace(Operation *op, function_ref<SmallVector<Value>(OpBuilder &)> expand) {
    if (report)
      op->emitRemark() << "expanded (exact in real arithmetic): " << op->getName().stripDialect();
    OpBuilder builder(op);
    op->replaceAllUsesWith(expand(builder));
    op->erase();
  }

  Value insert(AppendOp op, OpBuilder &builder) {
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    Sizes sizes = tensor::getMixedSizes(b, b.getLoc(), op.getX());
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    Value begin = requirePlaces(b, op.getPast(), sizes[2], tensor::getMixedSize(b, b.getLoc(), op.getCache(), 2));
    return tensor::InsertSliceOp::create(b, op.getX(), op.getCache(), Sizes{zero, zero, begin, zero}, sizes,
                                         Sizes(4, one));
  }
};
} // namespace
