// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RowKernels.h"

#include "codegen/cuda/Launch.h"
#include "codegen/cuda/Passes.h"
#include "codegen/cuda/rows/Guards.h"
#include "codegen/cuda/rows/LoopedRows.h"
#include "codegen/cuda/rows/RegisterSums.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowPartition.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

namespace {

/// Where a thread is, all in i64.
struct ThreadPlace {
  ThreadPlace(OpBuilder &builder, Location loc) {
    Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
    auto wide = [&](Value number) -> Value { return arith::ExtUIOp::create(builder, loc, i64, number); };
    Value threadOfBlock = wide(NVVM::ThreadIdXOp::create(builder, loc, i32));
    block = wide(NVVM::BlockIdXOp::create(builder, loc, i32));
    Value blocks = wide(NVVM::GridDimXOp::create(builder, loc, i32));
    Value warpThreads = constantI64(builder, loc, kWarpThreads), blockWarps = constantI64(builder, loc, kBlockWarps);
    thread = arith::RemUIOp::create(builder, loc, threadOfBlock, warpThreads);
    Value warpOfBlock = arith::DivUIOp::create(builder, loc, threadOfBlock, warpThreads);
    warp = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, block, blockWarps), warpOfBlock);
    warps = arith::MulIOp::create(builder, loc, blocks, blockWarps);
  }
  /// Of the thread in its warp, of the warp and the block in the grid; and how many warps there are.
  Value thread, warp, block, warps;
};

} // namespace

/// What the warp of a thread runs: from its own number on, as far apart as there are warps.
static void emitUnits(OpBuilder &builder, Location loc, const ThreadPlace &place, Value count,
                      function_ref<void(Value)> body) {
  auto emitBody = [&](OpBuilder &, Location, Value unit, ValueRange) {
    body(unit);
    scf::YieldOp::create(builder, loc);
  };
  scf::ForOp::create(builder, loc, place.warp, count, place.warps, ValueRange(), emitBody);
}

static Value countUnits(Code code, Value rows) {
  return rows::RowUnits::create(code, rows::RowPartition::create(code, rows)).count;
}

/// The last argument is the number of rows.
static void emitRows(Code &builder, KernelBody &body, rows::KernelOp kernel) {
  Location loc = kernel.getLoc();
  ThreadPlace place(builder, loc);
  LoopedRowEmitter emitter(builder, body.entry, body.as<rows::KernelAddresses>(), body.mapping, place.thread);
  if (!body.as<rows::KernelAddresses>().scratch)
    return emitUnits(builder, loc, place, body.getArgumentFromEnd(1), [&](Value row) {
      emitter.beginRow(kernel, row);
      emitter.emitBlock(kernel.getBody().front());
    });
  SumKernels sums(builder, kernel, body.as<rows::KernelAddresses>());
  emitUnits(builder, loc, place, countUnits(builder, body.as<rows::KernelAddresses>().rows),
            [&](Value unit) { sums.emitUnit(emitter, place.thread, unit); });
}

static void emitResults(Code &builder, KernelBody &body, rows::KernelOp kernel) {
  Location loc = kernel.getLoc();
  Value columns = constantI64(builder, loc, kResultColumns);
  Value first = arith::MulIOp::create(builder, loc, ThreadPlace(builder, loc).block, columns);
  SumKernels(builder, kernel, body.as<rows::KernelAddresses>()).emitResults(first);
}

/// The last argument is the number of rows. A block of threads has its own rows, or units of rows where there are sums
/// down the rows: all of its threads are there where it has one.
static void emitRegisterRows(Code &builder, KernelBody &body, rows::KernelOp kernel, const RegisterPlan &plan) {
  Location loc = kernel.getLoc();
  RowThread thread(builder, loc, plan, body.as<rows::KernelAddresses>().width);
  LaneSums lanes(builder, plan, thread, kernel);
  Value block = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                       NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type()));
  Value first = arith::MulIOp::create(builder, loc, block, constantI64(builder, loc, plan.blockRows));
  Value unit = arith::AddIOp::create(builder, loc, first, thread.row), units = body.getArgumentFromEnd(1);
  RegisterRowEmitter emitter(builder, body.entry, body.as<rows::KernelAddresses>(), body.mapping, plan, thread, lanes);
  bool hasSums = kernel.hasAccumulated();
  if (hasSums)
    units = countUnits(builder, body.as<rows::KernelAddresses>().rows);
  auto emitUnit = [&] {
    if (hasSums)
      RegisterSums(builder, kernel, body.as<rows::KernelAddresses>(), plan, thread).emitUnit(emitter, lanes, unit);
    else
      emitter.emitRow(kernel, unit);
  };
  if (plan.blockRows == 1)
    return emitUnit();
  Value isUnit = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, unit, units);
  scf::IfOp::create(builder, loc, isUnit, [&](OpBuilder &, Location) {
    emitUnit();
    scf::YieldOp::create(builder, loc);
  });
}

/// Whether all rows lie so that their accesses have whole vectors, and those of open width have one that suits (i1).
static Value emitSuits(OpBuilder &builder, KernelUse &use, const RegisterPlan &plan) {
  auto kernel = use.get<rows::KernelOp>();
  const auto &addresses = use.as<rows::KernelAddresses>();
  Location loc = kernel.getLoc();
  Type i64 = builder.getI64Type();
  Value bits = constantI64(builder, loc, 0);
  auto add = [&](Value bytes, int64_t accessBytes) {
    Value mostRest = constantI64(builder, loc, accessBytes - 1);
    bits = arith::OrIOp::create(builder, loc, bits, arith::AndIOp::create(builder, loc, bytes, mostRest));
  };
  for (unsigned i = 0; i < addresses.operands.size(); ++i) {
    if (!kernel.isAlongColumns(i) || kernel.isAccumulated(i))
      continue;
    const OperandAddress &operand = addresses.operands[i];
    int64_t accessBytes = plan.getAccessBytes(operand.elementType);
    Value elementBytes = constantI64(builder, loc, kernels::getElementBytes(operand.elementType));
    add(LLVM::PtrToIntOp::create(builder, loc, i64, operand.pointer), accessBytes);
    if (operand.linearStride)
      add(arith::MulIOp::create(builder, loc, operand.linearStride, elementBytes), accessBytes);
    for (auto [dimension, stride] : operand.strides)
      add(arith::MulIOp::create(builder, loc, stride, elementBytes), accessBytes);
  }
  if (addresses.scratch)
    add(LLVM::PtrToIntOp::create(builder, loc, i64, addresses.scratch), kSumAccessBytes);
  Value width = addresses.width;
  if (plan.isOpen())
    add(width, plan.lanes);
  Value suits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits, constantI64(builder, loc, 0));
  if (!plan.isOpen())
    return suits;
  auto require = [&](arith::CmpIPredicate predicate, Value number, int64_t bound) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, number, constantI64(builder, loc, bound));
  };
  auto both = [&](Value one, Value other) -> Value { return arith::AndIOp::create(builder, loc, one, other); };
  suits = both(suits, both(require(arith::CmpIPredicate::sge, width, plan.leastWidth),
                           require(arith::CmpIPredicate::sle, width, plan.width)));
  if (plan.getSpans() == 1)
    return suits;
  // As endsInWholeChunk.
  Value end = arith::RemUIOp::create(builder, loc, width, constantI64(builder, loc, rows::kBlockColumns));
  Value isWhole = arith::OrIOp::create(builder, loc, require(arith::CmpIPredicate::eq, end, 0),
                                       require(arith::CmpIPredicate::sge, end, rows::kLanes));
  return both(suits, isWhole);
}

void RowKernel::mark(func::FuncOp function, int64_t threads, int64_t registers) {
  OpBuilder builder(function);
  function->setAttr(kKernelAttribute, builder.getI32IntegerAttr(threads));
  if (registers > 0)
    function->setAttr(kRegistersAttribute, builder.getI32IntegerAttr(registers));
  function->setAttr(kNumberAttribute, builder.getI32IntegerAttr(count++));
}

void RowKernel::emit() {
  auto kernel = getFirst().get<rows::KernelOp>();
  Type i64 = IntegerType::get(kernel.getContext(), 64);
  number = count;
  auto create = [&](StringRef suffix, function_ref<void(Code &, KernelBody &)> emit) {
    return functions.outline(suffix, i64, [&](OpBuilder &at, KernelBody &body) {
      Code code(at, kernel.getLoc());
      emitGuarded(code, body, kernel, [&] { emit(code, body); });
    });
  };
  mark(create("__rows", [&](Code &builder, KernelBody &body) { emitRows(builder, body, kernel); }),
       kBlockWarps * kWarpThreads, kernel.hasAccumulated() ? kLoopedRegistersWithSums : kLoopedRegisters);
  if (kernel.hasAccumulated())
    mark(create("__sums", [&](Code &builder, KernelBody &body) { emitResults(builder, body, kernel); }), kResultThreads,
         kResultRegisters);
  for (const RegisterPlan &plan : RegisterPlan::choose(kernel, schedule))
    mark(create("__registers", [&](Code &builder, KernelBody &body) { emitRegisterRows(builder, body, kernel, plan); }),
         plan.getBlockThreads(), plan.mostRegisters);
}

/// Threads of a block, i64. Where a row of open width has a block of its own, it has threads for its spans alone.
static Value countThreads(OpBuilder &builder, Location loc, const RegisterPlan &plan, Value width) {
  if (!plan.isOpen() || plan.getSpans() == 1)
    return constantI64(builder, loc, plan.getBlockThreads());
  Value spans = arith::CeilDivSIOp::create(builder, loc, width, constantI64(builder, loc, rows::kBlockColumns));
  return arith::MulIOp::create(builder, loc, spans, constantI64(builder, loc, plan.getSpanThreads()));
}

/// Rows go to the first kernel with registers that they suit, others to the one that takes any. All have as many units,
/// which are rows or units of rows.
LogicalResult RowKernel::launchRows(KernelUse &use, Value units, ArrayRef<Value> arguments) {
  auto kernel = use.get<rows::KernelOp>();
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  Operation *place = kernel;
  int64_t next = number + (kernel.hasAccumulated() ? 2 : 1);
  auto countBlocks = [&](int64_t unitsOfBlock) -> Value {
    return arith::CeilDivSIOp::create(builder, loc, units, constantI64(builder, loc, unitsOfBlock));
  };
  for (const RegisterPlan &plan : RegisterPlan::choose(kernel, schedule)) {
    Value width = use.as<rows::KernelAddresses>().width;
    Value blocks = countBlocks(plan.blockRows), threads = countThreads(builder, loc, plan, width);
    auto either = scf::IfOp::create(builder, loc, emitSuits(builder, use, plan), /*withElseRegion=*/true);
    if (failed(
            launchKernel(either.thenYield(), use.enclosing, {next++, blocks, threads, /*sharedBytes=*/0, arguments})))
      return failure();
    place = either.elseYield();
    builder.setInsertionPoint(place);
  }
  Value threads = constantI64(builder, loc, kBlockWarps * kWarpThreads);
  return launchKernel(place, use.enclosing, {number, countBlocks(kBlockWarps), threads, /*sharedBytes=*/0, arguments});
}

LogicalResult RowKernel::launch(KernelUse &use) {
  OpBuilder builder(use.op);
  Location loc = use.op->getLoc();
  SmallVector<Value> arguments = functions.getArguments(builder, use);
  auto [rows, width] = use.indexing->countWork(builder, loc);
  Value units = rows;
  arguments.push_back(rows);
  bool hasSums = use.get<rows::KernelOp>().hasAccumulated();
  if (hasSums)
    units = countUnits(Code(builder, loc), rows);
  if (failed(launchRows(use, units, arguments)))
    return failure();
  if (!hasSums)
    return success();
  // Without rows, results stay as they are.
  Value none = constantI64(builder, loc, 0);
  Value hasRows = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, rows, none);
  Value blocks = arith::CeilDivSIOp::create(builder, loc, width, constantI64(builder, loc, kResultColumns));
  blocks = arith::SelectOp::create(builder, loc, hasRows, blocks, none);
  return launchKernel(use.op, use.enclosing,
                      {number + 1, blocks, constantI64(builder, loc, kResultThreads), /*sharedBytes=*/0, arguments});
}
