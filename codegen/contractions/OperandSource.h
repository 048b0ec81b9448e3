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
std::optional<OperandSource> readThrough(const OperandSource &source, Type arithmetic);

/// What unpacked a matrix from panels, if they are as a kernel reads them whose columns are a parallel loop.
linalg::UnPackOp findPanels(const OperandSource &matrix, unsigned parallelLoops);
inline int64_t countPanelColumns(linalg::UnPackOp unpack) { return unpack.getStaticInnerTiles().front(); }

/// The note on a linalg.generic that computes the elements of a weight from integers, a group after the other: how many
/// have one scale. Its inputs are the integers, the scale and, if there is one, a zero or an offset.
constexpr StringLiteral kIntegerWeightNote = "resid.integer_weight";

/// A weight of integers in contiguous memory: bytes, the floats that are computed from them, and what they are scaled
/// with.
struct IntegerSource {
  Value tensor, weight;
  bool areNibbles = false;
  int64_t group = 0;
  SmallVector<Value> parameters;
};

/// What a factor is computed from, if that is a weight of integers that kernels can read: in groups of a multiple of
/// kIntegerTerms, and in rows of its own, along a contracted loop.
std::optional<IntegerSource> findIntegers(const OperandSource &factor, unsigned parallelLoops);

/// So many integers of a column have one scale at least.
constexpr int64_t kIntegerTerms = 32;

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_OPERANDSOURCE_H
