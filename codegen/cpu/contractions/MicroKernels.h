// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The innermost functions of contractions, which all kernels of a module share: rows of a times panels of b, in
// registers.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELS_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/ByteDot.h"
#include "codegen/cpu/contractions/IntegerWeights.h"
#include "codegen/cpu/contractions/MicroKernelShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

namespace mlir::resid::cpu {

class MicroKernels {
public:
  MicroKernels(SymbolTable &symbols, const CPUTarget &target) : symbols(symbols), target(target) {}

  /// What a micro-kernel works on. Elements of a and of sums are of the arithmetic type; a of integers has bytes, and
  /// zeros after the last term until there are whole groups of them (ByteDot.h says by how much such sums are too
  /// large).
  struct Operands {
    /// The first number of a, and the distance of rows in elements.
    Value a, aStride;
    /// The first panel, and the distance of panels in elements.
    Value b, panelStride;
    /// How many contracted terms (i64).
    Value terms;
    /// The sums, row by row; each row has room for the columns of the widest micro-kernel.
    Value sums;
    /// In place of `b` where the form has integers.
    IntegerColumns integers;

    /// What is handed over, in order: those that there are.
    SmallVector<Value *> getValues();
  };

  /// What a micro-kernel is made for.
  struct Form {
    Type arithmetic, bType;
    /// Columns are whole panels, of which the last one may be cut in half.
    int64_t rows, columns, sumStride;
    /// Sums begin at +0 whatever is there.
    bool startsAtZero = false;
    /// Elements of b from a term to the next, before terms are interleaved.
    int64_t termLength = kPanelColumns;
    /// Rows are chains of so many terms, each with the next ones of b; 0: they share the terms of b.
    int64_t chain = 0;
    /// b is one panel, which is computed from integers of this form.
    IntegerForm integers;

    std::string getName() const;
  };

  ByteDot getByteDot() const { return ByteDot(target); }
  /// Emits a call that adds the terms to the sums in ascending order.
  void emitCall(Code &code, const Form &form, Operands operands);

private:
  func::FuncOp create(OpBuilder &outer, Location loc, StringRef name, const Form &form, Operands operands);

  SymbolTable &symbols;
  const CPUTarget &target;
  std::map<std::string, func::FuncOp> functions;
};

/// The first of each pair of neighbours in bf16, and the second, as f32. `pairs`: a vector of i32.
Value widenFirst(Code &code, Value pairs);
Value widenSecond(Code &code, Value pairs);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELS_H
