// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/linalg/KeyRanges.h"

#include "codegen/linalg/ElementConditions.h"
#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

//===------------------------------------------- caches -----------------------------------------------------------===//

void resid::requirePasts(Code &builder, StringRef text, Value pasts, Value added, Value places) {
  Value counts = builder.max(builder.add(builder.subtract(places, added), 1), 0);
  Value size = arith::IndexCastOp::create(builder, builder.getIndexType(), counts);
  requireIds(builder, pasts, size, std::nullopt, text);
}

Value resid::fitsPast(Code &builder, Value past, Value added, Value places) {
  Value isCount = builder.compare(arith::CmpIPredicate::sge, past, 0);
  return builder.both(isCount, builder.isAtMost(past, builder.subtract(places, added)));
}

/// Numbers for each query of a batch: `body` gets the elements of the inputs and the query's number.
static SmallVector<Value> createNumbers(Code &builder, const RangeSizes &sizes, ArrayRef<ElementwiseOperand> inputs,
                                        size_t count,
                                        function_ref<SmallVector<Value>(Code &, ValueRange, Value)> body) {
  SmallVector<OpFoldResult> all{sizes.batch, sizes.queries};
  auto [shape, dynamic] = decomposeMixedValues(all);
  SmallVector<Type> types(count, RankedTensorType::get(shape, builder.getI64Type()));
  return createElementwise(builder, inputs, all, types, builder.getF32Type(), [&](Code &inner, ValueRange elements) {
    Value number = linalg::IndexOp::create(inner, 1);
    return body(inner, elements, arith::IndexCastOp::create(inner, inner.getI64Type(), number));
  });
}

/// First and end of what a query at a place sees of its keys [low, high), of which the first has place 0.
static std::pair<Value, Value> makeRange(Code &builder, const SeenKeys &seen, Value place, Value low, Value high) {
  Value first = low, end = high;
  if (seen.end)
    end = builder.min(end, builder.add(low, builder.add(place, *seen.end)));
  if (seen.first)
    first = builder.add(low, builder.max(builder.add(place, *seen.first), 0));
  return {first, end};
}

/// A range without keys is after all others, so that it has no part in those of several queries.
static SmallVector<Value> chooseRange(Code &builder, Value isThere, std::pair<Value, Value> range, Value keys) {
  return {builder.select(isThere, range.first, keys), builder.select(isThere, range.second, 0)};
}

SmallVector<Value> resid::createRangesOfCaches(Code &builder, const SeenKeys &seen, const RangeSizes &sizes,
                                               Value pasts) {
  Value queries = toI64(builder, sizes.queries), keys = toI64(builder, sizes.keys);
  AffineMap ofBatch = AffineMap::getMultiDimMapWithTargets(2, {0}, builder.getContext());
  auto body = [&](Code &inner, ValueRange elements, Value query) {
    Value past = elements[0], filled = inner.add(past, queries);
    auto range = makeRange(inner, seen, inner.add(past, query), inner.constant(0), filled);
    return chooseRange(inner, fitsPast(inner, past, queries, keys), range, keys);
  };
  return createNumbers(builder, sizes, {{pasts, ofBatch}}, 2, body);
}

//===------------------------------------------- segments ---------------------------------------------------------===//

namespace {
/// For each number of some segments: where the equal ones among others begin and end, and how many there are. Where
/// there are none: the number of all others, 0 and 0.
struct EqualNumbers {
  Value first, end, count;
};
} // namespace

/// `numbers`: [batch, …]; `others`: [batch, …]. A number that repeats the one before it has what that one has, so the
/// others are looked through once for each sequence.
static EqualNumbers findEqual(Code &builder, Value numbers, Value others) {
  auto getSize = [&](Value tensor, int64_t dimension) {
    return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), getSizes(builder, tensor)[dimension]);
  };
  Value none = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  Value all = getSize(others, 1), limit = arith::IndexCastOp::create(builder, builder.getI64Type(), all);
  SmallVector<Value> start;
  for (int i = 0; i < 3; ++i)
    start.push_back(tensor::EmptyOp::create(builder, getSizes(builder, numbers), builder.getI64Type()));
  auto addSample = [&](Value sample, ValueRange before) {
    return builder.loop(none, getSize(numbers, 1), one, before, [&](Value place, ValueRange made) {
      Value isFirst = builder.isEqual(place, none);
      Value last = builder.select(isFirst, none, builder.subtract(place, one));
      Value number = builder.create<tensor::ExtractOp>(numbers, ValueRange{sample, place});
      Value previous = builder.create<tensor::ExtractOp>(numbers, ValueRange{sample, last});
      Value isNew = builder.either(isFirst, builder.compare(arith::CmpIPredicate::ne, number, previous));
      auto addOther = [&](Value other, ValueRange found) -> SmallVector<Value> {
        Value compared = builder.create<tensor::ExtractOp>(others, ValueRange{sample, other});
        Value isSame = builder.isEqual(number, compared);
        Value at = arith::IndexCastOp::create(builder, builder.getI64Type(), other);
        return {builder.select(isSame, builder.min(found[0], at), found[0]),
                builder.select(isSame, builder.add(at, 1), found[1]),
                builder.select(isSame, builder.add(found[2], 1), found[2])};
      };
      SmallVector<Value> next, found = builder.loop(none, builder.select(isNew, all, none), one,
                                                    {limit, builder.constant(0), builder.constant(0)}, addOther);
      for (auto [number, tensor] : llvm::zip_equal(found, made)) {
        Value held = builder.create<tensor::ExtractOp>(tensor, ValueRange{sample, last});
        next.push_back(
            builder.create<tensor::InsertOp>(builder.select(isNew, number, held), tensor, ValueRange{sample, place}));
      }
      return next;
    });
  };
  SmallVector<Value> made = builder.loop(none, getSize(numbers, 0), one, start, addSample);
  return {made[0], made[1], made[2]};
}

static Value areSideBySide(Code &builder, Value first, Value end, Value count) {
  return builder.isEqual(builder.subtract(end, first), count);
}

/// Requires that equal numbers of a tensor stand side by side. -1 is no number.
static void requireSideBySide(Code &builder, Value numbers, const EqualNumbers &own) {
  SmallVector<AffineMap> maps(4, getIdentityMap(builder.getContext(), 2));
  auto holds = [&](Code &inner, ValueRange elements) {
    Value isNone = inner.isEqual(elements[0], -1);
    return inner.either(isNone, areSideBySide(inner, elements[1], elements[2], elements[3]));
  };
  Value all = holdsForAllPoints(builder, {numbers, own.first, own.end, own.count}, maps, holds);
  rows::RequireOp::create(builder, all, RESID_BAD_VALUE, "equal segments of attention do not stand side by side",
                          Value());
}

SmallVector<Value> resid::createRangesOfSegments(Code &builder, const SeenKeys &seen, const RangeSizes &sizes,
                                                 Value ofQueries, Value ofKeys) {
  EqualNumbers own = findEqual(builder, ofQueries, ofQueries), found = own;
  requireSideBySide(builder, ofQueries, own);
  if (ofQueries != ofKeys) {
    requireSideBySide(builder, ofKeys, findEqual(builder, ofKeys, ofKeys));
    found = findEqual(builder, ofQueries, ofKeys);
  }
  Value keys = toI64(builder, sizes.keys);
  AffineMap identity = getIdentityMap(builder.getContext(), 2);
  SmallVector<ElementwiseOperand> inputs;
  for (Value input : {ofQueries, own.first, own.end, own.count, found.first, found.end, found.count})
    inputs.push_back({input, identity});
  auto body = [&](Code &inner, ValueRange elements, Value query) {
    Value isThere = inner.compare(arith::CmpIPredicate::ne, elements[0], -1);
    isThere = inner.both(isThere, inner.compare(arith::CmpIPredicate::ne, elements[6], 0));
    // Where nobody answers for numbers that are wrong.
    for (ValueRange run : {elements.slice(1, 3), elements.slice(4, 3)})
      isThere = inner.both(isThere, areSideBySide(inner, run[0], run[1], run[2]));
    auto range = makeRange(inner, seen, inner.subtract(query, elements[1]), elements[4], elements[5]);
    SmallVector<Value> all = chooseRange(inner, isThere, range, keys);
    all.push_back(inner.select(isThere, elements[4], 0));
    return all;
  };
  return createNumbers(builder, sizes, inputs, 3, body);
}
