// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits sums down the rows: units by warps, and their results by blocks.

#include "codegen/cuda/rows/SumKernels.h"

#include "codegen/builder/Code.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

SumKernels::SumKernels(Code &builder, rows::KernelOp kernel, const KernelAddresses &addresses)
    : SumsDownRows(builder, kernel, addresses, [&](Sum &sum) {
        Value rows = UnitMemory::countRows(builder, partition, sum.type.isF64());
        return offsetRows(sum.memory, rows, builder.getF32Type());
      }) {}

Value SumKernels::load(Type type, Value pointer, Value index) {
  return loadElement(builder, builder.getLoc(), type, pointer, index, Alignment::Element);
}

void SumKernels::store(Value value, Value pointer, Value index) {
  storeElement(builder, builder.getLoc(), value, pointer, index, Alignment::Element);
}

//===------------------------------------------- units ------------------------------------------------------------===//

void SumKernels::emitPass(Value thread, function_ref<void(const Sum &, Value)> body) {
  constexpr int64_t columnsPerTurn = 4;
  for (const Sum &sum : sums)
    builder.loop(
        thread, addresses.width, kWarpThreads, [&](Value column) { body(sum, column); }, columnsPerTurn);
}

void SumKernels::addUp(Value thread, Value isFirst) {
  emitPass(thread, [&](const Sum &sum, Value column) {
    Value value = load(sum.type, sum.levels[0], column);
    auto emitMove = [&] { return SmallVector<Value>{value}; };
    auto emitSum = [&] { return SmallVector<Value>{builder.add(load(sum.type, sum.levels[1], column), value)}; };
    store(builder.choose(isFirst, sum.type, emitMove, emitSum).front(), sum.levels[1], column);
  });
}

void SumKernels::emitUnit(RowEmitter &emitter, Value unit, function_ref<void(Value, Value)> emitChain,
                          function_ref<void(Value)> addUp) {
  Value firstRow = builder.multiply(unit, UnitMemory::kLevels);
  setLevels(emitter, UnitMemory::kLevels, [&](const Sum &sum, int64_t level) {
    return offsetRows(sum.memory, builder.add(firstRow, level), sum.type);
  });
  Value low = builder.multiply(unit, units.rows);
  emitChains(low, builder.min(builder.add(low, units.rows), partition.rows), [&](Value first, Value end) {
    emitChain(first, end);
    addUp(builder.isEqual(first, low));
  });
}

void SumKernels::emitUnit(LoopedRowEmitter &emitter, Value thread, Value unit) {
  auto emitChain = [&](Value first, Value end) {
    emitPass(thread,
             [&](const Sum &sum, Value column) { store(builder.constant(sum.type, 0), sum.levels[0], column); });
    builder.rolledLoop(first, end, 1, [&](Value row) { emitter.emitRow(kernel, row); });
  };
  emitUnit(emitter, unit, emitChain, [&](Value isFirst) { addUp(thread, isFirst); });
}

//===------------------------------------------- results ----------------------------------------------------------===//

/// The groups of a lane in order, from +0, in f64: those from ceil(lane · groups / 64) on. Each is the sum of its units
/// in order, in the type of the terms. One loop runs through the units of all groups, so that their loads wait
/// together.
Value SumKernels::sumLane(const Sum &sum, Value lane, Value column) {
  constexpr int64_t unitsPerTurn = 8;
  Type f64 = builder.getF64Type();
  auto getFirst = [&](Value of) {
    Value raised = builder.add(builder.multiply(of, partition.groups), rows::kSumLanes - 1);
    return builder.multiply(builder.divide(raised, rows::kSumLanes), units.perGroup);
  };
  Value first = getFirst(lane), end = getFirst(builder.add(lane, 1));
  end = builder.min(end, units.count);
  Value last = builder.subtract(end, 1);
  Value lastOfGroup = builder.subtract(units.perGroup, 1);
  auto emitBody = [&](Value unit, ValueRange carried) -> SmallVector<Value> {
    Value row = builder.add(builder.multiply(unit, UnitMemory::kLevels), UnitMemory::kLevels - 1);
    Value index = builder.add(builder.multiply(row, length), column);
    Value value = load(sum.type, sum.memory, index);
    Value place = builder.both(unit, lastOfGroup);
    Value more = builder.add(carried[0], value);
    Value group = builder.select(builder.isEqual(place, 0), value, more);
    Value wide = builder.castFloat(group, f64);
    Value isWhole = builder.either(builder.isEqual(place, lastOfGroup), builder.isEqual(unit, last));
    Value total = builder.add(carried[1], wide);
    total = builder.select(isWhole, total, carried[1]);
    return {group, total};
  };
  Value none = builder.constant(sum.type, 0), zero = builder.constant(f64, 0);
  return builder.loop(first, end, 1, {none, zero}, emitBody, unitsPerTurn)[1];
}

/// Memory that a block shares: of each column, half of the lanes in f64.
Value SumKernels::getShared() {
  constexpr StringLiteral name = "resid.sum_lanes";
  constexpr unsigned sharedSpace = unsigned(NVVM::NVVMMemorySpace::Shared);
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(top, builder.getLoc(), LLVM::LLVMArrayType::get(builder.getF64Type(), kResultThreads),
                           /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(), /*alignment=*/8,
                           sharedSpace);
  }
  return builder.create<LLVM::AddressOfOp>(builder.getType<LLVM::LLVMPointerType>(sharedSpace), name);
}

/// Warp w has the lanes w and w + 32. Then half of the warps that are left add what the other half has: warp w takes
/// w + 16, w + 8, w + 4, w + 2 and w + 1.
void SumKernels::emitResult(const Sum &sum, Value shared, Value warp, Value thread, Value column, Value isPresent) {
  Type f64 = builder.getF64Type();
  Value place = builder.add(builder.multiply(warp, kResultColumns), thread);
  builder.choose(isPresent, [&] {
    Value other = builder.add(warp, rows::kSumLanes / 2);
    Value low = sumLane(sum, warp, column), high = sumLane(sum, other, column);
    store(builder.add(low, high), shared, place);
  });
  for (int64_t distance = rows::kSumLanes / 4; distance > 0; distance /= 2) {
    builder.create<NVVM::Barrier0Op>();
    Value isLower = builder.compare(arith::CmpIPredicate::slt, warp, distance);
    builder.choose(builder.both(isPresent, isLower), [&] {
      Value other = builder.add(place, distance * kResultColumns);
      Value total = builder.add(load(f64, shared, place), load(f64, shared, other));
      store(total, shared, place);
    });
  }
  Value isFirst = builder.isEqual(warp, 0);
  builder.choose(builder.both(isPresent, isFirst), [&] {
    Value pointer = addresses.operands[sum.operand].pointer;
    Value old = load(sum.element, pointer, column);
    store(finish(sum, load(f64, shared, place), old), pointer, column);
  });
}

void SumKernels::emitResults(Value first) {
  Value threadOfBlock = getNumber<NVVM::ThreadIdXOp>(builder);
  Value thread = builder.remainder(threadOfBlock, kResultColumns);
  Value warp = builder.divide(threadOfBlock, kResultColumns);
  Value column = builder.add(first, thread);
  Value isPresent = builder.compare(arith::CmpIPredicate::slt, column, addresses.width);
  Value shared = getShared();
  for (const Sum &sum : sums) {
    emitResult(sum, shared, warp, thread, column, isPresent);
    if (&sum != &sums.back())
      builder.create<NVVM::Barrier0Op>();
  }
}
