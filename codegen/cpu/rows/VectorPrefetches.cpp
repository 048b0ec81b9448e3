// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of coming steps and rows; see VectorPrefetches.h.

#include "codegen/cpu/rows/VectorPrefetches.h"

#include "codegen/rows/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

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
    places.prefetches = places.prefetchesOfTail = getRowsAhead(phase, pointers, bytesAhead);
    return;
  }
}

/// Memory would idle while the later phases of a row work on what the first one has read. So a phase that reads a row
/// of an input asks for what it reads some steps later; the phases after it, each for some of these inputs, ask for the
/// next row, into the second level. Rows that are shared by all rows are left alone.
SmallVector<Prefetch> VectorPrefetches::getRowsAhead(rows::PhaseOp phase, const RowPointers &pointers,
                                                     int64_t bytesAhead) {
  auto kernel = cast<rows::KernelOp>(phase->getParentOp());
  auto phases = llvm::to_vector(kernel.getBody().front().getOps<rows::PhaseOp>());
  unsigned position = llvm::find(phases, phase) - phases.begin();
  SmallVector<Prefetch> prefetches;
  for (unsigned operand = 0; operand < kernel.getInputs().size(); ++operand) {
    const OperandAddress &address = function.addresses.operands[operand];
    BlockArgument row = kernel.getRowArgument(operand);
    auto reads = [&](rows::PhaseOp candidate) {
      return llvm::any_of(row.getUsers(), [&](Operation *user) { return user->getParentOp() == candidate; });
    };
    unsigned first = llvm::find_if(phases, reads) - phases.begin();
    if (!kernel.isAlongColumns(operand) || !address.linearStride || first == phases.size())
      continue;
    int64_t ahead = bytesAhead / rows::getElementBytes(address.elementType);
    bool isNext = first < position && operand % (phases.size() - 1 - first) == position - 1 - first;
    Value next = address.linearStride;
    if (isNext)
      next = builder.createOrFold<arith::MulIOp>(phase.getLoc(), next, batchRows);
    Value offset = isNext ? next : constantI64(builder, phase.getLoc(), ahead);
    if (!isNext && first != position)
      continue;
    Value start = pointers.lookup(row);
    Value pointer =
        LLVM::GEPOp::create(builder, phase.getLoc(), start.getType(), address.elementType, start, ValueRange(offset));
    prefetches.push_back({pointer, address.elementType, isNext ? 2u : 1u});
  }
  return prefetches;
}

/// How far ahead of its use memory is asked for in rows of one chunk at most, else 0.
Value VectorPrefetches::getBytesAheadOfNarrow() {
  if (bytesAheadOfNarrow)
    return bytesAheadOfNarrow;
  Location loc = function.addresses.width.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(function.addresses.width);
  Value isNarrow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, function.addresses.width,
                                         constantI64(builder, loc, kLanes));
  return bytesAheadOfNarrow = arith::SelectOp::create(
             builder, loc, isNarrow, constantI64(builder, loc, function.target.schedule.table.prefetchBytes),
             constantI64(builder, loc, 0));
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
    if (!isUsed || !kernel.isAlongColumns(operand) || !address.linearStride)
      continue;
    Value start = pointers.lookup(row);
    Value pointer = LLVM::GEPOp::create(builder, phase.getLoc(), start.getType(), builder.getI8Type(), start,
                                        ValueRange(getBytesAheadOfNarrow()));
    prefetches.push_back({pointer, address.elementType, /*level=*/1, isForStore});
  }
  return prefetches;
}
