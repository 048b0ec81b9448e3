// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/rows/VectorPrefetches.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

void VectorPrefetches::choose(rows::PhaseOp phase, const RowPointers &pointers, int64_t bytesAhead, RowPlaces &places) {
  places.prefetches.clear();
  places.prefetchesOfTail.clear();
  // Phases inside of conditions are rare.
  if (!isa<rows::KernelOp>(phase->getParentOp()))
    return;
  switch (scope) {
  case PrefetchScope::Nothing:
    return;
  case PrefetchScope::MaskedColumns:
    places.prefetchesOfTail = getMaskedColumns(phase, pointers);
    return;
  case PrefetchScope::RowsAhead:
  case PrefetchScope::RowsBetween:
    places.prefetches = places.prefetchesOfTail = getRowsAhead(phase, pointers, bytesAhead);
    return;
  }
}

/// The phases that read a row of an input, first and last, by their numbers; none where no phase does.
std::optional<std::pair<int64_t, int64_t>> VectorPrefetches::findReaders(ArrayRef<rows::PhaseOp> phases,
                                                                         unsigned operand) {
  auto kernel = cast<rows::KernelOp>(phases.front()->getParentOp());
  const OperandAddress &address = function.addresses.operands[operand];
  std::optional<std::pair<int64_t, int64_t>> found;
  if (!kernel.isAlongColumns(operand) || kernel.getMove(operand) || !address.linearStride)
    return found;
  for (auto [number, phase] : llvm::enumerate(phases))
    if (llvm::any_of(kernel.getRowArgument(operand).getUsers(),
                     [&, reader = phase](Operation *user) { return user->getParentOp() == reader; }))
      found = {found ? found->first : number, number};
  return found;
}

/// Bytes that a column takes in all inputs which several phases read.
int64_t VectorPrefetches::countBytesReadAgain(ArrayRef<rows::PhaseOp> phases) {
  auto kernel = cast<rows::KernelOp>(phases.front()->getParentOp());
  int64_t bytes = 0;
  for (unsigned operand = 0; operand < kernel.getInputs().size(); ++operand)
    if (auto readers = findReaders(phases, operand); readers && readers->first != readers->second)
      bytes += kernels::getElementBytes(function.addresses.operands[operand].elementType);
  return bytes;
}

/// Rows ahead (i64) that a kernel with sums down the rows asks for, from its last phase, and 0 where it asks as others
/// do: such rows must not drive the sums out of the first level, as columns that are asked for within a row would. The
/// row that follows at once would be asked for too late. A constant where the width is one.
Value VectorPrefetches::getSumRowsAhead(ArrayRef<rows::PhaseOp> phases) {
  if (sumRowsAhead)
    return sumRowsAhead;
  Value width = function.addresses.width;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(width);
  int64_t bytesOfColumn = countBytesReadAgain(phases);
  if (bytesOfColumn == 0 || !cast<rows::KernelOp>(phases.front()->getParentOp()).hasAccumulated())
    return sumRowsAhead = builder.constant(0);
  Value bytes = builder.multiply(builder.max(width, 1), bytesOfColumn);
  Value all = builder.constant(function.target.schedule.table.sumPrefetchBytes);
  Value count = builder.createOrFold<arith::CeilDivUIOp>(all, bytes);
  return sumRowsAhead = builder.select(builder.isAtMost(bytes, kFirstLevelBytes), count, 0);
}

/// Memory would idle while the later phases of a row work on what the first one has read. So a phase that reads a row
/// of an input asks for what it reads some steps later; the phases after it, each for some of these inputs, ask for the
/// next row, into the second level. With getSumRowsAhead(), the last phase asks for all of a row. With RowsBetween, the
/// phases between ask for all that the first one reads, which runs together with the last one of the row before. Rows
/// that are shared by all rows are left alone.
SmallVector<Prefetch> VectorPrefetches::getRowsAhead(rows::PhaseOp phase, const RowPointers &pointers,
                                                     int64_t bytesAhead) {
  auto kernel = cast<rows::KernelOp>(phase->getParentOp());
  auto phases = llvm::to_vector(kernel.getBody().front().getOps<rows::PhaseOp>());
  int64_t position = llvm::find(phases, phase) - phases.begin(), last = phases.size() - 1, between = last - 1;
  bool isBetween = scope == PrefetchScope::RowsBetween;
  Value sumRows = getSumRowsAhead(phases), none = builder.constant(0);
  std::optional<int64_t> knownRows = getConstantIntValue(sumRows);
  Value hasNone = builder.isEqual(sumRows, none), rowsAhead = builder.select(hasNone, batchRows, sumRows);
  SmallVector<Prefetch> prefetches;
  for (unsigned operand = 0; operand < kernel.getInputs().size(); ++operand) {
    auto readers = findReaders(phases, operand);
    if (!readers)
      continue;
    const OperandAddress &address = function.addresses.operands[operand];
    int64_t first = readers->first;
    bool isForRow = isBetween && first == 0 ? position > 0 && operand % between == position - 1
                    : knownRows == 0        ? first < position && operand % (last - first) == position - 1 - first
                                            : position == last && (first < last || knownRows);
    if (!isForRow && (first != position || knownRows > 0 || (isBetween && first == 0)))
      continue;
    Value columns = builder.constant(bytesAhead / kernels::getElementBytes(address.elementType));
    // Where the width decides, a phase asks for what it reads itself instead, which costs little.
    Value offset =
        isForRow ? builder.multiply(address.linearStride, rowsAhead) : builder.select(hasNone, columns, none);
    Value pointer = builder.at(pointers.lookup(kernel.getRowArgument(operand)), address.elementType, offset);
    prefetches.push_back({pointer, address.elementType, isForRow ? 2u : 1u});
  }
  return prefetches;
}

/// How far ahead of its use memory is asked for in rows of one chunk at most, else 0.
Value VectorPrefetches::getBytesAheadOfNarrow() {
  if (bytesAheadOfNarrow)
    return bytesAheadOfNarrow;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(function.addresses.width);
  Value isNarrow = builder.isAtMost(function.addresses.width, kLanes);
  return bytesAheadOfNarrow =
             builder.select(isNarrow, builder.constant(function.target.schedule.table.prefetchBytes), 0);
}

/// A processor that fetches by itself what follows in memory does not see accesses under masks. So narrow rows, of
/// which most columns are in such accesses or may be, ask for what the phase is going to read and to write. In wider
/// ones, that costs more than it brings; where the width is not known, they ask for what they use themselves.
SmallVector<Prefetch> VectorPrefetches::getMaskedColumns(rows::PhaseOp phase, const RowPointers &pointers) {
  auto kernel = cast<rows::KernelOp>(phase->getParentOp());
  const CPUTarget &target = function.target;
  std::optional<int64_t> known = function.tail.getKnownWidth();
  if (!target.schedule.usesPrefetch() || !target.isX86 || target.maskedBits == 0 || (known && *known > kLanes))
    return {};
  SmallVector<Prefetch> prefetches;
  for (unsigned operand = 0; operand < function.addresses.operands.size(); ++operand) {
    const OperandAddress &address = function.addresses.operands[operand];
    BlockArgument row = kernel.getRowArgument(operand);
    bool isForStore = operand >= kernel.getInputs().size();
    bool isUsed = llvm::any_of(row.getUsers(), [&](Operation *user) {
      return user->getParentOp() == phase && isa<rows::StoreOp>(user) == isForStore;
    });
    if (!isUsed || !kernel.isAlongColumns(operand) || kernel.getMove(operand) || !address.linearStride)
      continue;
    Value pointer = builder.at(pointers.lookup(row), builder.getI8Type(), getBytesAheadOfNarrow());
    prefetches.push_back({pointer, address.elementType, /*level=*/1, isForStore});
  }
  return prefetches;
}
