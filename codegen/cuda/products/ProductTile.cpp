// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/ProductTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

/// In f32: two blocks of the first fit on a processor of sm_80, sm_90 and sm_100, which 128 registers bound.
static constexpr ProductTile kThin = {8, 32, 64, 1, 1, 0}, kLarge = {128, 128, 8, 8, 8, 128},
                             kSmall = {64, 64, 16, 4, 4, 0};
/// In f64, whose numbers take twice the room.
static constexpr ProductTile kThinDouble = {8, 32, 32, 1, 1, 0};
/// Large tiles are taken where each processor of a device has one: those of Ampere, Hopper and Blackwell have 108 to
/// 148.
static constexpr int64_t kProcessors = 128;

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
  return tiles ? std::optional(*tiles >= kProcessors) : std::nullopt;
}

SmallVector<ProductTile, 3> ProductTile::choose(const KernelLoops &loops) {
  bool hasFewColumns = loops.n.size.isKnown() && loops.n.size.known < kThin.columns;
  if (loops.contracted.size() != 1 || loops.chain != 0 || loops.hasRowScale || hasFewColumns)
    return {};
  SmallVector<ProductTile, 3> tiles;
  bool isDouble = loops.arithmetic.isF64();
  SmallVector<ProductTile, 2> special =
      isDouble ? SmallVector<ProductTile, 2>{kThinDouble} : SmallVector<ProductTile, 2>{kThin, kLarge};
  for (const ProductTile &tile : special) {
    std::optional<bool> takes = knowTakes(tile, loops);
    if (!takes || *takes)
      tiles.push_back(tile);
    if (takes && *takes)
      return tiles;
  }
  tiles.push_back(kSmall);
  return tiles;
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
  Value isMany = code.compare(arith::CmpIPredicate::sge, count(code, loops), kProcessors);
  Value hasRows = code.compare(arith::CmpIPredicate::sgt, loops.m.size.value, rows / 2);
  return code.both(isMany,
                   code.both(hasRows, code.compare(arith::CmpIPredicate::sgt, loops.n.size.value, columns / 2)));
}
