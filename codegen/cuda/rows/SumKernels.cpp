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
      partition(rows::RowPartition::create(builder, loc, addresses.rows)),
      units(rows::RowUnits::create(builder, loc, partition)),
      length(rows::SumMemory::getLength(builder, loc, addresses.width)) {
  Value next = addresses.scratch;
  for (unsigned i = kernel.getInputs().size(), end = i + kernel.getInits().size(); i < end; ++i) {
    if (!kernel.isAccumulated(i))
      continue;
    bool isF64 = cast<rows::RowType>(kernel.getRowArgument(i).getType()).getElementType().isF64();
    sums.push_back({i, isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type()), next});
    Value elements =
        arith::MulIOp::create(builder, loc, rows::UnitMemory::countRows(builder, loc, partition, isF64), length);
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
    Value first = arith::MulIOp::create(builder, loc, unit, constant(rows::UnitMemory::kLevels));
    for (int64_t level = 0; level < rows::UnitMemory::kLevels; ++level) {
      Value row = arith::AddIOp::create(builder, loc, first, constant(level));
      Value elements = arith::MulIOp::create(builder, loc, row, length);
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
      scf::YieldOp::create(builder, loc, arith::AddFOp::create(builder, loc, before, value).getResult());
    };
    store(scf::IfOp::create(builder, loc, isFirst, emitMove, emitSum).getResult(0), sum.levels[1], column);
  });
}

void SumKernels::emitChains(Value unit, function_ref<void(Value, Value)> emitChain, function_ref<void(Value)> addUp) {
  Value low = arith::MulIOp::create(builder, loc, unit, units.rows);
  auto least = [&](Value begin, Value count, Value end) -> Value {
    return arith::MinSIOp::create(builder, loc, arith::AddIOp::create(builder, loc, begin, count), end);
  };
  Value high = least(low, units.rows, partition.rows);
  builder.rolledLoop(low, high, rows::kChainRows, [&](Value chain) {
    emitChain(chain, least(chain, constant(rows::kChainRows), high));
    addUp(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, chain, low));
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
    Value product = arith::MulIOp::create(builder, loc, of, partition.groups);
    Value raised = arith::AddIOp::create(builder, loc, product, constant(rows::kSumLanes - 1));
    Value group = arith::DivUIOp::create(builder, loc, raised, constant(rows::kSumLanes));
    return arith::MulIOp::create(builder, loc, group, units.perGroup);
  };
  Value first = getFirst(lane), end = getFirst(arith::AddIOp::create(builder, loc, lane, constant(1)));
  end = arith::MinSIOp::create(builder, loc, end, units.count);
  Value last = arith::SubIOp::create(builder, loc, end, constant(1));
  Value lastOfGroup = arith::SubIOp::create(builder, loc, units.perGroup, constant(1));
  auto emitBody = [&](Value unit, ValueRange carried) -> SmallVector<Value> {
    auto isEqual = [&](Value one, Value other) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, one, other);
    };
    Value row = arith::MulIOp::create(builder, loc, unit, constant(rows::UnitMemory::kLevels));
    row = arith::AddIOp::create(builder, loc, row, constant(rows::UnitMemory::kLevels - 1));
    Value index = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, row, length), column);
    Value value = load(sum.type, sum.memory, index);
    Value place = arith::AndIOp::create(builder, loc, unit, lastOfGroup);
    Value more = arith::AddFOp::create(builder, loc, carried[0], value);
    Value group = arith::SelectOp::create(builder, loc, isEqual(place, constant(0)), value, more);
    Value wide = Code(builder, loc).castFloat(group, f64);
    Value isWhole = arith::OrIOp::create(builder, loc, isEqual(place, lastOfGroup), isEqual(unit, last));
    Value total = arith::AddFOp::create(builder, loc, carried[1], wide);
    total = arith::SelectOp::create(builder, loc, isWhole, total, carried[1]);
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
  Value place =
      arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, warp, constant(kResultColumns)), thread);
  auto emitIf = [&](Value condition, function_ref<void()> body) {
    scf::IfOp::create(builder, loc, condition, [&](OpBuilder &, Location) {
      body();
      scf::YieldOp::create(builder, loc);
    });
  };
  emitIf(isPresent, [&] {
    Value other = arith::AddIOp::create(builder, loc, warp, constant(rows::kSumLanes / 2));
    Value low = sumLane(sum, warp, column), high = sumLane(sum, other, column);
    store(arith::AddFOp::create(builder, loc, low, high), shared, place);
  });
  for (int64_t distance = rows::kSumLanes / 4; distance > 0; distance /= 2) {
    NVVM::Barrier0Op::create(builder, loc);
    Value isLower = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, warp, constant(distance));
    emitIf(arith::AndIOp::create(builder, loc, isPresent, isLower), [&] {
      Value other = arith::AddIOp::create(builder, loc, place, constant(distance * kResultColumns));
      Value total = arith::AddFOp::create(builder, loc, load(f64, shared, place), load(f64, shared, other));
      store(total, shared, place);
    });
  }
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp, constant(0));
  emitIf(arith::AndIOp::create(builder, loc, isPresent, isFirst), [&] {
    Type element = cast<rows::RowType>(kernel.getRowArgument(sum.operand).getType()).getElementType();
    Value pointer = addresses.operands[sum.operand].pointer;
    Value old = Code(builder, loc).castFloat(load(element, pointer, column), f64), total = load(f64, shared, place);
    total = arith::AddFOp::create(builder, loc, total, old);
    store(Code(builder, loc).castFloat(total, element), pointer, column);
  });
}

void SumKernels::emitResults(Value first) {
  Value threadOfBlock = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                               NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type()));
  Value thread = arith::RemUIOp::create(builder, loc, threadOfBlock, constant(kResultColumns));
  Value warp = arith::DivUIOp::create(builder, loc, threadOfBlock, constant(kResultColumns));
  Value column = arith::AddIOp::create(builder, loc, first, thread);
  Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column, addresses.width);
  Value shared = getShared();
  for (const Sum &sum : sums) {
    emitResult(sum, shared, warp, thread, column, isPresent);
    if (&sum != &sums.back())
      NVVM::Barrier0Op::create(builder, loc);
  }
}
