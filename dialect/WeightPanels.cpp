// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/WeightPanels.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;

int64_t resid::getInterleavedTerms(Type elementType) {
  return elementType.isBF16() ? 2 : elementType.isInteger(8) ? 4 : 1;
}

int64_t resid::getPanelColumns(int64_t columns) {
  constexpr int64_t kHalf = kPanelColumns / 2;
  return columns > kPanelColumns + kHalf ? kPanelColumns : llvm::alignTo(std::max<int64_t>(columns, 1), kHalf);
}

PanelLayout resid::getPanelLayout(Type elementType, int64_t columns, int64_t panelColumns) {
  PanelLayout layout{{columns}, {panelColumns}, {columns, 1 - columns}};
  if (int64_t terms = getInterleavedTerms(elementType); terms > 1) {
    layout.innerDimensions.push_back(1 - columns);
    layout.innerTiles.push_back(terms);
  }
  return layout;
}

RankedTensorType resid::getPanelType(RankedTensorType matrix, int64_t columns) {
  PanelLayout layout = getPanelLayout(matrix.getElementType(), columns, getPanelColumns(matrix.getDimSize(columns)));
  SmallVector<int64_t> sizes(matrix.getShape()), shape;
  for (auto [dimension, tile] : llvm::zip_equal(layout.innerDimensions, layout.innerTiles))
    sizes[dimension] = llvm::divideCeil(sizes[dimension], tile);
  for (int64_t dimension : layout.outerOrder)
    shape.push_back(sizes[dimension]);
  llvm::append_range(shape, layout.innerTiles);
  return matrix.clone(shape);
}
