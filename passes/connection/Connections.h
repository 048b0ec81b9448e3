// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of connections of sub-layers to several streams: their parameters, with the initial values that keep the
// function of one stream, and the ops that make coefficients of them. Which stacks there are is the pass's affair.

#ifndef RESID_PASSES_CONNECTION_CONNECTIONS_H
#define RESID_PASSES_CONNECTION_CONNECTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/placement/Manifest.h"

namespace mlir::resid {

/// The operands of a block's clause streams; null where there is none.
struct ConnectionCoefficients {
  Value read, write, mix;
};

/// What keeps the function of one stream at the initial values, with so many streams.
RewriteClass getWideningClass(ConnectionKind kind, int64_t streams);

/// Makes the coefficients of one stack, and new arguments of its function for their parameters.
class ConnectionBuilder {
public:
  /// `streams` is the type of the streams, `[…, n, D]`, with a static D for kinds that project. New parameters are
  /// recorded in `conversion`. `name` distinguishes the stack from others of the function; it is empty for the first.
  ConnectionBuilder(func::FuncOp function, ConnectionKind kind, RankedTensorType streams, std::string name,
                    Conversion &conversion)
      : function(function), kind(kind), streams(streams), name(std::move(name)), conversion(conversion) {}

  /// The coefficients of block `index`, from the streams `x` before it.
  ConnectionCoefficients create(OpBuilder &builder, Location loc, Value x, size_t index);

  /// The weights of the read after `count` blocks.
  Value createHead(OpBuilder &builder, Location loc, Value x, size_t count);

private:
  Value addParameter(const std::string &parameter, StringRef place, ArrayRef<int64_t> shape,
                     std::vector<double> initial);
  ConnectionCoefficients createProjected(OpBuilder &builder, Location loc, Value x, const std::string &prefix,
                                         StringRef place, int64_t parts, ArrayRef<double> values);
  FloatType getType() const;
  int64_t getCount() const { return streams.getShape().end()[-2]; }

  func::FuncOp function;
  ConnectionKind kind;
  RankedTensorType streams;
  std::string name;
  Conversion &conversion;
};

} // namespace mlir::resid

#endif // RESID_PASSES_CONNECTION_CONNECTIONS_H
