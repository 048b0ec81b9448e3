// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis of which outputs may overwrite which inputs.

#include "codegen/emit/SharedBuffers.h"

#include "codegen/rows/RowProgram.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::emit;

/// The only kernel of the function, if nothing else in it touches arrays.
static rows::KernelOp findOnlyKernel(func::FuncOp function) {
  rows::KernelOp kernel;
  for (Operation &op : function.getBody().front()) {
    if (auto next = dyn_cast<rows::KernelOp>(op)) {
      if (kernel)
        return nullptr;
      kernel = next;
      continue;
    }
    if (!isa<rows::RequireOp, func::ReturnOp>(op) && !isMemoryEffectFree(&op))
      return nullptr;
  }
  return kernel;
}

static Value skipCasts(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  return buffer;
}

/// A kernel reads a row of an input whole before its first store to an output that may be the
/// same row; so the input must have the output's type and be read at the output's own rows and columns only.
void mlir::resid::emit::findSharedBuffers(func::FuncOp function, KernelSignature &signature) {
  rows::KernelOp kernel = findOnlyKernel(function);
  if (!kernel)
    return;
  SmallVector<AffineMap> maps = llvm::to_vector(kernel.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  auto mapsOf = [&](Value buffer) {
    SmallVector<AffineMap> found;
    for (auto [index, operand] :
         llvm::enumerate(llvm::concat<Value>(llvm::to_vector(kernel.getInputs()), llvm::to_vector(kernel.getInits()))))
      if (skipCasts(operand) == buffer)
        found.push_back(maps[index]);
    return found;
  };
  /// All uses of the buffer are the kernel's (through casts), or ask for its sizes.
  auto isUsedByKernelOnly = [&](Value buffer) {
    return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
      return user == kernel || isa<memref::DimOp>(user) ||
             (isa<memref::CastOp>(user) && llvm::all_of(user->getUsers(), [&](Operation *next) {
                return next == kernel || isa<memref::DimOp>(next);
              }));
    });
  };
  for (auto [result, output] : llvm::enumerate(signature.results)) {
    Value destination = function.getArgument(1 + signature.arguments.size() + result);
    SmallVector<AffineMap> destinationMaps = mapsOf(destination);
    for (auto [argument, input] : llvm::enumerate(signature.arguments)) {
      Value source = function.getArgument(1 + argument);
      if (!input.isArray() ||
          !rows::mayShareBuffer(cast<ShapedType>(input.type), cast<ShapedType>(output.type)))
        continue;
      SmallVector<AffineMap> sourceMaps = mapsOf(source);
      bool same = destinationMaps.size() == 1 && !sourceMaps.empty() &&
                  llvm::all_of(sourceMaps, [&](AffineMap map) { return map == destinationMaps.front(); });
      if (same && isUsedByKernelOnly(source) && isUsedByKernelOnly(destination))
        signature.inPlace.push_back({unsigned(result), unsigned(argument)});
    }
  }
}
