// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel reads, after ops that only move or widen elements. Not: which kernels read so.

#ifndef RESID_CODEGEN_CONTRACTIONS_OPERANDSOURCE_H
#define RESID_CODEGEN_CONTRACTIONS_OPERANDSOURCE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::resid::contraction {

/// A tensor and the map from the kernel's loops to its dimensions.
struct OperandSource {
  Value tensor;
  AffineMap map;
};

/// What was there before a linalg op that transposes, broadcasts, or widens to `arithmetic`; nothing if there is none.
std::optional<OperandSource> readThrough(const OperandSource &source, FloatType arithmetic);

/// What unpacked a matrix from panels, if they are as a kernel reads them whose columns are a parallel loop.
linalg::UnPackOp findPanels(const OperandSource &matrix, unsigned parallelLoops);
inline int64_t countPanelColumns(linalg::UnPackOp unpack) { return unpack.getStaticInnerTiles().front(); }

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_OPERANDSOURCE_H
