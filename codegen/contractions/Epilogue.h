// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops on the elements of a product, which run where these are stored. Not: the kernel that they join
// (FormContractions.cpp).

#ifndef RESID_CODEGEN_CONTRACTIONS_EPILOGUE_H
#define RESID_CODEGEN_CONTRACTIONS_EPILOGUE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::resid::contraction {

struct EpilogueInput {
  Value tensor;
  /// From the product's dimensions.
  AffineMap map;
};

class Epilogue {
public:
  /// The longest chain of ops after `product` that may join its kernel.
  static Epilogue find(Value product);

  ArrayRef<linalg::LinalgOp> getOps() const { return ops; }
  ArrayRef<EpilogueInput> getInputs() const { return inputs; }
  /// From the product's dimensions to those of the last op's result.
  AffineMap getResultMap() const { return resultMap; }
  /// Emits what the ops compute of the product's element and those of the inputs, which are in `elements`.
  Value emit(OpBuilder &builder, ValueRange elements) const;

private:
  bool take(linalg::LinalgOp op, Value value);

  SmallVector<linalg::LinalgOp> ops;
  SmallVector<EpilogueInput> inputs;
  /// Per op, what each of its inputs is: the value before it (0), or 1 + the number of an input.
  SmallVector<SmallVector<unsigned>> sources;
  AffineMap resultMap;
};

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_EPILOGUE_H
