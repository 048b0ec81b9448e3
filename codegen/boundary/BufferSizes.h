// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of buffers in an implementation: as expressions over the sizes of its arguments, and made anew at another
// place. Does not own how expressions are brought to a normal form (SizeExpression.h), nor what lies in the buffers.

#ifndef RESID_CODEGEN_BOUNDARY_BUFFERSIZES_H
#define RESID_CODEGEN_BOUNDARY_BUFFERSIZES_H

#include "codegen/boundary/Signature.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::resid::boundary {

/// Sizes as expressions: symbol i is the i-th size parameter. What does not follow from those by index arithmetic, such
/// as a maximum, gets a symbol of its own behind them.
class BufferSizes {
public:
  BufferSizes(const KernelSignature &signature, MLIRContext *context) : signature(signature), context(context) {}

  /// In normal form.
  AffineExpr get(Value size);
  /// The bytes of a contiguous temporary, in normal form.
  AffineExpr getBytes(memref::AllocOp alloc);
  /// Whether the expression has no symbols but size parameters.
  bool followsFromParameters(AffineExpr expression) const;

private:
  AffineExpr compute(Value size);
  AffineExpr getDimension(Value buffer, int64_t index);
  AffineExpr getParameter(BlockArgument argument, int64_t index);
  AffineExpr getOwnSymbol(Value value);
  AffineExpr normalize(AffineExpr expression);

  const KernelSignature &signature;
  MLIRContext *context;
  llvm::DenseMap<Value, AffineExpr> known, ownSymbols;
  unsigned numberOfOwnSymbols = 0;
};

/// Makes index values anew at another place, from constants, arithmetic and the sizes of the function's buffers.
class SizeCloner {
public:
  /// `argumentSize` gives the size of a dimension of an argument (by number) at the new place.
  SizeCloner(OpBuilder &builder, function_ref<Value(BlockArgument, int64_t)> argumentSize)
      : builder(builder), argumentSize(argumentSize) {}

  /// Null where `value` does not follow from sizes.
  Value clone(Value value);

private:
  Value cloneResult(Operation *op);
  Value cloneBufferSize(Value buffer, int64_t index);

  OpBuilder &builder;
  function_ref<Value(BlockArgument, int64_t)> argumentSize;
  IRMapping mapping;
};

/// The value of an argument or a result that an argument of an implementation on whole buffers stands for.
const KernelValue &getKernelValue(const KernelSignature &signature, BlockArgument argument);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_BUFFERSIZES_H
