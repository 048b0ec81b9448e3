// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single elements of a product's operands and of its result, as all forms of a product read and finish them. Not: which
// thread has which elements.

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTELEMENTS_H
#define RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTELEMENTS_H

#include "codegen/builder/Code.h"
#include "codegen/contractions/ContractionLoops.h"
#include "codegen/kernels/SharedFunctions.h"

namespace mlir::resid::cuda {

/// An element of the result: its number in each batch loop, its row and its column, which are never outside, all i64. A
/// thread that stands in for another one at the edge has `isThere` (i1) unset.
struct ElementPlace {
  SmallVector<Value> batch;
  Value row, column, isThere;
};

/// Emits into a function of a GPU, at the place of `code`.
class ProductElements {
public:
  ProductElements(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel)
      : code(code), kernel(kernel), loops(body.as<contraction::KernelLoops>()), body(body) {}

  /// Where an operand's element is, without contracted loops, in elements.
  Value getOffset(const ElementPlace &place, unsigned operand);
  /// Whether an operand is in panels.
  bool isPacked(unsigned operand) const { return operand == contraction::KernelLoops::kB && loops.packedColumns != 0; }
  /// Where an element of a packed b is. Panels have all terms of some columns each, some of them as neighbours.
  Value locatePacked(Value column, Value term);
  /// An element of an operand, in its own type.
  Value load(unsigned operand, Value offset);
  /// One in the arithmetic type.
  Value widen(Value element) { return code.castNumber(element, loops.arithmetic); }
  /// Of a sum.
  Value countTerms();
  /// What the sum of an element begins with. A thread that stands in for another one does not read what that one
  /// overwrites.
  Value loadStart(const ElementPlace &place);
  /// What is done to an element that is there, and its store.
  void finish(const ElementPlace &place, Value sum);

  Code &code;
  contraction::KernelOp kernel;
  const contraction::KernelLoops &loops;

private:
  kernels::KernelBody &body;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTELEMENTS_H
