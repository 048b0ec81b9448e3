// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the order of sums down the rows. A sum begins at +0 and so never is -0; what would be added to an empty one is
// moved there instead, which has the same bits.

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
    : builder(builder), loc(kernel.getLoc()), kernel(kernel), addresses(addresses),
      partition(rows::RowPartition::create(builder, addresses.rows)), units(rows::RowUnits::create(builder, partition)),
      length(rows::SumMemory::getLength(builder, addresses.width)) {
  Value next = addresses.scratch;
  for (unsigned i = kernel.getInputs().size(), end = i + kernel.getInits().size(); i < end; ++i) {
    if (!kernel.isAccumulated(i))
      continue;
    bool isF64 = cast<rows::RowType>(kernel.getRowArgument(i).getType()).getElementType().isF64();
    sums.push_back({i, isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type()), next});
    Value elements = builder.multiply(rows::UnitMemory::countRows(builder, partition, isF64), length);
    next = getElementAddress(builder, loc, builder.getF32Type(), next, elements);
  }
}

Value SumKernels::load(Type type, Value pointer, Value index) {
  return loadElement(builder, loc, type, pointer, index, Alignment::Element);
}

void SumKernels::store(Value value, Value pointer, Value index) {
  storeElement(builder, loc, value, pointer, index, Alignment::Element);
}

//===------------------------------------------- units ------------------------------------------------------------===//

/// Where the levels of a unit lie; terms are added to the lowest one.
void SumKernels::chooseUnit(RowEmitter &emitter, Value unit) {
  for (Sum &sum : sums) {
    sum.levels.clear();
    Value first = builder.multiply(unit, rows::UnitMemory::kLevels);
    for (int64_t level = 0; level < rows::UnitMemory::kLevels; ++level) {
      Value row = builder.add(first, level);
      Value elements = builder.multiply(row, length);
      sum.levels.push_back(getElementAddress(builder, loc, sum.type, sum.memory, elements));
    }
    emitter.setChain(kernel.getRowArgument(sum.operand), sum.levels.front());
  }
}

void SumKernels::emitPass(Value thread, function_ref<void(const Sum &, Value)> body) {
  constexpr int64_t columnsPerTurn = 4;
  for (const Sum &sum : sums)
    builder.loop(
        thread, addresses.width, kWarpThreads, [&](Value column) { body(sum, column); }, columnsPerTurn);
}

void SumKernels::addUp(Value thread, Value isFirst) {
  emitPass(thread, [&](const Sum &sum, Value column) {
    Value value = load(sum.type, sum.levels[0], column);
    auto emitMove = [&](OpBuilder &, Location) { scf::YieldOp::create(builder, loc, value); };
    auto emitSum = [&](OpBuilder &, Location) {
      Value before = load(sum.type, sum.levels[1], column);
      scf::YieldOp::create(builder, loc, builder.add(before, value));
    };
    store(scf::IfOp::create(builder, loc, isFirst, emitMove, emitSum).getResult(0), sum.levels[1], column);
  });
}

void SumKernels::emitChains(Value unit, function_ref<void(Value, Value)> emitChain, function_ref<void(Value)> addUp) {
  Value low = builder.multiply(unit, units.rows);
  auto least = [&](Value begin, Value count, Value end) -> Value {
    return builder.min(builder.add(begin, count), end);
  };
  Value high = least(low, units.rows, partition.rows);
  builder.rolledLoop(low, high, rows::kChainRows, [&](Value chain) {
    emitChain(chain, least(chain, constant(rows::kChainRows), high));
    addUp(builder.isEqual(chain, low));
  });
}

void SumKernels::emitUnit(LoopedRowEmitter &emitter, Value thread, Value unit) {
  chooseUnit(emitter, unit);
  auto emitChain = [&](Value first, Value end) {
    emitPass(thread, [&](const Sum &sum, Value column) {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sum.type));
      store(zero, sum.levels[0], column);
    });
    builder.rolledLoop(first, end, 1, [&](Value row) {
      emitter.beginRow(kernel, row);
      emitter.emitBlock(kernel.getBody().front());
    });
  };
  emitChains(unit, emitChain, [&](Value isFirst) { addUp(thread, isFirst); });
}

//===------------------------------------------- results ----------------------------------------------------------===//

/// The groups of a lane in order, from +0, in f64: those from ceil(lane · groups / 64) on. Each is the sum of its units
/// in order, in the type of the terms. One loop runs through the units of all groups, so that their loads wait
/// together.
Value SumKernels::sumLane(const Sum &sum, Value lane, Value column) {
  constexpr int64_t unitsPerTurn = 8;
  Type f64 = builder.getF64Type();
  auto getFirst = [&](Value of) -> Value {
    Value product = builder.multiply(of, partition.groups);
    Value raised = builder.add(product, rows::kSumLanes - 1);
    Value group = builder.divide(raised, rows::kSumLanes);
    return builder.multiply(group, units.perGroup);
  };
  Value first = getFirst(lane), end = getFirst(builder.add(lane, 1));
  end = builder.min(end, units.count);
  Value last = builder.subtract(end, 1);
  Value lastOfGroup = builder.subtract(units.perGroup, 1);
  auto emitBody = [&](Value unit, ValueRange carried) -> SmallVector<Value> {
    Value row = builder.multiply(unit, rows::UnitMemory::kLevels);
    row = builder.add(row, rows::UnitMemory::kLevels - 1);
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
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sum.type));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(f64));
  return builder.loop(first, end, 1, {none, zero}, emitBody, unitsPerTurn)[1];
}

/// Memory that a block shares: of each column, half of the lanes in f64.
Value SumKernels::getShared() {
  constexpr StringLiteral name = "resid.sum_lanes";
  constexpr unsigned sharedSpace = unsigned(NVVM::NVVMMemorySpace::Shared);
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(top, loc, LLVM::LLVMArrayType::get(builder.getF64Type(), kResultThreads),
                           /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(), /*alignment=*/8,
                           sharedSpace);
  }
  return LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace), name);
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
    NVVM::Barrier0Op::create(builder, loc);
    Value isLower = builder.compare(arith::CmpIPredicate::slt, warp, distance);
    builder.choose(builder.both(isPresent, isLower), [&] {
      Value other = builder.add(place, distance * kResultColumns);
      Value total = builder.add(load(f64, shared, place), load(f64, shared, other));
      store(total, shared, place);
    });
  }
  Value isFirst = builder.isEqual(warp, 0);
  builder.choose(builder.both(isPresent, isFirst), [&] {
    Type element = cast<rows::RowType>(kernel.getRowArgument(sum.operand).getType()).getElementType();
    Value pointer = addresses.operands[sum.operand].pointer;
    Value old = builder.castFloat(load(element, pointer, column), f64), total = load(f64, shared, place);
    total = builder.add(total, old);
    store(builder.castFloat(total, element), pointer, column);
  });
}

void SumKernels::emitResults(Value first) {
  Value threadOfBlock = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                               NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type()));
  Value thread = builder.remainder(threadOfBlock, kResultColumns);
  Value warp = builder.divide(threadOfBlock, kResultColumns);
  Value column = builder.add(first, thread);
  Value isPresent = builder.compare(arith::CmpIPredicate::slt, column, addresses.width);
  Value shared = getShared();
  for (const Sum &sum : sums) {
    emitResult(sum, shared, warp, thread, column, isPresent);
    if (&sum != &sums.back())
      NVVM::Barrier0Op::create(builder, loc);
  }
}
