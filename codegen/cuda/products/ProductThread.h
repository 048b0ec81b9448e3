// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one thread does of a product: its elements' chains of terms, and the work on each element after them. Not: which
// elements a thread has (ProductKernels.h).

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTTHREAD_H
#define RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTTHREAD_H

#include "codegen/cuda/SharedArray.h"
#include "codegen/cuda/products/ProductElements.h"
#include "codegen/cuda/products/ProductKernels.h"

namespace mlir::resid::cuda {

/// Emits into a function of a GPU, at the place of `code`.
class ProductThread {
public:
  ProductThread(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel);

  /// Everything that the thread does.
  void emit();

  /// Units of all elements (i64).
  static Value countUnits(Code &code, const contraction::KernelLoops &loops, const ProductShape &shape);

private:
  /// Elements that a thread has at a time: along the loop of threads the one at `thread`, along the other those from
  /// `tile` on. All i64, one for each batch loop.
  struct Elements {
    SmallVector<Value> batch;
    Value thread, isThere, tile;
  };
  using Sums = SmallVector<Value>;

  Elements findElements(Value unit);
  void emitUnit(const Elements &elements);
  void emitSharedChains(const Elements &elements);
  /// The sums of the terms from `first` to `end`, each from `sums` on.
  Sums emitTerms(const Elements &elements, Value first, Value end, Sums sums);
  Sums emitRun(const Elements &elements, ValueRange outer, Value first, Value end, Sums sums);
  ElementPlace getPlace(const Elements &elements, Value tile) const;
  void finish(const Elements &elements, Value tile, Value sum);

  /// Element number `number` of the thread, or the last one that there is.
  Value getTile(const Elements &elements, int64_t number);
  bool isAlongThreads(unsigned factor) const;
  Value getSlot(Value warp, Value tile);

  ProductElements product;
  Code &code;
  const contraction::KernelLoops &loops;
  ProductShape shape;
  /// Of the thread in its warp, and of the warp in its block; i64.
  Value warpThread, warp;
  /// Sums of the chains that the warps of a block have at a time.
  std::optional<SharedArray> shared;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTTHREAD_H
