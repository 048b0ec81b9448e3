// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a matrix lies that a contraction reads column by column: in panels of columns, the same on every processor; or in
// 4 bits for each element. Not: what packs it, and where that is worth it.

#ifndef RESID_DIALECT_WEIGHTPANELS_H
#define RESID_DIALECT_WEIGHTPANELS_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::resid {

/// A panel is [K][16 columns]; of bf16 it is [ceil(K / 2)][16][2], so that one operation on 32 bits widens a register,
/// and of i8 [ceil(K / 4)][16][4], whose products processors add up by fours.
inline constexpr int64_t kPanelColumns = 16;
/// The columns of a panel in a weight that is kept in panels. A matrix of few columns is one panel of 8, 16 or 24: half
/// of what is read of the second panel of 16 would be empty.
int64_t getPanelColumns(int64_t columns);

/// How many k of a column are neighbours in a panel.
int64_t getInterleavedTerms(Type elementType);

/// What linalg.pack and linalg.unpack call the panels of a matrix: [ceil(N / 16)][K][16], with 16 columns in a panel.
struct PanelLayout {
  SmallVector<int64_t> innerDimensions, innerTiles, outerOrder;
};

/// The layout for a matrix whose dimension `columns` (0 or 1) counts the columns.
PanelLayout getPanelLayout(Type elementType, int64_t columns, int64_t panelColumns);
/// The type of its panels; the matrix has static sizes.
RankedTensorType getPanelType(RankedTensorType matrix, int64_t columns);

/// The note on a linalg op that unpacks bytes, each of which holds two i4.
constexpr llvm::StringLiteral kNibblesNote = "resid.nibbles";

} // namespace mlir::resid

#endif // RESID_DIALECT_WEIGHTPANELS_H
