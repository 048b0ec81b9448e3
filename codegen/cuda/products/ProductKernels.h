// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of a GPU that a contraction kernel is outlined into, and its launch: by tiles of the result, or in a
// form that takes any product. There each element of the result is one chain of terms in one thread, or chains of a
// known length that the warps of a block share.

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTKERNELS_H
#define RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTKERNELS_H

#include "codegen/cuda/DeviceKernel.h"
#include "codegen/cuda/products/ProductTile.h"

namespace mlir::resid::cuda {

/// How the elements of a product are dealt out to threads. Neighbouring threads go along the rows or the columns of the
/// result, and each thread has `tile` elements along the other of the two.
struct ProductShape {
  bool goesAlongRows;
  int64_t tile;
  /// The warps of a block take the chains of the same elements in turn. Else each warp has elements of its own.
  bool sharesChains;

  static ProductShape choose(const contraction::KernelLoops &loops);

  const contraction::Loop &getThreadLoop(const contraction::KernelLoops &loops) const {
    return goesAlongRows ? loops.m : loops.n;
  }
  const contraction::Loop &getTileLoop(const contraction::KernelLoops &loops) const {
    return goesAlongRows ? loops.n : loops.m;
  }
  /// Of a block.
  int64_t getWarps() const;
  int64_t getThreads() const;
  /// A unit is the elements of one warp, or of a block whose warps share chains.
  int64_t getUnitsOfBlock() const { return sharesChains ? 1 : getWarps(); }
};

class ProductKernel : public DeviceKernel {
public:
  /// `relaxesProducts`: as ProductTile::choose has it.
  ProductKernel(kernels::KernelUse first, SymbolTable &symbols, int64_t &count, bool relaxesProducts)
      : DeviceKernel(std::move(first), symbols, count), relaxesProducts(relaxesProducts) {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  LogicalResult launchTiles(kernels::KernelUse &use, ArrayRef<ProductTile> tiles, ArrayRef<Value> arguments);

  const bool relaxesProducts;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTKERNELS_H
