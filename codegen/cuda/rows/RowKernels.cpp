// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches and functions of row kernels, and sums down rows that stay in registers: the terms of a chain of rows are
// added up in registers, and the chains of a unit in memory. Not: the sum of all groups (SumKernels.h).

#include "codegen/cuda/rows/RowKernels.h"

#include "codegen/cuda/Passes.h"
#include "codegen/cuda/rows/Guards.h"
#include "codegen/cuda/rows/LoopedRows.h"
#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/cuda/rows/RegisterRows.h"
#include "codegen/cuda/rows/SumKernels.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowPartition.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// Addresses in the memory of the units are multiples of this.
static constexpr int64_t kSumAccessBytes = 16;

namespace {

class RegisterSums : public SumKernels {
public:
  RegisterSums(Code &builder, rows::KernelOp kernel, const rows::KernelAddresses &addresses, const RegisterPlan &plan,
               RowThread &thread)
      : SumKernels(builder, kernel, addresses), plan(plan), thread(thread) {}

  /// All rows of a unit (i64), by the threads that have one.
  void emitUnit(RegisterRowEmitter &emitter, LaneSums &lanes, Value unit);

private:
  using Columns = RegisterRowEmitter::Columns;

  void emitChain(RegisterRowEmitter &emitter, LaneSums &lanes, Value first, Value end);
  void addUp(RegisterRowEmitter &emitter, Value isFirst);
  /// Calls `body` with each chunk in which the thread has columns.
  void forEachChunk(function_ref<void(int64_t)> body);
  Value getAddress(Value level, int64_t chunk);

  const RegisterPlan &plan;
  RowThread &thread;
};

} // namespace

void RegisterSums::forEachChunk(function_ref<void(int64_t)> body) {
  for (int64_t chunk = 0; chunk < plan.getChunks(); ++chunk) {
    if (chunk < plan.getFullChunks())
      body(chunk);
    else
      builder.choose(hasColumns(builder, plan, thread, chunk), [&] { body(chunk); });
  }
}

Value RegisterSums::getAddress(Value level, int64_t chunk) {
  Type f32 = builder.getF32Type();
  Value first = getElementAddress(builder, builder.getLoc(), f32, level, thread.column);
  return builder.create<LLVM::GEPOp>(first.getType(), f32, first, ArrayRef<LLVM::GEPArg>{int32_t(chunk * rows::kLanes)},
                                     LLVM::GEPNoWrapFlags::inbounds);
}

/// The terms of all sums go through the loop over rows side by side.
void RegisterSums::emitChain(RegisterRowEmitter &emitter, LaneSums &lanes, Value first, Value end) {
  auto count = size_t(plan.getChunks() * plan.lanes);
  auto setTerms = [&](ValueRange all) {
    for (auto [i, sum] : llvm::enumerate(sums))
      emitter.getTerms(kernel.getRowArgument(sum.operand)) = llvm::to_vector(all.slice(i * count, count));
  };
  SmallVector<Value> zeros(sums.size() * count, builder.constant(builder.getF32Type(), 0));
  setTerms(builder.rolledLoop(first, end, 1, zeros, [&](Value row, ValueRange before) {
    setTerms(before);
    lanes.beginRow();
    if (plan.prefetchesRows) {
      Value next = builder.min(builder.add(row, 1), builder.subtract(partition.rows, 1));
      emitter.prefetchRow(kernel, next);
    }
    // What is computed from the column stays in the loop: before it, addresses and bounds of all chunks would take more
    // registers than there are.
    Value column = thread.column;
    thread.column = makeOpaque(builder, column);
    emitter.emitRow(kernel, row);
    thread.column = column;
    SmallVector<Value> after;
    for (const Sum &sum : sums)
      llvm::append_range(after, emitter.getTerms(kernel.getRowArgument(sum.operand)));
    return after;
  }));
}

/// What is on level 0 is in registers.
void RegisterSums::addUp(RegisterRowEmitter &emitter, Value isFirst) {
  unsigned alignment = unsigned(std::min(plan.getAccessBytes(builder.getF32Type()), kSumAccessBytes));
  auto emitAll = [&](bool isMove) {
    for (const Sum &sum : sums) {
      ArrayRef<Value> terms = emitter.getTerms(kernel.getRowArgument(sum.operand));
      forEachChunk([&](int64_t chunk) {
        Value value = makeVector(builder, terms.slice(size_t(chunk * plan.lanes), size_t(plan.lanes)));
        if (!isMove) {
          Value place = getAddress(sum.levels[1], chunk);
          Value before = builder.create<LLVM::LoadOp>(value.getType(), place, alignment);
          value = builder.add(before, value);
        }
        builder.create<LLVM::StoreOp>(value, getAddress(sum.levels[1], chunk), alignment);
      });
    }
  };
  builder.choose(
      isFirst, [&] { emitAll(/*isMove=*/true); }, [&] { emitAll(/*isMove=*/false); });
}

void RegisterSums::emitUnit(RegisterRowEmitter &emitter, LaneSums &lanes, Value unit) {
  SumKernels::emitUnit(
      emitter, unit, [&](Value first, Value end) { emitChain(emitter, lanes, first, end); },
      [&](Value isFirst) { addUp(emitter, isFirst); });
}

namespace {

/// Where a thread is, all in i64.
struct ThreadPlace {
  explicit ThreadPlace(Code &builder) {
    Value threadOfBlock = getNumber<NVVM::ThreadIdXOp>(builder);
    block = getNumber<NVVM::BlockIdXOp>(builder);
    Value blocks = getNumber<NVVM::GridDimXOp>(builder);
    thread = builder.remainder(threadOfBlock, kWarpThreads);
    Value warpOfBlock = builder.divide(threadOfBlock, kWarpThreads);
    warp = builder.add(builder.multiply(block, kBlockWarps), warpOfBlock);
    warps = builder.multiply(blocks, kBlockWarps);
  }
  /// Of the thread in its warp, of the warp and the block in the grid; and how many warps there are.
  Value thread, warp, block, warps;
};

} // namespace

static Value countUnits(Code code, Value rows) {
  return rows::RowUnits::create(code, rows::RowPartition::create(code, rows)).count;
}

/// The last argument is the number of rows. A warp runs units (or rows) from its own number on, as far apart as there
/// are warps.
static void emitRows(Code &builder, KernelBody &body, rows::KernelOp kernel) {
  const auto &addresses = body.as<rows::KernelAddresses>();
  ThreadPlace place(builder);
  LoopedRowEmitter emitter(builder, body.entry, addresses, body.mapping, place.thread);
  if (!addresses.scratch) {
    builder.loop(place.warp, body.getArgumentFromEnd(1), place.warps, [&](Value row) { emitter.emitRow(kernel, row); });
    return;
  }
  SumKernels sums(builder, kernel, addresses);
  builder.loop(place.warp, countUnits(builder, addresses.rows), place.warps,
               [&](Value unit) { sums.emitUnit(emitter, place.thread, unit); });
}

static void emitResults(Code &builder, KernelBody &body, rows::KernelOp kernel) {
  Value first = builder.multiply(ThreadPlace(builder).block, kResultColumns);
  SumKernels(builder, kernel, body.as<rows::KernelAddresses>()).emitResults(first);
}

/// The last argument is the number of rows. A block of threads has its own rows, or units of rows where there are sums
/// down the rows: all of its threads are there where it has one.
static void emitRegisterRows(Code &builder, KernelBody &body, rows::KernelOp kernel, const RegisterPlan &plan) {
  const auto &addresses = body.as<rows::KernelAddresses>();
  RowThread thread(builder, plan, addresses.width);
  LaneSums lanes(builder, plan, thread, kernel);
  Value first = builder.multiply(getNumber<NVVM::BlockIdXOp>(builder), plan.blockRows);
  Value unit = builder.add(first, thread.row), units = body.getArgumentFromEnd(1);
  RegisterRowEmitter emitter(builder, body.entry, addresses, body.mapping, plan, thread, lanes);
  bool hasSums = kernel.hasAccumulated();
  if (hasSums)
    units = countUnits(builder, addresses.rows);
  auto emitUnit = [&] {
    if (hasSums)
      RegisterSums(builder, kernel, addresses, plan, thread).emitUnit(emitter, lanes, unit);
    else
      emitter.emitRow(kernel, unit);
  };
  if (plan.blockRows == 1)
    return emitUnit();
  builder.choose(builder.compare(arith::CmpIPredicate::slt, unit, units), emitUnit);
}

/// Whether all rows lie so that their accesses have whole vectors, as few as the plan takes, and those of open width
/// have one that suits (i1).
static Value emitSuits(Code builder, KernelUse &use, const RegisterPlan &plan) {
  auto kernel = use.get<rows::KernelOp>();
  const auto &addresses = use.as<rows::KernelAddresses>();
  Value bits = builder.constant(0);
  auto add = [&](Value bytes, int64_t accessBytes) {
    bits = builder.either(bits, builder.both(bytes, accessBytes - 1));
  };
  for (unsigned i = 0; i < addresses.operands.size(); ++i) {
    if (!kernel.isAlongColumns(i) || kernel.isAccumulated(i))
      continue;
    const OperandAddress &operand = addresses.operands[i];
    int64_t accessBytes = plan.getAccessBytes(operand.elementType);
    int64_t elementBytes = kernels::getElementBytes(operand.elementType);
    add(builder.toInteger(operand.pointer), accessBytes);
    if (operand.linearStride)
      add(builder.multiply(operand.linearStride, elementBytes), accessBytes);
    for (auto [dimension, stride] : operand.strides)
      add(builder.multiply(stride, elementBytes), accessBytes);
  }
  if (addresses.scratch)
    add(builder.toInteger(addresses.scratch), kSumAccessBytes);
  Value width = addresses.width;
  if (plan.isOpen())
    add(width, plan.lanes);
  Value suits = builder.isEqual(bits, 0);
  if (plan.mostRows > 0)
    suits = builder.both(suits, builder.isAtMost(addresses.rows, plan.mostRows));
  if (!plan.isOpen())
    return suits;
  Value isWide = builder.compare(arith::CmpIPredicate::sge, width, plan.leastWidth);
  suits = builder.both(suits, builder.both(isWide, builder.isAtMost(width, plan.width)));
  if (plan.getSpans() == 1)
    return suits;
  // As endsInWholeChunk.
  Value end = builder.remainder(width, rows::kSpanColumns);
  Value isChunk = builder.compare(arith::CmpIPredicate::sge, end, rows::kLanes);
  return builder.both(suits, builder.either(builder.isEqual(end, 0), isChunk));
}

/// Whether a parameter such as gamma has a wider type than the rows.
static bool hasWideParameters(rows::KernelOp kernel) {
  int64_t ofRows = 0, ofParameters = 0;
  for (unsigned i = 0; i < kernel.getIndexingMaps().size(); ++i) {
    if (!kernel.isAlongColumns(i) || kernel.isAccumulated(i))
      continue;
    int64_t &widest = isOwnRow(kernel, i) ? ofRows : ofParameters;
    Type element = cast<rows::RowType>(kernel.getRowArgument(i).getType()).getElementType();
    widest = std::max(widest, kernels::getElementBytes(element));
  }
  return ofParameters > ofRows;
}

/// Each operand has a pointer and numbers of the row, which several streams and their mix have many of. Those take what
/// a thread may have, and so do narrow rows with wide parameters and sums.
static int64_t getLoopedRegisters(rows::KernelOp kernel) {
  constexpr size_t fewOperands = 12;
  if (kernel.getIndexingMaps().size() > fewOperands || (kernel.hasAccumulated() && hasWideParameters(kernel)))
    return kMostThreadRegisters;
  return kernel.hasAccumulated() ? kLoopedRegistersWithSums : kLoopedRegisters;
}

void RowKernel::emit() {
  auto kernel = getFirst().get<rows::KernelOp>();
  Type i64 = IntegerType::get(kernel.getContext(), 64);
  auto add = [&](StringRef suffix, int64_t threads, int64_t registers, EmitFunction emit) {
    addFunction(suffix, i64, threads, registers,
                [&](Code &code, KernelBody &body) { emitGuarded(code, body, kernel, [&] { emit(code, body); }); });
  };
  add("__rows", kBlockWarps * kWarpThreads, getLoopedRegisters(kernel),
      [&](Code &builder, KernelBody &body) { emitRows(builder, body, kernel); });
  if (kernel.hasAccumulated())
    add("__sums", kResultThreads, kResultRegisters,
        [&](Code &builder, KernelBody &body) { emitResults(builder, body, kernel); });
  for (const RegisterPlan &plan : RegisterPlan::choose(kernel, schedule))
    add("__registers", plan.getBlockThreads(), plan.mostRegisters,
        [&](Code &builder, KernelBody &body) { emitRegisterRows(builder, body, kernel, plan); });
}

static Value divideUp(Code &builder, Value value, int64_t divisor) {
  return builder.create<arith::CeilDivSIOp>(value, builder.constant(divisor));
}

/// Threads of a block, i64. Where a row of open width has a block of its own, it has threads for its spans alone.
static Value countThreads(Code &builder, const RegisterPlan &plan, Value width) {
  if (!plan.isOpen() || plan.getSpans() == 1)
    return builder.constant(plan.getBlockThreads());
  return builder.multiply(divideUp(builder, width, rows::kSpanColumns), plan.getSpanThreads());
}

/// Rows go to the last kernel with registers that they suit, others to the one that takes any. All have as many units,
/// which are rows or units of rows.
LogicalResult RowKernel::launchRows(KernelUse &use, Value units, ArrayRef<Value> arguments) {
  auto kernel = use.get<rows::KernelOp>();
  Code builder(OpBuilder(kernel), kernel.getLoc());
  Operation *place = kernel;
  SmallVector<RegisterPlan, 2> plans = RegisterPlan::choose(getFirst().get<rows::KernelOp>(), schedule);
  int64_t next = countFunctions();
  for (const RegisterPlan &plan : llvm::reverse(plans)) {
    Value blocks = divideUp(builder, units, plan.blockRows);
    Value threads = countThreads(builder, plan, use.as<rows::KernelAddresses>().width);
    auto either = builder.create<scf::IfOp>(emitSuits(builder, use, plan), /*withElseRegion=*/true);
    if (failed(launchFunction(--next, either.thenYield(), use, blocks, threads, arguments)))
      return failure();
    place = either.elseYield();
    builder.setInsertionPoint(place);
  }
  Value threads = builder.constant(kBlockWarps * kWarpThreads), blocks = divideUp(builder, units, kBlockWarps);
  return launchFunction(0, place, use, blocks, threads, arguments);
}

LogicalResult RowKernel::launch(KernelUse &use) {
  Code builder(OpBuilder(use.op), use.op->getLoc());
  SmallVector<Value> arguments = functions.getArguments(builder, use);
  auto [rows, width] = use.indexing->countWork(builder, builder.getLoc());
  arguments.push_back(rows);
  bool hasSums = use.get<rows::KernelOp>().hasAccumulated();
  if (failed(launchRows(use, hasSums ? countUnits(builder, rows) : rows, arguments)))
    return failure();
  if (!hasSums)
    return success();
  // Without rows, results stay as they are.
  Value hasRows = builder.compare(arith::CmpIPredicate::sgt, rows, 0);
  Value blocks = builder.select(hasRows, divideUp(builder, width, kResultColumns), 0);
  return launchFunction(1, use.op, use, blocks, builder.constant(kResultThreads), arguments);
}
