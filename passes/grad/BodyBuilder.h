// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a structured op whose inputs are found while its body is written: what is read becomes an input, and what the
// body turns out not to use is left out.

#ifndef RESID_PASSES_GRAD_BODYBUILDER_H
#define RESID_PASSES_GRAD_BODYBUILDER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::resid {

class BodyBuilder {
public:
  /// The op will stand where `outer` builds.
  explicit BodyBuilder(ImplicitLocOpBuilder &outer);

  /// At the end of the body.
  ImplicitLocOpBuilder &getBuilder() { return inner; }
  /// The element of a tensor at the current point of the loops.
  Value read(Value tensor, AffineMap map);
  /// The element so far of a result that begins as `init`. All reads come before.
  Value addResult(Value init, AffineMap map);
  /// The tensor, with its map, whose element a value in the body is; none where it is computed.
  std::optional<std::pair<Value, AffineMap>> getSource(Value element) const;
  /// Of what is read so far, a tensor and its dimension that has the extent of this loop; null where nothing has.
  std::pair<Value, int64_t> findExtent(unsigned loop) const;
  /// Makes the op, which yields a value for each result.
  linalg::GenericOp finish(ArrayRef<utils::IteratorType> loops, ValueRange yielded);

private:
  struct Access {
    Value tensor;
    AffineMap map;
  };

  ImplicitLocOpBuilder &outer;
  /// What the body stands in until the op is made.
  Region region;
  Block *body;
  ImplicitLocOpBuilder inner;
  SmallVector<Access> inputs, inits;
};

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_BODYBUILDER_H
