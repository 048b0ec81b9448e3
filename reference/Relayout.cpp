// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg.pack and linalg.unpack: the same elements in tiles, and back. Computes nothing.

#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// Where the elements of a plain array are in a packed one.
struct Tiling {
  SmallVector<int64_t> dimensions, tiles, outerOrder;

  /// The number of tiles along each dimension of a plain array.
  SmallVector<int64_t> getOuterSizes(ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> sizes(shape);
    for (auto [dimension, tile] : llvm::zip_equal(dimensions, tiles))
      sizes[dimension] = llvm::divideCeil(sizes[dimension], tile);
    return sizes;
  }
  SmallVector<int64_t> order(ArrayRef<int64_t> outer) const {
    if (outerOrder.empty())
      return SmallVector<int64_t>(outer);
    return llvm::map_to_vector(outerOrder, [&](int64_t dimension) { return outer[dimension]; });
  }
  /// The index in the packed array: of the tile, then in it.
  SmallVector<int64_t> getIndex(ArrayRef<int64_t> plain) const {
    SmallVector<int64_t> outer(plain), inner;
    for (auto [dimension, tile] : llvm::zip_equal(dimensions, tiles)) {
      inner.push_back(plain[dimension] % tile);
      outer[dimension] = plain[dimension] / tile;
    }
    SmallVector<int64_t> index = order(outer);
    index.append(inner);
    return index;
  }
};

/// Calls `body(plain, packed)` with the positions of each element of a plain array.
template <typename Body> void forEachElement(const Array &plain, const Array &packed, const Tiling &tiling, Body body) {
  SmallVector<int64_t> strides = plain.getStrides(), packedStrides = packed.getStrides();
  SmallVector<int64_t> index(strides.size());
  for (int64_t position = 0, e = plain.size(); position != e; ++position) {
    for (auto [d, stride] : llvm::enumerate(strides))
      index[d] = position / stride % plain.getShape()[d];
    int64_t place = 0;
    for (auto [i, stride] : llvm::zip_equal(tiling.getIndex(index), packedStrides))
      place += i * stride;
    body(position, place);
  }
}

} // namespace

/// Tiles of 0 elements or less, and packed shapes that are not those of the plain ones.
static LogicalResult checkTiling(Operation *op, const Tiling &tiling, const Array &plain, const Array &packed) {
  for (int64_t tile : tiling.tiles)
    if (tile <= 0)
      return op->emitOpError() << "expected tiles of 1 or more but got " << tile;
  SmallVector<int64_t> shape = tiling.order(tiling.getOuterSizes(plain.getShape()));
  shape.append(tiling.tiles);
  for (auto [d, expected, found] : llvm::enumerate(shape, packed.getShape()))
    if (expected != found)
      return op->emitOpError() << "expected " << expected << " in dimension " << d << " of the packed array but got "
                               << found;
  return success();
}

Interpreter::Results Interpreter::evaluate(linalg::PackOp op) {
  if (!op.hasPureTensorSemantics())
    return LogicalResult(unsupported(op));
  const Array &source = get(op.getSource());
  Array result = get(op.getDest());
  Tiling tiling{SmallVector<int64_t>(op.getInnerDimsPos()), getIntegers(op.getMixedTiles()),
                SmallVector<int64_t>(op.getOuterDimsPerm())};
  if (failed(checkTiling(op, tiling, source, result)))
    return failure();
  Array padding = getOptional(op.getPaddingValue());
  if (!padding && source.size() != result.size())
    return op.emitOpError() << "expected a padding value, or tiles that fill up, but got neither";
  for (int64_t i = 0, e = padding ? result.size() : 0; i != e; ++i)
    copyElement(padding, 0, result, i);
  forEachElement(source, result, tiling,
                 [&](int64_t plain, int64_t packed) { copyElement(source, plain, result, packed); });
  return SmallVector<Array>{result};
}

Interpreter::Results Interpreter::evaluate(linalg::UnPackOp op) {
  if (!op.hasPureTensorSemantics())
    return LogicalResult(unsupported(op));
  const Array &source = get(op.getSource());
  Array result = get(op.getDest());
  Tiling tiling{SmallVector<int64_t>(op.getInnerDimsPos()), getIntegers(op.getMixedTiles()),
                SmallVector<int64_t>(op.getOuterDimsPerm())};
  if (failed(checkTiling(op, tiling, result, source)))
    return failure();
  forEachElement(result, source, tiling,
                 [&](int64_t plain, int64_t packed) { copyElement(source, packed, result, plain); });
  return SmallVector<Array>{result};
}

} // namespace mlir::resid::reference
