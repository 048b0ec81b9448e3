// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The innermost functions of contractions, which all kernels of a module share: rows of a times panels of b, in
// registers.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELS_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/MicroKernelShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

namespace mlir::resid::cpu {

class MicroKernels {
public:
  MicroKernels(SymbolTable &symbols, const CPUTarget &target) : symbols(symbols), target(target) {}

  /// What a micro-kernel works on. Elements of a and of sums are of the arithmetic type.
  struct Operands {
    /// The first number of a, and the distance of rows in elements.
    Value a, aStride;
    /// The first panel, and the distance of panels in elements.
    Value b, panelStride;
    /// How many contracted terms (i64).
    Value terms;
    /// The sums, row by row; each row has room for the columns of the widest micro-kernel.
    Value sums;
  };

  /// Emits a call that adds, to the sums of `rows` rows and `columns` columns, the terms in ascending order. These are
  /// whole panels, of which the last one may be cut in half. With `startsAtZero`, sums begin at +0 whatever is there.
  void emitCall(Code &code, FloatType arithmetic, Type bType, int64_t rows, int64_t columns, int64_t sumStride,
                const Operands &operands, bool startsAtZero = false);

private:
  func::FuncOp create(OpBuilder &outer, Location loc, StringRef name, FloatType arithmetic, Type bType, int64_t rows,
                      int64_t columns, int64_t sumStride, bool startsAtZero);

  SymbolTable &symbols;
  const CPUTarget &target;
  std::map<std::string, func::FuncOp> functions;
};

/// The first of each pair of neighbours in bf16, and the second, as f32. `pairs`: a vector of i32.
Value widenFirst(Code &code, Value pairs);
Value widenSecond(Code &code, Value pairs);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELS_H
