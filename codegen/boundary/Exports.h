// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions of a translated module are visible from outside, for which processor each is compiled, and the small
// functions beside an entry that need no lowering. Does not own the entries themselves (BuildEntries.cpp).

#ifndef RESID_CODEGEN_BOUNDARY_EXPORTS_H
#define RESID_CODEGEN_BOUNDARY_EXPORTS_H

#include "codegen/boundary/Signature.h"
#include "codegen/kernels/Target.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::boundary {

/// Adds `F_info` and F_dl for each kernel, and F_weight_list where it takes a struct of weights; makes everything
/// internal but these, F and F_scratch_bytes. What runs before the processor was asked, or whatever it answers, is
/// compiled for the baseline of the architecture, the rest for the only processor; where there are several,
/// machine::setVariant has done it. With `packed` adds `F__packed(void **args)` instead of F_dl, for calls in memory:
/// args[i] points at the i-th C argument, the last one at a resid_status that receives the answer. Where the
/// target has a device, F_preload is exported too.
void finishExports(llvm::Module &module, const kernels::Target &target, llvm::ArrayRef<KernelSignature> kernels,
                   bool packed);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_EXPORTS_H
