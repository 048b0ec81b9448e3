// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of lowering: find kernels, share their code, emit it, run it.

#include "codegen/kernels/KernelLowering.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

SmallVector<Operation *> KernelLowering::findKernels(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](KernelOpInterface kernel) { ops.push_back(kernel); });
  return ops;
}

LogicalResult KernelLowering::launch(MutableArrayRef<LoweredKernel> kernels) {
  return success(llvm::all_of(
      kernels, [](LoweredKernel &kernel) { return succeeded(kernel.code->launch(kernel.use)); }));
}

LogicalResult kernels::lowerKernels(ModuleOp module, KernelLowering &lowering) {
  SmallVector<Operation *> ops = lowering.findKernels(module);
  SharedCodes<KernelCode> codes;
  std::vector<LoweredKernel> kernels;
  for (Operation *op : ops) {
    FailureOr<KernelUse> use = lowering.prepare(op);
    if (failed(use))
      return failure();
    KernelCode *code = codes.find(*use);
    if (!code) {
      FailureOr<std::unique_ptr<KernelCode>> created = lowering.createCode(*use);
      if (failed(created))
        return failure();
      code = &codes.add(*use, std::move(*created));
    }
    kernels.push_back({std::move(*use), code});
  }
  for (const std::unique_ptr<KernelCode> &code : codes.getAll())
    code->emit();
  if (failed(lowering.launch(kernels)))
    return failure();
  for (Operation *op : ops)
    op->erase();
  return success();
}
