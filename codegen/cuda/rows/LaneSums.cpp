// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/LaneSums.h"

#include "codegen/rows/Reductions.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// What a block of threads may share without asking for more, of f32.
static constexpr int64_t kSharedSlots = 48 * 1024 / 4;

//===------------------------------------------- threads ----------------------------------------------------------===//

RowThread::RowThread(Code &builder, const RegisterPlan &plan, Value openWidth) {
  Type i32 = builder.getI32Type();
  Value ofBlock = getNumber<NVVM::ThreadIdXOp>(builder), zero = builder.constant(0);
  warpThread = builder.remainder(ofBlock, kWarpThreads);
  warp = builder.divide(ofBlock, kWarpThreads);
  thread = builder.remainder(ofBlock, plan.getSpanThreads());
  Value group = builder.divide(ofBlock, plan.getSpanThreads());
  bool hasSpans = plan.getSpans() > 1;
  row = hasSpans ? zero : group;
  span = hasSpans ? group : zero;
  column = builder.add(builder.multiply(span, rows::kSpanColumns), builder.multiply(thread, plan.lanes));
  width = plan.isOpen() ? openWidth : builder.constant(plan.width);
  spans = builder.constant(plan.getSpans());
  if (plan.isOpen())
    spans = builder.ceilDivide(width, builder.constant(rows::kSpanColumns));
  mask = builder.constant(i32, -1);
  // The last warp of a row of open width need not be whole, but its spans are.
  if ((hasSpans && !plan.isOpen()) || plan.getSpanThreads() == kWarpThreads)
    return;
  Value all = builder.constant(i32, (int64_t(1) << plan.getSpanThreads()) - 1);
  mask = builder.shiftLeft(all, builder.castInteger(builder.subtract(warpThread, thread), i32));
}

//===------------------------------------------- one span ---------------------------------------------------------===//

/// Lane l takes lane l + 32, l + 16 and so on. As long as a thread has several lanes, it gives half of them to the
/// thread that has what they take, and keeps the half of the lanes that its number's bit names. Then the lanes next to
/// each other are in threads that differ in those bits.
Value LaneSums::reduceThreads(rows::ReductionKind kind, Lanes lanes, Value number, Value mask) {
  kind = getCombiningKind(kind);
  SmallVector<int64_t> splits;
  for (int64_t distance = rows::kLanes / int64_t(lanes.size()) / 2; distance > 0; distance /= 2) {
    if (lanes.size() == 1) {
      lanes[0] = combine(builder, kind, lanes[0], exchange(builder, lanes[0], distance, mask));
      continue;
    }
    splits.push_back(distance);
    Value bit = builder.both(number, distance);
    Value isUpper = builder.compare(arith::CmpIPredicate::ne, bit, 0);
    size_t half = lanes.size() / 2;
    Lanes sums;
    for (size_t i = 0; i < half; ++i) {
      Value mine = builder.select(isUpper, lanes[half + i], lanes[i]);
      Value others = builder.select(isUpper, lanes[i], lanes[half + i]);
      sums.push_back(combine(builder, kind, mine, exchange(builder, others, distance, mask)));
    }
    lanes = sums;
  }
  for (int64_t distance : splits)
    lanes[0] = combine(builder, kind, lanes[0], exchange(builder, lanes[0], distance, mask));
  return lanes[0];
}

//===------------------------------------------- several spans ----------------------------------------------------===//

/// Phases take turns in the memory. Where each has its own, one barrier between its writers and its readers is enough.
/// Where one warp adds up, there is a second barrier, and all phases have the same memory.
LaneSums::LaneSums(Code &builder, const RegisterPlan &plan, const RowThread &thread, rows::KernelOp kernel)
    : builder(builder), plan(plan), thread(thread) {
  if (plan.getSpans() == 1)
    return;
  int64_t most = 0, count = 0;
  kernel.walk([&](rows::PhaseOp phase) {
    most = std::max<int64_t>(most, phase.getNumResults());
    count += phase.getNumResults() > 0;
  });
  if (count == 0)
    return;
  areaSlots = most * plan.getSpans() * rows::kLanes;
  areas = addsInOneWarp() ? 1 : std::min(count, kSharedSlots / areaSlots);
  int64_t slots = areas * areaSlots + (addsInOneWarp() ? most : 0);
  memory.emplace(builder, builder.getF32Type(), slots, ".lanes");
}

/// Where a row has many spans, the warps have more to add than what a second barrier costs. Of a row of open width, the
/// last warp may not be whole, so that it cannot add up.
bool LaneSums::addsInOneWarp() const {
  constexpr int64_t manySpans = 8;
  return plan.isOpen() || plan.getSpans() >= manySpans;
}

Value LaneSums::getSlot(Value index, int64_t more) {
  Value first = index ? memory->getAddress(builder, index) : memory->getStart(builder);
  return builder.at(first, builder.getF32Type(), more);
}

void LaneSums::storeLanes(ArrayRef<Lanes> lanes, int64_t area) {
  Value own = builder.multiply(thread.span, rows::kLanes);
  own = builder.add(own, builder.multiply(thread.thread, plan.lanes));
  for (auto [i, values] : llvm::enumerate(lanes)) {
    auto bytes = unsigned(std::min<int64_t>(plan.lanes * 4, 16));
    Value vector = makeVector(builder, values);
    builder.create<LLVM::StoreOp>(vector, getSlot(own, area + int64_t(i) * plan.getSpans() * rows::kLanes), bytes);
  }
}

/// Lanes that a thread adds up of all spans.
static constexpr int64_t kPair = rows::kLanes / kWarpThreads;

/// Adds the lanes of the span whose lanes of the thread are at `first`.
LaneSums::Lanes LaneSums::addSpan(rows::ReductionKind kind, Lanes totals, Value first, int64_t area) {
  Value vector = builder.create<LLVM::LoadOp>(VectorType::get(kPair, builder.getF32Type()), getSlot(first, area),
                                              /*alignment=*/8);
  for (int64_t i = 0; i < kPair; ++i) {
    Value lane = builder.create<LLVM::ExtractElementOp>(vector, builder.constant(i));
    totals[i] = combine(builder, getCombiningKind(kind), totals[i], lane);
  }
  return totals;
}

/// A warp adds up the lanes of all spans, in their order. A thread has two neighbouring lanes.
Value LaneSums::addSpans(rows::ReductionKind kind, int64_t area) {
  Value first = builder.multiply(thread.warpThread, kPair);
  Lanes totals(kPair, createNeutral(builder, builder.getLoc(), kind, builder.getF32Type()));
  if (plan.isOpen()) {
    totals = builder.loop(0, thread.spans, 1, totals, [&](Value span, ValueRange before) {
      Value ofSpan = builder.add(first, builder.multiply(span, rows::kLanes));
      return addSpan(kind, llvm::to_vector(before), ofSpan, area);
    });
  } else {
    for (int64_t span = 0; span < plan.getSpans(); ++span)
      totals = addSpan(kind, totals, first, area + span * rows::kLanes);
  }
  return reduceThreads(kind, totals, thread.warpThread, /*mask=*/nullptr);
}

/// Each sum has a warp, which leaves it for all threads.
SmallVector<Value> LaneSums::addInOneWarp(rows::PhaseOp phase, int64_t reductionSlots) {
  int64_t warps = plan.getLeastRowThreads() / kWarpThreads;
  for (int64_t i = 0; i < phase.getNumResults(); ++i)
    builder.choose(builder.isEqual(thread.warp, i % warps), [&] {
      Value total = addSpans(phase.getKind(i), i * reductionSlots);
      builder.choose(builder.isEqual(thread.warpThread, 0),
                     [&] { builder.create<LLVM::StoreOp>(total, getSlot(nullptr, areaSlots + i), /*alignment=*/4); });
    });
  builder.create<NVVM::Barrier0Op>();
  SmallVector<Value> results;
  for (int64_t i = 0; i < phase.getNumResults(); ++i)
    results.push_back(
        builder.create<LLVM::LoadOp>(builder.getF32Type(), getSlot(nullptr, areaSlots + i), /*alignment=*/4));
  return results;
}

void LaneSums::beginRow() {
  phases = 0;
  if (areas > 0 && !addsInOneWarp())
    builder.create<NVVM::Barrier0Op>();
}

/// Each span leaves its lanes in shared memory.
SmallVector<Value> LaneSums::reduceSpans(rows::PhaseOp phase, ArrayRef<Lanes> lanes) {
  int64_t reductionSlots = plan.getSpans() * rows::kLanes, area = phases % areas * areaSlots;
  // Who reads what a phase left here before has to be done.
  if (phases++ >= areas && !addsInOneWarp())
    builder.create<NVVM::Barrier0Op>();
  storeLanes(lanes, area);
  builder.create<NVVM::Barrier0Op>();
  if (addsInOneWarp())
    return addInOneWarp(phase, reductionSlots);
  SmallVector<Value> results;
  for (unsigned i = 0; i < lanes.size(); ++i)
    results.push_back(addSpans(phase.getKind(i), area + i * reductionSlots));
  return results;
}

SmallVector<Value> LaneSums::reduce(rows::PhaseOp phase, ArrayRef<Lanes> lanes, Value mask) {
  if (lanes.empty())
    return {};
  if (plan.getSpans() > 1)
    return reduceSpans(phase, lanes);
  SmallVector<Value> results;
  for (auto [i, values] : llvm::enumerate(lanes))
    results.push_back(reduceThreads(phase.getKind(i), values, thread.thread, mask));
  return results;
}
