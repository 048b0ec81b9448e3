// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/ProductTile.h"

#include "codegen/cuda/DeviceKernel.h"
#include "codegen/cuda/MatrixUnits.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

/// Two blocks of 128 registers fit on a processor of sm_80, sm_90 and sm_100. Of weights that few rows
/// read, some 32 KB are on their way.
static constexpr ProductTile kThin = {8, 32, 64, 4, 1, 4, 128}, kLarge = {128, 128, 8, 8, 8, 1, 128},
                             kSmall = {64, 64, 16, 4, 4, 1, 128}, kTiny = {32, 32, 32, 2, 2, 2, 128};
/// Of f64, whose numbers take twice the room. Without a bound, ptxas spills some to make room for a third block.
static constexpr ProductTile kThinDouble = {8, 32, 32, 4, 1, 4, 128}, kSmallDouble = {64, 64, 16, 4, 4, 1, 128};
/// Of 48 KB of shared memory, which a block has without asking the driver for more; and of half as much.
static constexpr ProductTile kLargeMatrix = {128, 128, 32, 0, 0, 2, 128, /*usesMatrixUnits=*/true},
                             kSmallMatrix = {64, 64, 32, 0, 0, 2, 0, /*usesMatrixUnits=*/true};
/// Of bytes, twice as many terms.
static constexpr ProductTile kLargeBytes = {128, 128, 64, 0, 0, 2, 128, /*usesMatrixUnits=*/true},
                             kSmallBytes = {64, 64, 64, 0, 0, 2, 0, /*usesMatrixUnits=*/true};
/// Large tiles are taken where each processor of a device has two.
static constexpr int64_t kFewestLarge = 256;

int64_t ProductTile::getFewest() const { return isLarge() ? kFewestLarge : kFewestBlocks; }

static bool suitsMatrixUnits(const KernelLoops &loops) {
  return takesMatrices(loops.operands[KernelLoops::kA].elementType, loops.operands[KernelLoops::kB].elementType,
                       loops.arithmetic);
}

/// From the one of few rows to the smallest, which takes all. Few rows wait for memory and not for products, so they
/// keep their order. Sums of integers have none.
static SmallVector<ProductTile, 4> listTiles(const KernelLoops &loops, bool relaxesProducts) {
  if (loops.arithmetic.isInteger() && suitsMatrixUnits(loops))
    return {kThin, kLargeBytes, kSmallBytes};
  if (relaxesProducts && suitsMatrixUnits(loops))
    return {kThin, kLargeMatrix, kSmallMatrix};
  if (loops.arithmetic.isF64())
    return {kThinDouble, kSmallDouble, kTiny};
  return {kThin, kLarge, kSmall, kTiny};
}

/// How many tiles a result has whose sizes are known; else nothing.
static std::optional<int64_t> countKnown(const ProductTile &tile, const KernelLoops &loops) {
  if (!loops.m.size.isKnown() || !loops.n.size.isKnown())
    return std::nullopt;
  int64_t tiles = llvm::divideCeil(loops.m.size.known, tile.rows) * llvm::divideCeil(loops.n.size.known, tile.columns);
  for (const contraction::Loop &loop : loops.batches) {
    if (!loop.size.isKnown())
      return std::nullopt;
    tiles *= loop.size.known;
  }
  return tiles;
}

/// What takes() will say, where that is known.
static std::optional<bool> knowTakes(const ProductTile &tile, const KernelLoops &loops) {
  const kernels::Extent &rows = loops.m.size, &columns = loops.n.size;
  if (tile.isThin())
    return rows.isKnown() ? std::optional(rows.known <= tile.rows) : std::nullopt;
  bool isShort =
      (rows.isKnown() && rows.known <= tile.rows / 2) || (columns.isKnown() && columns.known <= tile.columns / 2);
  if (isShort)
    return false;
  std::optional<int64_t> tiles = countKnown(tile, loops);
  return tiles ? std::optional(*tiles >= tile.getFewest()) : std::nullopt;
}

SmallVector<ProductTile, 4> ProductTile::choose(const KernelLoops &loops, bool relaxesProducts) {
  bool hasFewColumns = loops.n.size.isKnown() && loops.n.size.known < kThin.columns;
  if (loops.contracted.size() != 1 || loops.chain != 0 || loops.hasRowScale || hasFewColumns)
    return {};
  SmallVector<ProductTile, 4> tiles;
  SmallVector<ProductTile, 4> all = listTiles(loops, relaxesProducts);
  for (const ProductTile &tile : ArrayRef(all).drop_back()) {
    std::optional<bool> takes = knowTakes(tile, loops);
    if (!takes || *takes)
      tiles.push_back(tile);
    if (takes && *takes)
      return tiles;
  }
  tiles.push_back(all.back());
  return tiles;
}

int64_t ProductTile::countShared(Type arithmetic) const {
  int64_t stages = 2 * terms * (rows + columns + 2 * kPadding);
  // Floats of 16 bits, or bytes.
  if (usesMatrixUnits)
    stages = (ahead + 1) * terms * (rows + columns) / (arithmetic.isInteger() ? 4 : 2);
  return isThin() ? stages : std::max(stages, getSliceRows() * (columns + kPadding));
}

Value ProductTile::count(Code &code, const KernelLoops &loops) const {
  Value tiles = code.multiply(code.ceilDivide(loops.m.size.value, code.constant(rows)),
                              code.ceilDivide(loops.n.size.value, code.constant(columns)));
  for (const contraction::Loop &loop : loops.batches)
    tiles = code.multiply(tiles, loop.size.value);
  return tiles;
}

Value ProductTile::takes(Code &code, const KernelLoops &loops) const {
  if (isThin())
    return code.isAtMost(loops.m.size.value, rows);
  Value isMany = code.compare(arith::CmpIPredicate::sge, count(code, loops), getFewest());
  Value hasRows = code.compare(arith::CmpIPredicate::sgt, loops.m.size.value, rows / 2);
  return code.both(isMany,
                   code.both(hasRows, code.compare(arith::CmpIPredicate::sgt, loops.n.size.value, columns / 2)));
}
