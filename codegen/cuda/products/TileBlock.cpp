// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/TileBlock.h"

#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

TileBlock::TileBlock(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile)
    : product(code, body, kernel), code(code), loops(product.loops), tile(tile),
      shared(code, loops.arithmetic, tile.countShared(loops.arithmetic), ".tiles"),
      thread(getNumber<NVVM::ThreadIdXOp>(code)) {}

void TileBlock::findTile(Value number, bool isAgain) {
  auto countTiles = [&](const kernels::Extent &size, int64_t ofTile) {
    Value all = isAgain && !size.isKnown() ? makeOpaque(code, size.value) : size.value;
    return code.ceilDivide(all, code.constant(ofTile));
  };
  Value columns = countTiles(loops.n.size, tile.columns), rows = countTiles(loops.m.size, tile.rows);
  Value rest = code.divide(number, columns);
  firstColumn = code.multiply(code.remainder(number, columns), tile.columns);
  firstRow = code.multiply(code.remainder(rest, rows), tile.rows);
  SmallVector<Value> sizes;
  for (const contraction::Loop &loop : loops.batches)
    sizes.push_back(loop.size.value);
  batch = code.delinearize(code.divide(rest, rows), sizes);
}

ElementPlace TileBlock::getPlace(Value row, Value column) {
  row = code.add(firstRow, row);
  column = code.add(firstColumn, column);
  Value hasRow = code.compare(arith::CmpIPredicate::slt, row, loops.m.size.value);
  Value hasColumn = code.compare(arith::CmpIPredicate::slt, column, loops.n.size.value);
  return {batch, row, column, code.both(hasRow, hasColumn)};
}

void TileBlock::forSlice(int64_t slice, function_ref<void(const ElementPlace &place, Value address)> body) {
  int64_t warpRows = tile.getWarpRows();
  code.rolledLoop(thread, tile.getSliceRows() * tile.columns, ProductTile::kThreads, [&](Value number) {
    Value row = code.divide(number, tile.columns), column = code.remainder(number, tile.columns);
    Value slot = code.add(code.multiply(row, getSlicePitch()), column);
    Value ofTile = code.add(code.multiply(code.divide(row, warpRows), tile.rows / 2), code.remainder(row, warpRows));
    body(getPlace(code.add(ofTile, slice * warpRows), column), shared.getAddress(code, slot));
  });
}

TileBlock::Sums TileBlock::emitStarts(int64_t count, function_ref<void(Sums &sums)> takeOwn) {
  if (product.kernel.getStart())
    return Sums(count, product.loadStart({}));
  Sums sums;
  for (int64_t slice = 0; slice < tile.getSlices(); ++slice) {
    forSlice(slice, [&](const ElementPlace &place, Value address) {
      code.create<LLVM::StoreOp>(product.loadStart(place), address);
    });
    synchronise();
    takeOwn(sums);
    synchronise();
  }
  return sums;
}

void TileBlock::finishSlices(function_ref<void(int64_t slice)> leaveOwn) {
  for (int64_t slice = 0; slice < tile.getSlices(); ++slice) {
    leaveOwn(slice);
    synchronise();
    forSlice(slice, [&](const ElementPlace &place, Value address) {
      product.finish(place, code.create<LLVM::LoadOp>(loops.arithmetic, address));
    });
    synchronise();
  }
}

void TileBlock::synchronise() { code.create<NVVM::Barrier0Op>(); }

void TileBlock::emit() {
  Value block = getNumber<NVVM::BlockIdXOp>(code), blocks = getNumber<NVVM::GridDimXOp>(code);
  if (tile.isLarge())
    return emitTile(block);
  code.rolledLoop(block, tile.count(code, loops), blocks, [&](Value number) { emitTile(number); });
}
