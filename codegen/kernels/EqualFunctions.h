// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are outlined from several places, each once: the equal layers of a model are compiled once. Not: what
// is outlined, nor row kernels, which are equal but for some constants (KernelFunctions.h).

#ifndef RESID_CODEGEN_KERNELS_EQUALFUNCTIONS_H
#define RESID_CODEGEN_KERNELS_EQUALFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include <unordered_map>

namespace mlir::resid::kernels {

class EqualFunctions {
public:
  explicit EqualFunctions(SymbolTable &symbols) : symbols(symbols) {}

  /// A private function that does what `function` does, whatever that is called: one that was added before, else
  /// `function` itself. It stands nowhere yet.
  func::FuncOp add(OwningOpRef<func::FuncOp> function);
  /// Puts an added function before `place` and gives it a name of its own, where it does not stand in the module yet.
  void insert(func::FuncOp function, func::FuncOp place);

private:
  SymbolTable &symbols;
  /// By their hashes.
  std::unordered_map<size_t, SmallVector<func::FuncOp, 1>> functions;
  /// Those that stand nowhere.
  llvm::DenseMap<Operation *, OwningOpRef<func::FuncOp>> owned;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_EQUALFUNCTIONS_H
