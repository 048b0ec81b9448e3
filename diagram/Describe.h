// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words for ops and values: the labels of a drawing. Decides nothing about what is drawn.

#ifndef RESID_DIAGRAM_DESCRIBE_H
#define RESID_DIAGRAM_DESCRIBE_H

#include "diagram/Stream.h"
#include "dialect/AddParts.h"
#include "passes/stream/NormParts.h"

namespace mlir::resid::diagram {

/// The name of an argument, as in a C header; for slices and casts of one, that name with an index or as it is; for
/// other values the op that makes them, or the number.
std::string nameOf(Value value);

/// `matmul`, `@callee`, what a linalg.generic computes.
std::string describeOp(Operation *op);

/// The ops that compute something, in the order given, with how often each occurs: `matmul ×2, tanh`.
std::string describeOps(ArrayRef<Operation *> ops);

/// `? × 768 f32`
std::string describeType(Type type);

/// A number as short as it can be.
std::string describeNumber(const APFloat &number);

Part describeNorm(const NormParts &norm);

Part describeDropout(const APFloat &p, uint64_t site, const DropoutOrigin &origin);

/// The gate and the scale on the branch, or nothing.
std::optional<Part> describeBranchScale(Value gate, const APFloat &scale);

/// What reads or writes several streams: `title`, and the names of the weights, or that each row has its own.
Part describeConnection(StringRef title, ArrayRef<Value> weights);

/// The scale on the stream, or nothing.
std::optional<Part> describeSkip(const AddParts &parts);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_DESCRIBE_H
