// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits sums down the rows, lane by lane. Their memory is rows::SumMemory.

#include "codegen/cpu/rows/SumRows.h"

#include "codegen/builder/Code.h"
#include "codegen/cpu/rows/RowOrders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// Columns that a pass over the chains takes at once. Their memory has room for whole chunks.
static constexpr int64_t kPassColumns = 16;

SumRows::SumRows(Code &builder, Block *entry, rows::KernelOp kernel, const KernelAddresses &addresses,
                 unsigned vectorBits)
    : SumsDownRows(builder, kernel, addresses,
                   [&](Sum &sum) {
                     SumMemory memory{builder, partition};
                     sum.chains = offsetRows(sum.memory, memory.countLaneRows(), builder.getF32Type());
                     return offsetRows(sum.memory, memory.countRows(sum.type.isF64()), builder.getF32Type());
                   }),
      entry(entry), vectorBits(vectorBits) {}

//===------------------------------------------- small parts ------------------------------------------------------===//

/// The row of a lane.
Value SumRows::getLane(const Sum &sum, Value lane) {
  return offsetRows(sum.memory, builder.multiply(lane, 2), builder.getF32Type());
}

static unsigned getAlignment(Type element) {
  return isa<LLVM::LLVMPointerType>(element) ? 8 : element.getIntOrFloatBitWidth() / 8;
}

/// What is at a column, for elements or vectors of them.
Value SumRows::load(Type type, Value pointer, Value column) {
  Type element = getElementTypeOrSelf(type);
  return builder.create<LLVM::LoadOp>(type, builder.at(pointer, element, column), getAlignment(element));
}

void SumRows::store(Value value, Value pointer, Value column) {
  Type element = getElementTypeOrSelf(value.getType());
  builder.create<LLVM::StoreOp>(value, builder.at(pointer, element, column), getAlignment(element));
}

/// Calls `body` for all columns of all sums, where the condition (null: always) holds.
void SumRows::emitPass(Value condition, function_ref<void(const Sum &, Value)> body) {
  auto emitLoops = [&] {
    for (const Sum &sum : sums)
      builder.rolledLoop(0, length, kPassColumns, [&](Value column) { body(sum, column); });
  };
  condition ? builder.choose(condition, emitLoops) : emitLoops();
}

//===------------------------------------------- lanes ------------------------------------------------------------===//

void cpu::emitChain(RowEmitter &emitter, rows::KernelOp kernel, Value width, Value low, Value high) {
  Code &builder = emitter.getBuilder();
  Value length = rows::SumMemory::getLength(builder, width);
  builder.choose(builder.isEqual(builder.both(low, rows::kChainRows - 1), 0), [&] {
    for (auto [row, chain] : emitter.getChains()) {
      bool isF64 = cast<rows::RowType>(row.getType()).getElementType().isF64();
      Type type = isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
      Value zero = builder.constant(VectorType::get(kPassColumns, type), 0);
      builder.rolledLoop(0, length, kPassColumns, [&, chain = chain](Value column) {
        builder.create<LLVM::StoreOp>(zero, builder.at(chain, type, column), getAlignment(type));
      });
    }
  });
  emitSingleRows(emitter, kernel, low, high);
}

void SumRows::emitLanes(RowEmitter &emitter, Value first, Value low, Value high, EmitChain emitChain) {
  Type f32 = builder.getF32Type();
  Value place = partition.findLane(builder, builder.divide(first, partition.groupRows));
  setLevels(emitter, SumMemory::kLevels, [&](const Sum &sum, int64_t level) {
    int64_t rowsOfLevel = sum.type.isF64() ? 2 : 1;
    Value chains = offsetRows(sum.chains, builder.multiply(place, SumMemory::kLevels * rowsOfLevel), f32);
    return offsetRows(chains, builder.constant(level * rowsOfLevel), f32);
  });
  Value lowGroup = builder.divide(low, partition.groupRows), highGroup = builder.ceilDivide(high, partition.groupRows);
  Value lowLane = partition.findLane(builder, lowGroup);
  Value lastLane = partition.findLane(builder, builder.subtract(highGroup, 1));
  builder.rolledLoop(lowLane, builder.add(lastLane, 1), 1, [&](Value lane) {
    Value following = builder.add(lane, 1);
    Value begin = partition.getFirstGroup(builder, lane), end = partition.getFirstGroup(builder, following);
    builder.rolledLoop(builder.max(begin, lowGroup), builder.min(end, highGroup), 1,
                       [&](Value group) { emitGroup(lane, begin, group, low, high, emitChain); });
  });
}

/// The rows of a group that are among [low, high). The chains at both ends may have further rows.
void SumRows::emitGroup(Value lane, Value firstGroup, Value group, Value low, Value high, EmitChain emitChain) {
  Value groupLow = builder.multiply(group, partition.groupRows);
  Value groupHigh = builder.min(builder.add(groupLow, partition.groupRows), partition.rows);
  Value isFirst = builder.isEqual(group, firstGroup);
  Value first = builder.max(groupLow, builder.both(low, -rows::kChainRows));
  emitChains(first, builder.min(groupHigh, high), [&](Value begin, Value end) {
    emitChain(builder.max(begin, low), end);
    Value next = builder.min(builder.add(begin, rows::kChainRows), groupHigh);
    builder.choose(builder.isEqual(end, next), [&] { emitCascade(lane, isFirst, begin, next, groupLow, groupHigh); });
  });
}

/// What becomes of the chain of the rows [begin, next) of a group.
void SumRows::emitCascade(Value lane, Value isFirstGroup, Value begin, Value next, Value groupLow, Value groupHigh) {
  auto invert = [&](Value a) { return builder.exclusiveOr(a, true); };
  Value place = builder.subtract(begin, groupLow);
  Value inRun = builder.both(place, rows::kRunRows - 1);
  Value hasChain = builder.compare(arith::CmpIPredicate::ne, inRun, 0);
  Value hasRun = builder.compare(arith::CmpIPredicate::sge, place, rows::kRunRows);
  Value endsGroup = builder.isEqual(next, groupHigh), staysInGroup = invert(endsGroup);
  Value endsRun = builder.isEqual(inRun, rows::kRunRows - rows::kChainRows);
  Value takesChains = builder.both(hasChain, builder.either(endsGroup, endsRun));
  emitPass(takesChains, [&](const Sum &sum, Value column) {
    addToChain(sum, sum.levels[1], sum.levels[0], column, /*isFirst=*/false);
  });
  emitPass(builder.both(hasRun, endsGroup), [&](const Sum &sum, Value column) {
    addToChain(sum, sum.levels[2], sum.levels[0], column, /*isFirst=*/false);
  });
  for (bool isFirst : {true, false}) {
    auto isSo = [&](Value hasOne) { return isFirst ? invert(hasOne) : hasOne; };
    Value isLane = isFirst ? isFirstGroup : invert(isFirstGroup);
    emitPass(builder.both(endsGroup, isLane),
             [&](const Sum &sum, Value column) { addToLane(sum, lane, column, isFirst); });
    emitPass(builder.both(builder.both(staysInGroup, endsRun), isSo(hasRun)),
             [&](const Sum &sum, Value column) { addToChain(sum, sum.levels[0], sum.levels[2], column, isFirst); });
    emitPass(builder.both(builder.both(staysInGroup, invert(endsRun)), isSo(hasChain)),
             [&](const Sum &sum, Value column) { addToChain(sum, sum.levels[0], sum.levels[1], column, isFirst); });
  }
}

/// to += from, or to = from.
void SumRows::addToChain(const Sum &sum, Value from, Value to, Value column, bool isFirst) {
  auto type = VectorType::get(kPassColumns, sum.type);
  Value value = load(type, from, column);
  if (!isFirst)
    value = builder.add(load(type, to, column), value);
  store(value, to, column);
}

/// The same to a lane, in f64, from the chain.
void SumRows::addToLane(const Sum &sum, Value lane, Value column, bool isFirst) {
  auto wide = VectorType::get(kPassColumns, builder.getF64Type());
  Value value = load(VectorType::get(kPassColumns, sum.type), sum.levels[0], column), to = getLane(sum, lane);
  value = builder.castFloat(value, builder.getF64Type());
  if (!isFirst)
    value = builder.add(load(wide, to, column), value);
  store(value, to, column);
}

//===------------------------------------------- results ----------------------------------------------------------===//

/// The rows of f64 of all 64 lanes, in stack memory. Where groups are fewer, the lanes between them are a row of zeros.
Value SumRows::createTable(const Sum &sum, Value low, Value high) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value table;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    auto type = LLVM::LLVMArrayType::get(pointerType, rows::kSumLanes);
    table = builder.create<LLVM::AllocaOp>(pointerType, type, builder.constant(1));
  }
  Value absent = getLane(sum, partition.lanes), all = builder.constant(rows::kSumLanes);
  Value isShared = builder.compare(arith::CmpIPredicate::sge, partition.groups, all);
  builder.rolledLoop(0, all, 1,
                     [&](Value lane) { store(builder.select(isShared, getLane(sum, lane), absent), table, lane); });
  builder.choose(builder.compare(arith::CmpIPredicate::slt, partition.groups, all), [&] {
    builder.rolledLoop(0, partition.groups, 1, [&](Value group) {
      Value scaled = builder.multiply(group, all);
      store(getLane(sum, group), table, builder.divide(scaled, partition.groups));
    });
    Value zero = builder.constant(VectorType::get(kPassColumns, builder.getF64Type()), 0);
    builder.rolledLoop(low, high, kPassColumns, [&](Value column) { store(zero, absent, column); });
  });
  return table;
}

/// The sum of the lanes lane, lane + stride, lane + 2 · stride, …
Value SumRows::emitTree(Value table, Value column, Type type, int64_t lane, int64_t stride) {
  if (stride == rows::kSumLanes) {
    Value place = builder.at(table, table.getType(), builder.constant(lane));
    return load(type, builder.create<LLVM::LoadOp>(table.getType(), place), column);
  }
  Value low = emitTree(table, column, type, lane, 2 * stride);
  return builder.add(low, emitTree(table, column, type, lane + stride, 2 * stride));
}

void SumRows::emitResult(const Sum &sum, Value table, Value column, int64_t columns) {
  auto shaped = [&](Type element) { return columns == 1 ? element : Type(VectorType::get(columns, element)); };
  // LLVM has holes in what it does with vectors of bf16.
  Type memory = sum.element.getIntOrFloatBitWidth() == 16 ? Type(builder.getI16Type()) : sum.element;
  Value pointer = addresses.operands[sum.operand].pointer,
        total = emitTree(table, column, shaped(builder.getF64Type()), 0, 1);
  Value old = fromMemory(builder, builder.getLoc(), load(shaped(memory), pointer, column), sum.element);
  store(toMemory(builder, builder.getLoc(), finish(sum, total, old), memory), pointer, column);
}

void SumRows::emitResults(Value low, Value high) {
  int64_t columns = vectorBits / 64;
  Value count = builder.subtract(high, low);
  Value whole = builder.both(count, -columns);
  Value full = builder.add(low, whole);
  for (const Sum &sum : sums) {
    Value table = createTable(sum, low, high);
    builder.rolledLoop(low, full, columns, [&](Value column) { emitResult(sum, table, column, columns); });
    builder.rolledLoop(full, high, 1, [&](Value column) { emitResult(sum, table, column, 1); });
  }
}
