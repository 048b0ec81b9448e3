// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step is a few vectors of columns. Where a step is a chunk of 64 lanes, a span of 1,024 columns is one loop over
// its chunks; where registers are narrower, the span is swept several times, each time over the same lanes of every
// chunk, so that the accumulators always stay in registers. A phase that writes several rows is swept once all the
// same.

#include "codegen/cpu/rows/ColumnLoops.h"

#include "codegen/cpu/rows/LaneSums.h"
#include "codegen/rows/ColumnMoves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// Calls `emit` where columns are left in [first, end); what it gives, else `otherwise`. `isThere`: whether that is so,
/// where it is known.
SmallVector<Value> ColumnLoops::emitInTail(std::optional<bool> isThere, Value first, Value end, ValueRange otherwise,
                                           function_ref<SmallVector<Value>()> emit) {
  if (isThere)
    return *isThere ? emit() : SmallVector<Value>(otherwise);
  Value hasTail = builder.compare(arith::CmpIPredicate::slt, first, end);
  if (!otherwise.empty())
    return builder.choose(hasTail, otherwise.getTypes(), emit, [&] { return SmallVector<Value>(otherwise); });
  builder.choose(hasTail, [&] { emit(); });
  return {};
}

void ColumnLoops::emitElementwise(function_ref<void(Value, std::optional<PresentColumns>)> step) {
  emitSteps({}, [&](Value column, std::optional<PresentColumns> present, ValueRange) {
    step(column, present);
    return SmallVector<Parts>();
  });
}

/// Steps of rows that are read at other columns, up to which code is unrolled.
static constexpr int64_t kMostUnrolledSteps = 8;

/// The first columns of the steps of a row. Steps that read columns of each other are in one list. Nothing where a
/// phase has no such reads, or a row too many steps.
SmallVector<SmallVector<int64_t>> ColumnLoops::findStepsOfMoves() {
  std::optional<int64_t> width = tail.getKnownWidth();
  int64_t columns = body.getColumns(), steps = width ? llvm::divideCeil(*width, columns) : 0;
  if (steps > kMostUnrolledSteps || body.drawsAhead())
    return {};
  llvm::IntEqClasses classes(steps);
  bool hasMoves = false;
  for (auto load : phase.getBody().front().getOps<rows::LoadOp>()) {
    AffineExpr move = load.getMove();
    hasMoves |= bool(move);
    // Columns that tables share are no reason to wait.
    llvm::SmallDenseSet<int64_t> places;
    for (int64_t column = 0; move && column < *width; ++column)
      places.insert(rows::moveColumn(move, column));
    for (int64_t column = 0; int64_t(places.size()) == width && column < *width; ++column)
      if (int64_t place = rows::moveColumn(move, column); place < *width)
        classes.join(column / columns, place / columns);
  }
  if (!hasMoves)
    return {};
  classes.compress();
  SmallVector<SmallVector<int64_t>> lists(classes.getNumClasses());
  for (int64_t step = 0; step < steps; ++step)
    lists[classes[step]].push_back(step * columns);
  return lists;
}

void ColumnLoops::emitElementwise() {
  if (auto lists = findStepsOfMoves(); !lists.empty()) {
    for (ArrayRef<int64_t> columns : lists) {
      std::vector<VectorBody> steps(columns.size(), body);
      VectorBody::emitTogether(steps, columns);
    }
    return;
  }
  SmallVector<Value> first;
  if (body.drawsAhead())
    first = body.draw(builder.constant(0));
  emitSteps(first, [&](Value column, std::optional<PresentColumns> present, ValueRange drawn) {
    return body.emit(column, present, drawn);
  });
}

/// `last`: the random numbers of the first step, where they are drawn ahead.
void ColumnLoops::emitSteps(SmallVector<Value> last, Step step) {
  Value zero = builder.constant(0), width = function.addresses.width;
  int64_t columns = body.getColumns();
  std::optional<int64_t> known = tail.getKnownWidth();
  Value full = known ? builder.constant(*known / columns * columns) : builder.both(width, -columns);
  if (!known || *known >= columns)
    last = builder.rolledLoop(zero, full, columns, last, [&](Value column, ValueRange drawn) {
      Value following = builder.add(column, columns);
      SmallVector<Value> next = drawNext(following, width, drawn);
      step(column, {}, drawn);
      return next;
    });
  auto isThere = known ? std::optional<bool>(*known % columns != 0) : std::nullopt;
  emitInTail(isThere, full, width, {}, [&] {
    step(full, tail.getPresent(columns, /*lane=*/0), last);
    return SmallVector<Value>();
  });
}

/// The random numbers for the step from `column` on, if there is one before `end`; none where they are not drawn ahead.
SmallVector<Value> ColumnLoops::drawNext(Value column, Value end, ValueRange drawn) {
  if (drawn.empty())
    return {};
  Value isAny = builder.compare(arith::CmpIPredicate::slt, column, end);
  return builder.choose(
      isAny, drawn.getTypes(), [&] { return body.draw(column); }, [&] { return SmallVector<Value>(drawn); });
}

//===------------------------------------------- reductions -------------------------------------------------------===//

ColumnLoops::Accumulators ColumnLoops::createNeutral(int64_t parts) {
  Accumulators neutral;
  for (auto [kind, type] :
       llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), phase.getReduced().getTypes()))
    neutral.append(
        parts, rows::createNeutral(builder, phase.getLoc(), kind.getValue(), VectorType::get(body.getLanes(), type)));
  return neutral;
}

/// The totals of all spans: per reduction, the vectors that make up its 64 lanes. The lanes of one span alone are the
/// totals: lanes begin at +0 and are never -0 after that, so to add them to zeros would change no bit.
ColumnLoops::Accumulators ColumnLoops::emitSpans(Step step) {
  Value zero = builder.constant(0);
  if (std::optional<int64_t> known = tail.getKnownWidth(); known && *known <= kSpanColumns) {
    Accumulators totals(phase.getNumResults() * kLanes / body.getLanes());
    emitSweeps(step, zero, function.addresses.width, totals);
    return totals;
  }
  Accumulators neutral = createNeutral(kLanes / body.getLanes());
  return builder.rolledLoop(zero, function.addresses.width, kSpanColumns, neutral,
                            [&](Value first, ValueRange carried) {
                              Accumulators totals(carried);
                              Value next = builder.add(first, kSpanColumns);
                              Value end = builder.min(next, function.addresses.width);
                              emitSweeps(step, first, end, totals);
                              return totals;
                            });
}

/// How many rows a phase stores to.
static int64_t countStores(rows::PhaseOp phase) {
  int64_t count = 0;
  phase.walk([&](rows::StoreOp) { ++count; });
  return count;
}

/// Adds what all lanes collect in the columns [first, end) to the totals; those that are null begin with it.
void ColumnLoops::emitSweeps(Step step, Value first, Value end, Accumulators &totals) {
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < kLanes; lane += body.getColumns())
    lanes.push_back(lane);
  // With several rows read and written, the lines that a sweep skips cost more than accumulators on the stack
  // (benchmarks/transitions.py --flag=--mcpu=x86-64-v3).
  if (countStores(phase) > 1)
    return emitSweep(step, first, end, lanes, totals);
  for (int64_t lane : lanes)
    emitSweep(step, first, end, lane, totals);
}

/// The same of some lanes: as many as a step has from each of these on.
void ColumnLoops::emitSweep(Step step, Value first, Value end, ArrayRef<int64_t> lanes, Accumulators &totals) {
  Value fullEnd = computeFullEnd(builder, first, end);
  Accumulators neutral = createNeutral(body.getParts());
  SmallVector<Value> offsets, carried;
  for (int64_t lane : lanes) {
    offsets.push_back(builder.constant(lane));
    carried.append(neutral);
    if (body.drawsAhead())
      carried.append(body.draw(builder.add(first, offsets.back())));
  }
  // What a lane's step carries: accumulators, and then random numbers.
  size_t count = carried.size() / lanes.size();
  auto getOwn = [&](ValueRange values, size_t i) {
    ValueRange own = values.slice(i * count, count);
    return std::make_pair(own.take_front(neutral.size()), own.drop_front(neutral.size()));
  };
  carried = builder.rolledLoop(first, fullEnd, kLanes, carried, [&](Value chunk, ValueRange values) {
    SmallVector<Value> nextValues;
    for (auto [i, offset] : llvm::enumerate(offsets)) {
      auto [sums, drawn] = getOwn(values, i);
      Value column = builder.add(chunk, offset);
      Value following = builder.add(column, kLanes);
      SmallVector<Value> next = drawNext(following, end, drawn);
      nextValues.append(emitChunk(step, column, {}, sums, drawn));
      nextValues.append(next);
    }
    return nextValues;
  });
  for (auto [i, lane] : llvm::enumerate(lanes)) {
    auto [sums, drawn] = getOwn(carried, i);
    Accumulators all = emitTail(step, lane, builder.add(fullEnd, offsets[i]), end, sums, drawn);
    int64_t parts = body.getParts(), partsOfLanes = kLanes / body.getLanes(), firstPart = lane / body.getLanes();
    for (auto [reduction, kind] : llvm::enumerate(phase.getKinds().getAsRange<rows::ReductionKindAttr>()))
      for (int64_t part = 0; part < parts; ++part) {
        Value &total = totals[reduction * partsOfLanes + firstPart + part];
        Value sum = all[reduction * parts + part];
        total = total ? combine(builder, getCombiningKind(kind.getValue()), total, sum) : sum;
      }
  }
}

/// Takes in the columns of the last chunk from lane `lane` on, which may be absent: in all spans of a row but the
/// last.
ColumnLoops::Accumulators ColumnLoops::emitTail(Step step, int64_t lane, Value column, Value end, ValueRange sums,
                                                ValueRange drawn) {
  std::optional<int64_t> known = tail.getKnownWidth();
  std::optional<bool> isThere;
  if (known && (*known % kLanes <= lane || *known <= kSpanColumns))
    isThere = *known % kLanes > lane;
  return emitInTail(isThere, column, end, sums,
                    [&] { return emitChunk(step, column, tail.getPresent(kLanes, lane), sums, drawn); });
}

/// One step; absent columns add nothing.
ColumnLoops::Accumulators ColumnLoops::emitChunk(Step step, Value column, std::optional<PresentColumns> present,
                                                 ValueRange accumulators, ValueRange drawn) {
  SmallVector<Parts> values = step(column, present, drawn);
  Accumulators next(accumulators);
  Value *accumulator = next.begin();
  for (auto [kind, parts] : llvm::zip_equal(phase.getKinds().getAsRange<rows::ReductionKindAttr>(), values)) {
    for (auto [part, value] : llvm::enumerate(parts)) {
      Value combined = combine(builder, kind.getValue(), accumulator[part], value);
      if (Value mask = body.getMask(part))
        combined = builder.select(mask, combined, accumulator[part]);
      accumulator[part] = combined;
    }
    accumulator += body.getParts();
  }
  return next;
}
