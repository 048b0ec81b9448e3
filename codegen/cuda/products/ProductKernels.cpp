// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/ProductKernels.h"

#include "codegen/cuda/products/MatrixEmitter.h"
#include "codegen/cuda/products/ProductThread.h"
#include "codegen/cuda/products/TileEmitter.h"
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

void ProductKernel::emit() {
  auto kernel = getFirst().get<contraction::KernelOp>();
  const auto &loops = getFirst().as<KernelLoops>();
  for (const ProductTile &tile : ProductTile::choose(loops, relaxesProducts))
    addFunction(tile.usesMatrixUnits ? "__matrices" : "__tiles", {}, ProductTile::kThreads, tile.registers,
                [&](Code &code, kernels::KernelBody &body) {
                  tile.usesMatrixUnits ? MatrixEmitter(code, body, kernel, tile).emit()
                                       : TileEmitter(code, body, kernel, tile).emit();
                });
  if (countFunctions() == 0)
    addFunction("__product", {}, ProductShape::choose(loops).getThreads(), /*registers=*/0,
                [&](Code &code, kernels::KernelBody &body) { ProductThread(code, body, kernel).emit(); });
}

/// By the first tile that takes the result, or by the last one.
LogicalResult ProductKernel::launchTiles(kernels::KernelUse &use, ArrayRef<ProductTile> tiles,
                                         ArrayRef<Value> arguments) {
  const auto &loops = use.as<KernelLoops>();
  Operation *place = use.op;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    Code code{OpBuilder(place), use.op->getLoc()};
    Value blocks = tile.count(code, loops), threads = code.constant(ProductTile::kThreads);
    if (i + 1 == tiles.size())
      return launchFunction(i, place, use, blocks, threads, arguments);
    auto either = code.create<scf::IfOp>(tile.takes(code, loops), /*withElseRegion=*/true);
    if (failed(launchFunction(i, either.thenYield(), use, blocks, threads, arguments)))
      return failure();
    place = either.elseYield();
  }
  llvm_unreachable("expected a tile");
}

LogicalResult ProductKernel::launch(kernels::KernelUse &use) {
  Code code{OpBuilder(use.op), use.op->getLoc()};
  SmallVector<Value> arguments = functions.getArguments(code, use);
  const auto &first = getFirst().as<KernelLoops>();
  if (SmallVector<ProductTile, 4> tiles = ProductTile::choose(first, relaxesProducts); !tiles.empty())
    return launchTiles(use, tiles, arguments);
  ProductShape shape = ProductShape::choose(first);
  Value units = ProductThread::countUnits(code, use.as<KernelLoops>(), shape);
  Value blocks = code.ceilDivide(units, code.constant(shape.getUnitsOfBlock()));
  return launchFunction(0, use.op, use, blocks, code.constant(shape.getThreads()), arguments);
}
