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

/// Sizes as expressions: size i is the i-th size parameter. What does not follow from those by index arithmetic is a
/// number of its own.
class BufferSizes {
public:
  BufferSizes(const KernelSignature &signature, MLIRContext *context) : signature(signature), context(context) {}

  SizeExpr get(Value size);
  /// The bytes of a contiguous temporary.
  SizeExpr getBytes(memref::AllocOp alloc);

private:
  SizeExpr compute(Value size);
  SizeExpr getDimension(Value buffer, int64_t index);
  SizeExpr getParameter(BlockArgument argument, int64_t index);
  SizeExpr getOwnNumber(Value value);

  const KernelSignature &signature;
  MLIRContext *context;
  llvm::DenseMap<Value, SizeExpr> known, ownNumbers;
  unsigned numberOfOwn = 0;
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
