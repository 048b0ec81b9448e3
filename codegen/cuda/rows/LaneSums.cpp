// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/LaneSums.h"

#include "codegen/rows/Reductions.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// What a block of threads may share without asking for more, of f32.
static constexpr int64_t kSharedSlots = 48 * 1024 / 4;
static constexpr unsigned kSharedSpace = unsigned(NVVM::NVVMMemorySpace::Shared);

//===------------------------------------------- threads ----------------------------------------------------------===//

RowThread::RowThread(OpBuilder &builder, Location loc, const RegisterPlan &plan, Value openWidth) {
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto constant = [&](int64_t number) { return constantI64(builder, loc, number); };
  Value ofBlock = arith::ExtUIOp::create(builder, loc, i64, NVVM::ThreadIdXOp::create(builder, loc, i32));
  warpThread = arith::RemUIOp::create(builder, loc, ofBlock, constant(kWarpThreads));
  warp = arith::DivUIOp::create(builder, loc, ofBlock, constant(kWarpThreads));
  thread = arith::RemUIOp::create(builder, loc, ofBlock, constant(plan.getSpanThreads()));
  Value group = arith::DivUIOp::create(builder, loc, ofBlock, constant(plan.getSpanThreads()));
  bool hasSpans = plan.getSpans() > 1;
  row = hasSpans ? constant(0) : group;
  span = hasSpans ? group : constant(0);
  column = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, span, constant(rows::kBlockColumns)),
                                 arith::MulIOp::create(builder, loc, thread, constant(plan.lanes)));
  width = plan.isOpen() ? openWidth : constant(plan.width);
  spans = constant(plan.getSpans());
  if (plan.isOpen()) {
    Value raised = arith::AddIOp::create(builder, loc, width, constant(rows::kBlockColumns - 1));
    spans = arith::DivUIOp::create(builder, loc, raised, constant(rows::kBlockColumns));
  }
  int64_t all = (int64_t(1) << plan.getSpanThreads()) - 1;
  mask = arith::ConstantIntOp::create(builder, loc, i32, -1);
  // The last warp of a row of open width need not be whole, but its spans are.
  if ((hasSpans && !plan.isOpen()) || plan.getSpanThreads() == kWarpThreads)
    return;
  Value first = arith::SubIOp::create(builder, loc, warpThread, thread);
  mask = arith::ShLIOp::create(builder, loc, arith::ConstantIntOp::create(builder, loc, i32, all),
                               arith::TruncIOp::create(builder, loc, i32, first));
}

//===------------------------------------------- one span ---------------------------------------------------------===//

rows::ReductionKind cuda::getKind(rows::PhaseOp phase, unsigned number) {
  return cast<rows::ReductionKindAttr>(phase.getKinds()[number]).getValue();
}

/// Lane l takes lane l + 32, l + 16 and so on. As long as a thread has several lanes, it gives half of them to the
/// thread that has what they take, and keeps the half of the lanes that its number's bit names. Then the lanes next to
/// each other are in threads that differ in those bits.
Value LaneSums::reduceThreads(rows::ReductionKind kind, Lanes lanes, Value number, Value mask) {
  Location loc = lanes.front().getLoc();
  kind = getCombiningKind(kind);
  SmallVector<int64_t> splits;
  for (int64_t distance = rows::kLanes / int64_t(lanes.size()) / 2; distance > 0; distance /= 2) {
    if (lanes.size() == 1) {
      lanes[0] = combine(builder, kind, lanes[0], exchange(builder, lanes[0], distance, mask));
      continue;
    }
    splits.push_back(distance);
    Value bit = arith::AndIOp::create(builder, loc, number, constantI64(builder, loc, distance));
    Value isUpper = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, constantI64(builder, loc, 0));
    size_t half = lanes.size() / 2;
    Lanes sums;
    for (size_t i = 0; i < half; ++i) {
      Value mine = arith::SelectOp::create(builder, loc, isUpper, lanes[half + i], lanes[i]);
      Value others = arith::SelectOp::create(builder, loc, isUpper, lanes[i], lanes[half + i]);
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
LaneSums::LaneSums(OpBuilder &builder, const RegisterPlan &plan, const RowThread &thread, rows::KernelOp kernel)
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
  auto function = builder.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  OpBuilder top = OpBuilder::atBlockBegin(function->getParentOfType<ModuleOp>().getBody());
  constexpr int64_t alignment = 16;
  int64_t slots = areas * areaSlots + (addsInOneWarp() ? most : 0);
  memory = LLVM::GlobalOp::create(top, kernel.getLoc(), LLVM::LLVMArrayType::get(builder.getF32Type(), slots),
                                  /*isConstant=*/false, LLVM::Linkage::Internal, (function.getName() + ".lanes").str(),
                                  Attribute(), alignment, kSharedSpace);
}

/// Where a row has many spans, the warps have more to add than what a second barrier costs. Of a row of open width, the
/// last warp may not be whole, so that it cannot add up.
bool LaneSums::addsInOneWarp() const {
  constexpr int64_t manySpans = 8;
  return plan.isOpen() || plan.getSpans() >= manySpans;
}

Value LaneSums::getSlot(Location loc, Value index, int64_t more) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), kSharedSpace);
  Value first = LLVM::AddressOfOp::create(builder, loc, pointer, memory.getSymName());
  if (index)
    first = LLVM::GEPOp::create(builder, loc, pointer, builder.getF32Type(), first, ValueRange(index));
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getF32Type(), first, ArrayRef<LLVM::GEPArg>{int32_t(more)});
}

void LaneSums::storeLanes(Location loc, ArrayRef<Lanes> lanes, int64_t area) {
  Value own = arith::MulIOp::create(builder, loc, thread.span, constantI64(builder, loc, rows::kLanes));
  own = arith::AddIOp::create(
      builder, loc, own, arith::MulIOp::create(builder, loc, thread.thread, constantI64(builder, loc, plan.lanes)));
  for (auto [i, values] : llvm::enumerate(lanes)) {
    Value vector = LLVM::PoisonOp::create(builder, loc, VectorType::get(plan.lanes, builder.getF32Type()));
    for (auto [lane, value] : llvm::enumerate(values))
      vector = LLVM::InsertElementOp::create(builder, loc, vector, value, constantI64(builder, loc, lane));
    auto bytes = unsigned(std::min<int64_t>(plan.lanes * 4, 16));
    Value slot = getSlot(loc, own, area + int64_t(i) * plan.getSpans() * rows::kLanes);
    LLVM::StoreOp::create(builder, loc, vector, slot, bytes);
  }
}

/// Lanes that a thread adds up of all spans.
static constexpr int64_t kPair = rows::kLanes / kWarpThreads;

/// Adds the lanes of the span whose lanes of the thread are at `first`.
LaneSums::Lanes LaneSums::addSpan(Location loc, rows::ReductionKind kind, Lanes totals, Value first, int64_t area) {
  Value vector = LLVM::LoadOp::create(builder, loc, VectorType::get(kPair, builder.getF32Type()),
                                      getSlot(loc, first, area), /*alignment=*/8);
  for (int64_t i = 0; i < kPair; ++i) {
    Value lane = LLVM::ExtractElementOp::create(builder, loc, vector, constantI64(builder, loc, i));
    totals[i] = combine(builder, getCombiningKind(kind), totals[i], lane);
  }
  return totals;
}

/// A warp adds up the lanes of all spans, in their order. A thread has two neighbouring lanes.
Value LaneSums::addSpans(Location loc, rows::ReductionKind kind, int64_t area) {
  Value first = arith::MulIOp::create(builder, loc, thread.warpThread, constantI64(builder, loc, kPair));
  Lanes totals(kPair, createNeutral(builder, loc, kind, builder.getF32Type()));
  if (plan.isOpen()) {
    auto emitSpan = [&](OpBuilder &, Location, Value span, ValueRange before) {
      Value lanes = arith::MulIOp::create(builder, loc, span, constantI64(builder, loc, rows::kLanes));
      Value ofSpan = arith::AddIOp::create(builder, loc, first, lanes);
      scf::YieldOp::create(builder, loc, addSpan(loc, kind, llvm::to_vector(before), ofSpan, area));
    };
    auto loop = scf::ForOp::create(builder, loc, constantI64(builder, loc, 0), thread.spans,
                                   constantI64(builder, loc, 1), totals, emitSpan);
    totals = Lanes(loop.getResults());
  } else {
    for (int64_t span = 0; span < plan.getSpans(); ++span)
      totals = addSpan(loc, kind, totals, first, area + span * rows::kLanes);
  }
  return reduceThreads(kind, totals, thread.warpThread, /*mask=*/nullptr);
}

/// Each sum has a warp, which leaves it for all threads.
SmallVector<Value> LaneSums::addInOneWarp(rows::PhaseOp phase, int64_t reductionSlots) {
  Location loc = phase.getLoc();
  int64_t warps = plan.getLeastRowThreads() / kWarpThreads;
  for (int64_t i = 0; i < phase.getNumResults(); ++i) {
    Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread.warp,
                                        constantI64(builder, loc, i % warps));
    scf::IfOp::create(builder, loc, isOwn, [&](OpBuilder &, Location) {
      Value total = addSpans(loc, getKind(phase, unsigned(i)), i * reductionSlots);
      Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread.warpThread,
                                            constantI64(builder, loc, 0));
      scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &, Location) {
        LLVM::StoreOp::create(builder, loc, total, getSlot(loc, nullptr, areaSlots + i), /*alignment=*/4);
        scf::YieldOp::create(builder, loc);
      });
      scf::YieldOp::create(builder, loc);
    });
  }
  NVVM::Barrier0Op::create(builder, loc);
  SmallVector<Value> results;
  for (int64_t i = 0; i < phase.getNumResults(); ++i)
    results.push_back(LLVM::LoadOp::create(builder, loc, builder.getF32Type(), getSlot(loc, nullptr, areaSlots + i),
                                           /*alignment=*/4));
  return results;
}

void LaneSums::beginRow() {
  phases = 0;
  if (areas > 0 && !addsInOneWarp())
    NVVM::Barrier0Op::create(builder, memory.getLoc());
}

/// Each span leaves its lanes in shared memory.
SmallVector<Value> LaneSums::reduceSpans(rows::PhaseOp phase, ArrayRef<Lanes> lanes) {
  Location loc = phase.getLoc();
  int64_t reductionSlots = plan.getSpans() * rows::kLanes, area = phases % areas * areaSlots;
  // Who reads what a phase left here before has to be done.
  if (phases++ >= areas && !addsInOneWarp())
    NVVM::Barrier0Op::create(builder, loc);
  storeLanes(loc, lanes, area);
  NVVM::Barrier0Op::create(builder, loc);
  if (addsInOneWarp())
    return addInOneWarp(phase, reductionSlots);
  SmallVector<Value> results;
  for (unsigned i = 0; i < lanes.size(); ++i)
    results.push_back(addSpans(loc, getKind(phase, i), area + i * reductionSlots));
  return results;
}

SmallVector<Value> LaneSums::reduce(rows::PhaseOp phase, ArrayRef<Lanes> lanes, Value mask) {
  if (lanes.empty())
    return {};
  if (plan.getSpans() > 1)
    return reduceSpans(phase, lanes);
  SmallVector<Value> results;
  for (auto [i, values] : llvm::enumerate(lanes))
    results.push_back(reduceThreads(getKind(phase, unsigned(i)), values, thread.thread, mask));
  return results;
}
