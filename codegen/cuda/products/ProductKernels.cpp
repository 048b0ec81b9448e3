// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/ProductKernels.h"

#include "codegen/cuda/Launch.h"
#include "codegen/cuda/products/ProductThread.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

/// Elements of a thread.
static constexpr int64_t kTile = 8;
/// Warps of a block: those that share chains, which finish one element of each thread each, and those that do not.
static constexpr int64_t kChainWarps = kTile, kOwnWarps = 4;
/// Where columns are fewer, a warp along them would have threads without any.
static constexpr int64_t kWarpColumns = kWarpThreads;

int64_t ProductShape::getWarps() const { return sharesChains ? kChainWarps : kOwnWarps; }
int64_t ProductShape::getThreads() const { return getWarps() * kWarpThreads; }

ProductShape ProductShape::choose(const KernelLoops &loops) {
  const kernels::Extent &rows = loops.m.size, &columns = loops.n.size;
  bool hasFewColumns = columns.isKnown() && columns.known < kWarpColumns;
  bool hasFewerRows = rows.isKnown() && columns.isKnown() && rows.known < columns.known;
  ProductShape shape{hasFewColumns && !hasFewerRows, kTile, loops.chain != 0};
  const kernels::Extent &tiled = shape.getTileLoop(loops).size;
  if (tiled.isKnown())
    shape.tile = std::max<int64_t>(1, std::min(kTile, tiled.known));
  return shape;
}

bool ProductKernel::takeIn(kernels::KernelUse &other) {
  ProductShape own = ProductShape::choose(getFirst().as<KernelLoops>()),
               theirs = ProductShape::choose(other.as<KernelLoops>());
  return own.goesAlongRows == theirs.goesAlongRows && own.tile == theirs.tile && KernelCode::takeIn(other);
}

void ProductKernel::emit() {
  auto kernel = getFirst().get<contraction::KernelOp>();
  func::FuncOp function = functions.outline("__product", {}, [&](OpBuilder &at, kernels::KernelBody &body) {
    Code code(at, kernel.getLoc());
    ProductThread(code, body, kernel).emit();
  });
  number = count++;
  markKernel(function, number, ProductShape::choose(getFirst().as<KernelLoops>()).getThreads());
}

LogicalResult ProductKernel::launch(kernels::KernelUse &use) {
  OpBuilder builder(use.op);
  Code code(builder, use.op->getLoc());
  ProductShape shape = ProductShape::choose(getFirst().as<KernelLoops>());
  SmallVector<Value> arguments = functions.getArguments(code, use);
  Value units = ProductThread::countUnits(code, use.as<KernelLoops>(), shape);
  Value blocks = code.ceilDivide(units, code.constant(shape.getUnitsOfBlock()));
  return launchKernel(use.op, use.enclosing,
                      {number, blocks, code.constant(shape.getThreads()), /*sharedBytes=*/0, arguments});
}
