// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that forms row kernels.

#ifndef RESID_CODEGEN_ROWS_PASSES
#define RESID_CODEGEN_ROWS_PASSES

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"resid-form-kernels"> {
  let summary = "group row-wise ops over the same rows into row kernels";
  let description = [{
    Groups row-wise ops on tensors (elementwise `linalg` ops whose maps use the columns all or not at all, row
    statistics, random numbers of dropout sites) that work on the same rows into `rows.kernel`. An op joins the kernel of
    the ops it reads, or one that reads the same tensor, unless a value would have to leave the kernel and come back.
    The kernel's body runs once per row: per-row scalars around phases, cut at the sums. A value that several phases
    need is re-read from the output row it was stored to, kept in an output row of its type that is written later
    anyway, or computed anew; no row is kept anywhere else. A store before the last phase is made only where no later
    phase reads an input that the output's buffer could be.

    Class: bit-exact. No operation is reordered within an element, and values are rounded to storage as before.

    Ops that are not row-wise stay as they are, in an order that keeps their side effects' order.
  }];
  let options = [Option<"printPrograms", "print-programs", "bool", "false",
                        "print each kernel's phases, what they read, keep and write, to standard error">,
                 Option<"record", "record", "bool", "false",
                        "note the same at each kernel, with what kept its ops out of others, for a report">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::resid::rows::RowsDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
