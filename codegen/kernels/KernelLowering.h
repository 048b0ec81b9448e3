// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels on buffers to functions, and to what runs these in the kernels' places: the same for all kinds of
// kernels and all targets. Not: the code of a kernel, which its target emits.

#ifndef RESID_CODEGEN_KERNELS_KERNELLOWERING_H
#define RESID_CODEGEN_KERNELS_KERNELLOWERING_H

#include "codegen/kernels/SharedFunctions.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::kernels {

/// The functions that a target outlines a kernel into, which equal kernels share, and what runs them.
class KernelCode {
public:
  KernelCode(KernelUse first, SymbolTable &symbols) : functions(std::move(first), symbols) {}
  virtual ~KernelCode() = default;

  /// Whether the code of `other` is the same. Before emit().
  virtual bool takeIn(KernelUse &other) { return functions.takeIn(other); }
  /// Makes the functions.
  virtual void emit() = 0;
  /// Runs a kernel that was taken in, or the first, in its place.
  virtual LogicalResult launch(KernelUse &use) = 0;

  KernelUse &getFirst() { return functions.getFirst(); }

protected:
  SharedFunctions functions;
};

/// A kernel with its code.
struct LoweredKernel {
  KernelUse use;
  KernelCode *code;
};

/// What a target does with the kernels of one module.
class KernelLowering {
public:
  explicit KernelLowering(ModuleOp module) : symbols(module) {}
  virtual ~KernelLowering() = default;

  /// The ops that become kernels, in the order of the module.
  virtual SmallVector<Operation *> findKernels(ModuleOp module);
  /// One of them where it stands. Emits what computes its indexing before it.
  virtual FailureOr<KernelUse> prepare(Operation *op) { return KernelUse::prepare(cast<KernelOpInterface>(op)); }
  /// The code of a kernel that no other one shares so far; an error where the target cannot run it.
  virtual FailureOr<std::unique_ptr<KernelCode>> createCode(KernelUse use) = 0;
  /// Runs all kernels, whose functions are made: each in its place, in the order of the module.
  virtual LogicalResult launch(MutableArrayRef<LoweredKernel> kernels);

protected:
  template <typename Code, typename... Arguments>
  static FailureOr<std::unique_ptr<KernelCode>> create(Arguments &&...arguments) {
    return std::unique_ptr<KernelCode>(std::make_unique<Code>(std::forward<Arguments>(arguments)...));
  }

  SymbolTable symbols;
};

/// Outlines the kernels of a module, and runs them in their places.
LogicalResult lowerKernels(ModuleOp module, KernelLowering &lowering);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_KERNELLOWERING_H
