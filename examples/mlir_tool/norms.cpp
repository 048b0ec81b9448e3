// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the norms of a program and the places that it marks, then runs resid's passes and counts what they fused.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "llvm/Support/raw_ostream.h"

#include "MarkDialect.h.inc"
#define GET_OP_CLASSES
#include "MarkOps.h.inc"

#include "MarkDialect.cpp.inc"
#define GET_OP_CLASSES
#include "MarkOps.cpp.inc"

void mark::MarkDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "MarkOps.cpp.inc"
      >();
}

using namespace mlir;

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: norms FILE.mlir\n";
    return 2;
  }
  MLIRContext context;
  context.loadDialect<resid::ResidDialect, mark::MarkDialect, func::FuncDialect, arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  module->walk([](resid::LayerNormOp norm) {
    double epsilon = norm.getEpsilon().convertToDouble();
    llvm::outs() << "layer_norm of " << norm.getX().getType() << ", epsilon " << epsilon << "\n";
  });
  module->walk([](mark::HereOp here) { llvm::outs() << "mark " << here.getName() << "\n"; });

  PassManager manager(&context);
  resid::buildResidPassPipeline(manager, {});
  if (failed(manager.run(*module)))
    return 1;
  unsigned fused = 0;
  module->walk([&](resid::AddNormOp) { ++fused; });
  llvm::outs() << "fused: " << fused << "\n";
  return 0;
}
