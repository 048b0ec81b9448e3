// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that differentiates functions.

#ifndef RESID_PASSES_GRAD_PASSES
#define RESID_PASSES_GRAD_PASSES

include "passes/PassOptions.td"

def Grad : Pass<"resid-grad", "::mlir::ModuleOp"> {
  let summary = "makes the functions that compute the gradients of a function";
  let description = [{
    Makes new functions, and leaves the one that it differentiates as it is. Reverse mode: from the gradients of the
    results to those of the arguments.

    For `@F`, `mode=split` makes two functions:
    - `@F_forward` has the arguments of F. It gives the results of F, and then the values that are *saved*, in the order
      in which F computes them.
    - `@F_backward` has the arguments of F, then the saved values, then the gradient of each float result of F. It gives
      the gradients of the arguments that `wrt` names, in that order, by default of all float tensors.

    `mode=value-and-grad` makes one function. `@F_value_and_grad` has the arguments of F and then the gradient of each
    float result. It gives the results of F, and then the gradients.

    Before and after, without the norm's parameters:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %s = resid.add %x, %b : tensor<4x8xf32>
      %y = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }

    func.func @f_forward(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>)
        -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
      %s = resid.add %x, %b : tensor<4x8xf32>
      %y, %rstd = resid.rms_norm %s {epsilon = 1.0e-6}
          : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
      return %y, %s, %rstd : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
    }
    func.func @f_backward(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>, %s: tensor<4x8xf32>,
                          %rstd: tensor<4xf32>, %dy: tensor<4x8xf32>)
        -> (tensor<4x8xf32>, tensor<4x8xf32>) {
      %dx = resid.rms_norm_grad %dy, %s statistics(%rstd)
          : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
      return %dx, %dx : tensor<4x8xf32>, tensor<4x8xf32>
    }
    ```

    **What is saved** is what a rule reads and what is no argument. `save` chooses:
    - `default`: what a norm normalises, its statistics, the inputs of products, what a dynamic tanh squashes, and the
      branch of an add where the gradient of its gate is asked for. Norms, dynamic tanh and activations are computed
      again where something else reads their results.
    - `min`: what loops carry, for each iteration; the backward computes the rest of the forward again.
    - `all`: everything that is read.
    Masks of dropout are never saved, and neither are constants, numbers made of numbers, and tensors made of these. A
    remark says how many bytes are saved, as a sum of products with the sizes at run time, written `?`.

    **Zeros.** A gradient that is zero everywhere is no tensor, and nothing is added to it. Where the gradient of an
    argument that was asked for is zero, the result is a tensor of zeros.

    **Which ops.** The table of [gradients](gradients.md#arithmetic) has them all. `resid.add_norm` and `resid.block` are
    expanded first, and calls are replaced by the bodies of their callees. Any other op that an argument reaches
    through, on the way to a result, is an error that names it. An op of no influence needs no rule.

    **Refused:** a function that is not there, or has a body of several blocks; arguments in `wrt` that are not there or
    no float tensors; names of functions that are taken; gradients through the statistics of a batch norm, which a result of F
    depends on; gradients of the statistics that a batch norm is handed.

    Effect on rounding: none on the results of F. [Gradients](gradients.md) has the arithmetic. Gradients that meet are
    added with `resid.add`, one rounding each; where a value is normalised and read elsewhere too, the backward of the
    norm adds. The rounding of a cast, and of a narrow result, counts as the identity.
  }];
  let options = [Option<"function", "function", "std::string", /*default=*/"", "the function to differentiate">,
                 ListOption<"wrt", "wrt", "int64_t",
                            "the arguments whose gradients are made, counted from 0; default: all float tensors">,
                 ChoiceOption<"mode", "mode", Resid_GradMode, "Split">,
                 ChoiceOption<"save", "save", Resid_GradSave, "Default">];
}

#endif
