// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that forms row kernels.

#ifndef RESID_CODEGEN_ROWS_PASSES
#define RESID_CODEGEN_ROWS_PASSES

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"resid-form-kernels"> {
  let summary = "group row-wise ops over the same rows into row kernels";
  let description = [{
    Groups row-wise ops on tensors that work on the same rows into `rows.kernel`. Row-wise ops are elementwise `linalg`
    ops whose maps use the columns all or not at all, row statistics, random numbers of dropout sites, and float sums
    over leading dimensions. An elementwise op may read an operand at another column than the one at hand, as a rotary
    embedding does with the partner of a pair. What its kernel computes of that operand is then computed at both columns. An op joins the kernel of the ops that it reads, or a kernel that reads the same tensor. It
    does not join if a value would have to leave the kernel and come back.

    The kernel's body runs once per row. It holds scalars of the row and, around them, phases that are cut at the sums.
    If several phases need a value, there are four ways: it is read again from the output row in which it was stored,
    kept in an output row of its type that is written later anyway, kept in a local row, or computed again. A local row
    belongs to no operand and holds f32 or f64. A target has little room for it, so `local-row-bytes` bounds the local
    rows of a kernel. Rows whose width is not known have none. A store before the last phase is made only where no later phase reads an input that the output's buffer could be.

    A float sum over leading dimensions becomes an init of the kernel without a row dimension, to which each row adds a
    term. Its additions get the order that docs/numerics.md defines for column sums.

    Class: bit-exact, sums over leading dimensions aside. No operation is reordered within an element, and values are
    rounded to storage as before.

    Ops that are not row-wise stay as they are. The order of side effects stays too.
  }];
  let options = [Option<"printPrograms", "print-programs", "bool", "false",
                        "print each kernel's phases, what they read, keep and write, to standard error">,
                 Option<"record", "record", "bool", "false",
                        "note the same at each kernel, with what kept its ops out of others, for a report">,
                 Option<"localRowBytes", "local-row-bytes", "int64_t", "0",
                        "the bytes that all local rows of a kernel may have; 0: values are computed anew">,
                 Option<"localRowPasses", "local-row-passes", "int64_t", "1",
                        "a value that is cheap to compute is kept in a local row only where so many later passes of "
                        "every row need it">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::resid::rows::RowsDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
