// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of connections of sub-layers to several streams: their parameters, with the initial values that keep the
// function of one stream, and the ops that make coefficients of them. Which stacks there are is the pass's affair.

#ifndef RESID_PASSES_CONNECTION_CONNECTIONS_H
#define RESID_PASSES_CONNECTION_CONNECTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/placement/Manifest.h"
#include "passes/stream/NormParts.h"

namespace mlir::resid {

/// The operands of a block's clause streams; null where there is none.
struct ConnectionCoefficients {
  Value read, write, mix;
};

/// What a gated connection makes of the streams: the row that the branch gets, and the weights of the write.
struct GatedConnection {
  Value row, write;
};

/// What keeps the function of one stream at the initial values, with so many streams.
RewriteClass getWideningClass(ConnectionKind kind, int64_t streams);

/// Why a norm cannot be the read of a gated connection, as "expected … but got …"; empty where it can.
std::string findGatedObstacle(const NormParts &norm);

/// Makes the coefficients of one stack, and new arguments of its function for their parameters.
class ConnectionBuilder {
public:
  /// `streams` is the type of the streams, `[…, n, D]`, with a static D for kinds that project. New parameters are
  /// recorded in `conversion`. `name` distinguishes the stack from others of the function; it is empty for the first.
  ConnectionBuilder(func::FuncOp function, ConnectionKind kind, RankedTensorType streams, std::string name,
                    Conversion &conversion)
      : function(function), kind(kind), streams(streams), name(std::move(name)), conversion(conversion) {}

  /// The coefficients of block `index`, from the streams `x` before it. Not of a gated connection.
  ConnectionCoefficients create(OpBuilder &builder, Location loc, Value x, size_t index);

  /// The same of a gated connection, whose read is `norm`, that of the branch. `rowType`: what the branch gets.
  GatedConnection createGated(OpBuilder &builder, Location loc, Value x, size_t index, const NormParts &norm,
                              RankedTensorType rowType);

  /// The weights of the read after `count` blocks.
  Value createHead(OpBuilder &builder, Location loc, Value x, size_t count);

private:
  Value addParameter(const std::string &parameter, StringRef place, ArrayRef<int64_t> shape,
                     std::vector<double> initial);
  Value addParameter(Type element, const std::string &parameter, StringRef place, ArrayRef<int64_t> shape,
                     ParameterChange initial);
  Value addGammas(const std::string &prefix, StringRef place, const NormParts &norm);
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
