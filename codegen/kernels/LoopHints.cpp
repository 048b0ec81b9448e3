// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/LoopHints.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;

void kernels::setUnrolling(scf::ForOp loop, int64_t count) {
  OpBuilder builder(loop);
  BoolAttr isOff = count == 1 ? builder.getBoolAttr(true) : nullptr;
  IntegerAttr times = count == 1 ? nullptr : builder.getI32IntegerAttr(int32_t(count));
  auto unroll = LLVM::LoopUnrollAttr::get(builder.getContext(), isOff, times, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(builder.getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {},
                                                  {}, {}, {}, {});
  loop->setDiscardableAttr(LLVM::LoopAnnotationAttr::name, annotation);
}
