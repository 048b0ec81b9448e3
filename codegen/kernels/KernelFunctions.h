// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that kernels are outlined into, and which kernels share them: the equal layers of a model are compiled
// once. Not: what a target emits into such a function, nor who calls it (Tasks.h).

#ifndef RESID_CODEGEN_KERNELS_KERNELFUNCTIONS_H
#define RESID_CODEGEN_KERNELS_KERNELFUNCTIONS_H

#include "codegen/kernels/KernelUse.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::resid::kernels {

/// A function that a kernel is outlined into, seen from inside.
struct KernelBody {
  Block *entry;
  /// Where the operands lie, and what the values from above the kernel are.
  KernelAddresses addresses;
  IRMapping mapping;

  /// The last argument has the number 1.
  Value getArgumentFromEnd(unsigned number) const { return entry->getArgument(entry->getNumArguments() - number); }
};

/// An empty private function, named after `enclosing` (the function with a kernel) and placed before it.
func::FuncOp createFunctionBefore(func::FuncOp enclosing, SymbolTable &symbols, Location loc, const Twine &suffix,
                                  TypeRange argumentTypes, TypeRange resultTypes = {});

/// The code of one kernel, or of several that are equal but for the numbers of their dropout sites, which are arguments
/// then. Everything else that is constant stays constant.
class KernelFunctions {
public:
  KernelFunctions(KernelUse first, SymbolTable &symbols) : first(std::move(first)), symbols(symbols) {}

  /// Whether the code of `other` is the same, which then may call these functions. Before functions are made.
  bool takeIn(KernelUse &other);
  KernelUse &getFirst() { return first; }

  /// Emits the kernel at the builder's position in a function's first block.
  using EmitBody = function_ref<void(OpBuilder &builder, KernelBody &body)>;
  /// A function with the kernel's arguments and those of `more` types behind them.
  func::FuncOp outline(const Twine &suffix, TypeRange more, EmitBody emit);
  /// What a kernel that was taken in (or the first) passes as the kernel's arguments; made at the builder's position.
  SmallVector<Value> getArguments(OpBuilder &builder, KernelUse &use) const;

  /// An empty private function, named after the first kernel's and placed before it.
  func::FuncOp createFunction(const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes = {});

private:
  struct Parameter {
    Value value;       // of the first kernel
    unsigned position; // of its first use, in outerValues
    bool isConstant;   // made again in the functions, and no argument
  };

  SmallVector<Parameter> collectParameters() const;

  KernelUse first;
  SymbolTable &symbols;
  /// Positions of constants that differ between the kernels.
  llvm::SmallSet<unsigned, 4> differing;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_KERNELFUNCTIONS_H
