// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that kernels and loop nests are outlined into. Those that are equal share functions, so that the equal
// layers of a model are compiled once. Not: what is emitted into a function, nor who calls it (Tasks.h).

#ifndef RESID_CODEGEN_KERNELS_SHAREDFUNCTIONS_H
#define RESID_CODEGEN_KERNELS_SHAREDFUNCTIONS_H

#include "codegen/kernels/KernelOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallSet.h"
#include <deque>

namespace mlir::resid::kernels {

/// A kernel or a loop nest where it stands, with what its code takes from the function around it.
struct KernelUse {
  Operation *op;
  func::FuncOp enclosing;
  std::shared_ptr<KernelIndexing> indexing;
  /// Pointers and scalars: those of the indexing, then one entry per use, in an order that equal ops share.
  SmallVector<Value> values;
  /// Where those of the regions begin.
  unsigned firstOuter = 0;
  /// By place in `values`: a scalar's pointer, where the function loads it from there.
  llvm::SmallDenseMap<unsigned, Value> pointers;

  /// Emits what computes the indexing before the kernel.
  static FailureOr<KernelUse> prepare(KernelOpInterface kernel);
  static KernelUse create(Operation *op, std::shared_ptr<KernelIndexing> indexing, ValueRange outer);

  ConstantUse getConstantUse(unsigned place) const;
  /// Whether a value is a constant that kernels have to have alike.
  bool isInCode(unsigned place) const;

  template <typename OpTy> OpTy get() const { return cast<OpTy>(op); }
  /// The indexing of the op's kind.
  template <typename Indexing> Indexing &as() const { return static_cast<Indexing &>(*indexing); }
};

/// A function that a kernel is outlined into, seen from inside.
struct KernelBody {
  Block *entry;
  std::shared_ptr<KernelIndexing> indexing;
  /// What the values from outside are here.
  IRMapping mapping;

  template <typename Indexing> Indexing &as() const { return static_cast<Indexing &>(*indexing); }
  /// The last argument has the number 1.
  Value getArgumentFromEnd(unsigned number) const { return entry->getArgument(entry->getNumArguments() - number); }
};

/// The code of one kernel, or of several that are equal but for values that are arguments.
class SharedFunctions {
public:
  SharedFunctions(KernelUse first, SymbolTable &symbols);

  /// Whether the code of `other` is the same, which then may call these functions. Before functions are made.
  bool takeIn(KernelUse &other);
  KernelUse &getFirst() { return first; }

  /// Emits the kernel at the builder's position in a function's first block.
  using EmitBody = function_ref<void(OpBuilder &builder, KernelBody &body)>;
  /// A function with the kernel's arguments and those of `more` types after them.
  func::FuncOp outline(const Twine &suffix, TypeRange more, EmitBody emit);
  /// What a kernel that was taken in (or the first) passes as the kernel's arguments; made at the builder's position.
  SmallVector<Value> getArguments(OpBuilder &builder, KernelUse &use) const;

  /// An empty private function, named after the function around the first kernel and placed before it.
  func::FuncOp createFunction(const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes = {});

private:
  struct Parameter {
    Value value;     // of the first kernel
    unsigned place;  // in `values`
    bool isConstant; // made again in the functions, and no argument
  };

  SmallVector<Parameter> collectParameters() const;

  KernelUse first;
  SymbolTable &symbols;
  /// By place in `values`, the first place with the same value in every kernel.
  SmallVector<unsigned> places;
  /// Positions of constants that differ between the kernels.
  llvm::SmallSet<unsigned, 4> differing;
};

/// The codes of the kernels of a module, in the order of their first kernels.
template <typename Code> class SharedCodes {
public:
  /// The code that takes `use` in; null where none does.
  Code *find(KernelUse &use) {
    for (Code *code : candidates[use.indexing->getFacts()])
      if (code->takeIn(use))
        return code;
    return nullptr;
  }
  Code &add(KernelUse &first, std::unique_ptr<Code> code) {
    candidates[first.indexing->getFacts()].push_back(code.get());
    codes.push_back(std::move(code));
    return *codes.back();
  }
  ArrayRef<std::unique_ptr<Code>> getAll() const { return codes; }

private:
  std::vector<std::unique_ptr<Code>> codes;
  llvm::DenseMap<Attribute, SmallVector<Code *, 1>> candidates;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_SHAREDFUNCTIONS_H
