// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of the partition, folded where the number of rows is known.

#include "codegen/rows/RowPartition.h"

#include "codegen/kernels/Extent.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}

/// The quotient rounded up, by a power of two. Both are not negative.
static Value divideUp(OpBuilder &builder, Location loc, Value value, Value divisor) {
  Value less = builder.createOrFold<arith::SubIOp>(loc, divisor, constant(builder, loc, 1));
  Value raised = builder.createOrFold<arith::AddIOp>(loc, value, less);
  return builder.createOrFold<arith::DivSIOp>(loc, raised, divisor);
}

RowPartition RowPartition::create(OpBuilder &builder, Location loc, Value rows) {
  RowPartition partition;
  partition.rows = rows;
  partition.groupRows = constant(builder, loc, kChainRows);
  for (int64_t size = 2 * kChainRows; size <= kLargestGroup; size *= 2) {
    Value least = constant(builder, loc, size * kRowsPerGroupRow);
    Value isEnough = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, rows, least);
    partition.groupRows =
        builder.createOrFold<arith::SelectOp>(loc, isEnough, constant(builder, loc, size), partition.groupRows);
  }
  partition.groups = divideUp(builder, loc, rows, partition.groupRows);
  partition.lanes = builder.createOrFold<arith::MinSIOp>(loc, partition.groups, constant(builder, loc, kSumLanes));
  return partition;
}

Value RowPartition::getFirstGroup(OpBuilder &builder, Location loc, Value lane) const {
  Value all = constant(builder, loc, kSumLanes);
  Value product = builder.createOrFold<arith::MulIOp>(loc, lane, groups);
  Value shared = divideUp(builder, loc, product, all);
  Value isShared = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, groups, all);
  return builder.createOrFold<arith::SelectOp>(loc, isShared, shared, lane);
}

RowUnits RowUnits::create(OpBuilder &builder, Location loc, const RowPartition &partition) {
  RowUnits units;
  units.rows = builder.createOrFold<arith::MinSIOp>(loc, partition.groupRows, constant(builder, loc, kBlockRows));
  units.count = divideUp(builder, loc, partition.rows, units.rows);
  units.perGroup = builder.createOrFold<arith::DivSIOp>(loc, partition.groupRows, units.rows);
  return units;
}

Value UnitMemory::countRows(OpBuilder &builder, Location loc, const RowPartition &partition, bool isF64) {
  return builder.createOrFold<arith::MulIOp>(loc, RowUnits::create(builder, loc, partition).count,
                                             constant(builder, loc, isF64 ? 2 * kLevels : kLevels));
}

Value SumMemory::getLength(OpBuilder &builder, Location loc, Value width) {
  Value raised = builder.createOrFold<arith::AddIOp>(loc, width, constant(builder, loc, kLanes - 1));
  return builder.createOrFold<arith::AndIOp>(loc, raised, constant(builder, loc, -kLanes));
}

Value SumMemory::countLaneRows() const {
  Value more = builder.createOrFold<arith::AddIOp>(loc, partition.lanes, constant(builder, loc, 1));
  return builder.createOrFold<arith::MulIOp>(loc, more, constant(builder, loc, 2));
}

Value SumMemory::countRows(bool isF64) const {
  Value chains =
      builder.createOrFold<arith::MulIOp>(loc, partition.lanes, constant(builder, loc, countChainRows(isF64)));
  return builder.createOrFold<arith::AddIOp>(loc, countLaneRows(), chains);
}

static Value computeProduct(OpBuilder &builder, Location loc, ValueRange sizes) {
  Value product = constant(builder, loc, 1);
  for (Value size : sizes)
    product = builder.createOrFold<arith::MulIOp>(loc, product, kernels::castToI64(builder, loc, size));
  return product;
}

/// Of the sums of a kernel, each of which takes as many rows as `countRows` says.
static kernels::ScratchShape countSums(OpBuilder &builder, KernelOp kernel,
                                       function_ref<Value(const RowPartition &partition, bool isF64)> countRows) {
  if (!kernel.hasAccumulated())
    return {};
  Location loc = kernel.getLoc();
  auto partition = RowPartition::create(builder, loc, computeProduct(builder, loc, kernel.getRowDims()));
  Value all;
  for (unsigned i = kernel.getInputs().size(), end = i + kernel.getInits().size(); i < end; ++i) {
    if (!kernel.isAccumulated(i))
      continue;
    Value more = countRows(partition, cast<RowType>(kernel.getRowArgument(i).getType()).getElementType().isF64());
    all = all ? builder.createOrFold<arith::AddIOp>(loc, all, more) : more;
  }
  Value width = computeProduct(builder, loc, kernel.getColumnDims());
  return {builder.getF32Type(), {all, SumMemory::getLength(builder, loc, width)}};
}

kernels::ScratchShape UnitMemory::count(OpBuilder &builder, KernelOp kernel) {
  return countSums(builder, kernel, [&](const RowPartition &partition, bool isF64) {
    return countRows(builder, kernel.getLoc(), partition, isF64);
  });
}

kernels::ScratchShape SumMemory::count(OpBuilder &builder, KernelOp kernel) {
  return countSums(builder, kernel, [&](const RowPartition &partition, bool isF64) {
    return SumMemory{builder, kernel.getLoc(), partition}.countRows(isF64);
  });
}
