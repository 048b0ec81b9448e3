// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for sums down the rows, which a kernel works in. Not: how it is laid out (codegen/rows/RowPartition.h).

#include "codegen/buffers/Passes.h"
#include "codegen/rows/RowPartition.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_ALLOCATESUMS
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

static Value computeProduct(OpBuilder &builder, Location loc, ValueRange sizes) {
  Value product = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 1);
  for (Value size : sizes) {
    Value number = builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), size);
    product = builder.createOrFold<arith::MulIOp>(loc, product, number);
  }
  return product;
}

/// A buffer of f32, of sizes that are known as far as they fold.
static Value allocate(OpBuilder &builder, Location loc, ArrayRef<Value> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    APInt known;
    bool isKnown = matchPattern(size, m_ConstantInt(&known));
    shape.push_back(isKnown ? known.getSExtValue() : ShapedType::kDynamic);
    if (!isKnown)
      dynamic.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size));
  }
  return memref::AllocOp::create(builder, loc, MemRefType::get(shape, builder.getF32Type()), dynamic);
}

static void allocateSums(rows::KernelOp kernel, bool byGroup) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  auto partition = rows::RowPartition::create(builder, loc, computeProduct(builder, loc, kernel.getRowDims()));
  rows::SumMemory memory{builder, loc, partition};
  Value all;
  for (unsigned i = kernel.getInputs().size(), end = i + kernel.getInits().size(); i < end; ++i) {
    if (!kernel.isAccumulated(i))
      continue;
    bool isF64 = cast<rows::RowType>(kernel.getRowArgument(i).getType()).getElementType().isF64();
    Value more = byGroup ? rows::UnitMemory::countRows(builder, loc, partition, isF64) : memory.countRows(isF64);
    all = all ? builder.createOrFold<arith::AddIOp>(loc, all, more) : more;
  }
  Value width = computeProduct(builder, loc, kernel.getColumnDims());
  Value length = rows::SumMemory::getLength(builder, loc, width);
  kernel.getScratchMutable().assign(allocate(builder, loc, {all, length}));
}

namespace {
struct AllocateSums : public buffers::impl::AllocateSumsBase<AllocateSums> {
  using AllocateSumsBase::AllocateSumsBase;

  void runOnOperation() override {
    SmallVector<rows::KernelOp> kernels;
    getOperation()->walk([&](rows::KernelOp kernel) {
      if (kernel.hasAccumulated() && kernel.getResults().empty() && !kernel.getScratch())
        kernels.push_back(kernel);
    });
    for (rows::KernelOp kernel : kernels)
      allocateSums(kernel, byGroup);
  }
};
} // namespace
