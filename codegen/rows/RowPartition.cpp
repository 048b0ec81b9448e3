// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of the partition, folded where the number of rows is known.

#include "codegen/rows/RowPartition.h"

#include "codegen/kernels/Extent.h"
#include "codegen/rows/SumOrder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

/// The quotient rounded up, by a power of two. Both are not negative.
static Value divideUp(Code &code, Value value, Value divisor) {
  return code.createOrFold<arith::DivSIOp>(code.add(value, code.subtract(divisor, 1)), divisor);
}

RowPartition RowPartition::create(Code &code, Value rows) {
  RowPartition partition;
  partition.rows = rows;
  partition.groupRows = code.constant(kChainRows);
  for (int64_t size = 2 * kChainRows; size <= kLargestGroup; size *= 2) {
    Value least = code.constant(size * kRowsPerGroupRow);
    Value isEnough = code.compare(arith::CmpIPredicate::sge, rows, least);
    partition.groupRows = code.select(isEnough, size, partition.groupRows);
  }
  partition.groups = divideUp(code, rows, partition.groupRows);
  partition.lanes = code.min(partition.groups, kSumLanes);
  return partition;
}

Value RowPartition::getFirstGroup(Code &code, Value lane) const {
  Value all = code.constant(kSumLanes);
  Value shared = divideUp(code, code.multiply(lane, groups), all);
  Value isShared = code.compare(arith::CmpIPredicate::sge, groups, all);
  return code.select(isShared, shared, lane);
}

std::pair<Value, Value> RowPartition::getRows(Code &code, Value low, Value high) const {
  auto getFirst = [&](Value lane) { return code.min(code.multiply(getFirstGroup(code, lane), groupRows), rows); };
  return {getFirst(low), getFirst(high)};
}

Value RowPartition::findLane(Code &code, Value group) const {
  Value all = code.constant(kSumLanes);
  Value shared = code.createOrFold<arith::DivSIOp>(code.multiply(group, all), code.max(groups, 1));
  return code.select(code.compare(arith::CmpIPredicate::sge, groups, all), shared, group);
}

RowUnits RowUnits::create(Code &code, const RowPartition &partition) {
  RowUnits units;
  units.rows = code.min(partition.groupRows, kRunRows);
  units.count = divideUp(code, partition.rows, units.rows);
  units.perGroup = code.createOrFold<arith::DivSIOp>(partition.groupRows, units.rows);
  return units;
}

Value UnitMemory::countRows(Code &code, const RowPartition &partition, bool isF64) {
  return code.multiply(RowUnits::create(code, partition).count, isF64 ? 2 * kLevels : kLevels);
}

Value SumMemory::getLength(Code &code, Value width) { return code.both(code.add(width, kLanes - 1), -kLanes); }

Value SumMemory::countLaneRows() const { return code.multiply(code.add(partition.lanes, 1), 2); }

Value SumMemory::countRows(bool isF64) const {
  Value chains = code.multiply(partition.lanes, isF64 ? 2 * kLevels : kLevels);
  return code.add(countLaneRows(), chains);
}

static Value computeProduct(Code &code, ValueRange sizes) {
  Value product = code.constant(1);
  for (Value size : sizes)
    product = code.multiply(product, kernels::castToI64(code, code.getLoc(), size));
  return product;
}

/// Of the sums of a kernel, each of which takes as many rows as `countRows` says.
static kernels::ScratchShape
countSums(OpBuilder &builder, KernelOp kernel,
          function_ref<Value(Code &code, const RowPartition &partition, bool isF64)> countRows) {
  if (!kernel.hasAccumulated())
    return {};
  Code code(builder, kernel.getLoc());
  auto partition = RowPartition::create(code, computeProduct(code, kernel.getRowDims()));
  Value all;
  for (unsigned i = kernel.getInputs().size(), end = i + kernel.getInits().size(); i < end; ++i) {
    if (!kernel.isAccumulated(i))
      continue;
    Value more = countRows(code, partition, cast<RowType>(kernel.getRowArgument(i).getType()).getElementType().isF64());
    all = all ? code.add(all, more) : more;
  }
  Value width = computeProduct(code, kernel.getColumnDims());
  return {code.getF32Type(), {all, SumMemory::getLength(code, width)}};
}

kernels::ScratchShape UnitMemory::count(OpBuilder &builder, KernelOp kernel) {
  return countSums(builder, kernel, [](Code &code, const RowPartition &partition, bool isF64) {
    return countRows(code, partition, isF64);
  });
}

kernels::ScratchShape SumMemory::count(OpBuilder &builder, KernelOp kernel) {
  return countSums(builder, kernel, [](Code &code, const RowPartition &partition, bool isF64) {
    return SumMemory{code, partition}.countRows(isF64);
  });
}
