// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of the ops on whole tensors that reduce rows. Grouping, planning and building of kernels know them by
// this alone; the formulas stand in Statistics.cpp.

#ifndef RESID_CODEGEN_ROWS_STATISTICSINTERFACE
#define RESID_CODEGEN_ROWS_STATISTICSINTERFACE

include "mlir/IR/OpBase.td"

def Rows_StatisticsOpInterface : OpInterface<"StatisticsOpInterface"> {
  let cppNamespace = "::mlir::resid::rows";
  let description = [{
    An op whose results are one element per row each, made of sums and other reductions over the columns of its operands.
  }];
  let methods = [
    InterfaceMethod<[{
      The tensors it goes through, one or several of one shape.
    }], "::mlir::OperandRange", "getRowOperands", (ins), "", "return $_op->getOperands();">,
    InterfaceMethod<[{
      How many trailing dimensions of the operands are the columns.
    }], "unsigned", "getColumnCount", (ins), "", "return $_op.getNormRank();">,
    InterfaceMethod<[{
      How many passes over its operands every row takes; further ones are rare.
    }], "unsigned", "getUsualPasses", (ins), "", "return 1;">,
    InterfaceMethod<[{
      Writes its phases and the scalar code between them at the builder's place; the values of its results for the row.
    }], "::llvm::SmallVector<::mlir::Value>", "expand",
        (ins "::mlir::resid::Code &":$builder, "::mlir::resid::rows::StatisticsPhases &":$phases)>];
}

#endif
