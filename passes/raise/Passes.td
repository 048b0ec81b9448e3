// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that recognises what programs of other tools wrote out.

#ifndef RESID_PASSES_RAISE_PASSES
#define RESID_PASSES_RAISE_PASSES

include "passes/PassOptions.td"

def Raise : Pass<"resid-raise"> {
  let summary = "raises activations and norms that are written out to ops of resid";
  let description = [{
    Class: **bit-exact**; with `level=all` **exact in real arithmetic**.

    Importers write activations and norms as chains of `linalg`, `arith` and `math`. The pass reads such a chain as an
    expression of one element, across as many ops as it takes, and replaces its last op.

    Before and after, with `level=exact`:
    ```mlir
    %one = arith.constant dense<1.0> : tensor<4x512xf32>
    %n = arith.negf %x : tensor<4x512xf32>
    %e = math.exp %n : tensor<4x512xf32>
    %d = arith.addf %one, %e : tensor<4x512xf32>
    %y = arith.divf %x, %d : tensor<4x512xf32>

    %y = resid.activation silu %x : tensor<4x512xf32>
    ```

    **`exact`** (the default) takes activations that have the steps of `resid.activation`, one by one: the same
    operations on the same constants in the arithmetic type, and one rounding at the end. The operands of sums and
    products may be swapped. So no bit changes.

    **`all`** also takes what is the same function in real arithmetic, and says so in a remark for each:
    - activations in any order of products and sums, with divisions by constants, with powers of small integers, with
      casts in between (`Div`-`Erf`-`Add`-`Mul` and `Pow`-`Tanh` of ONNX, `x·sigmoid(x)`);
    - `resid.layer_norm` and `resid.rms_norm` over the last dimension: mean, difference, squares, mean, epsilon, root,
      gamma and beta, as torch-mlir and importers of ONNX write them. The sums are `linalg` ops over the last loop
      which start from zeros. The last dimension is static. gamma and beta are vectors, or absent. A beta alone is not
      part of the norm.

    Constants may be off by a millionth, so that constants of f32 are taken for what they stand for.

    With `report`, remarks say what is left alone since it is nearly, but not quite, one of these: where only the level
    forbids it, or where a constant is off by more, up to a fiftieth.

    What else reads a value of the chain still reads it, so that parts of the chain may stay.

    Effect on rounding: none in the bit-exact class. Else the op's own steps are taken, and values between them are not
    rounded to narrow types.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
  let options = [Option<"level", "level", "::mlir::resid::RaiseLevel", /*default=*/"::mlir::resid::RaiseLevel::Exact",
                        "what is raised", [{
             ::llvm::cl::values(
               clEnumValN(::mlir::resid::RaiseLevel::Off, "off", "nothing"),
               clEnumValN(::mlir::resid::RaiseLevel::Exact, "exact", "what has the same bits"),
               clEnumValN(::mlir::resid::RaiseLevel::All, "all", "also what is the same in real arithmetic"))
           }]>,
                 ReportOption<>];
}

#endif
