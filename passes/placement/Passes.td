// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of norm placements.

#ifndef RESID_PASSES_PLACEMENT_PASSES
#define RESID_PASSES_PLACEMENT_PASSES

include "passes/PassOptions.td"

def ConvertNormPlacement : Pass<"resid-convert-norm-placement", "::mlir::ModuleOp"> {
  let summary = "gives stacks of resid.block another norm placement";
  let description = [{
    Class: **changes the function**. Between `post` and `post_shifted` with `params=shift` it is **bit-exact**.

    A *stack* is the row of `resid.block` ops on one residual stream. This pass rewrites every stack of the module to
    the placement `to`. A conversion that cannot be done is an error with its place and reason. What was done is
    recorded in the module attribute `resid.manifest`.

    Before and after, with `to=post_shifted`:
    ```mlir
    %a = resid.block post %x norm(rms gamma %g0 : tensor<512xf32> epsilon = 1.0e-6)
        : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    %y = resid.block post %a norm(rms gamma %g1 : tensor<512xf32> epsilon = 1.0e-6)
        : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @mlp(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }

    %a = resid.block none %x : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    %s = resid.block post_shifted %a norm(rms gamma %g0 : tensor<512xf32> epsilon = 1.0e-6)
        : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @mlp(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    %y = resid.rms_norm %s gamma(%g1) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    ```

    **`params=keep`** works between all placements. Each sub-layer keeps its norms:
    - A norm whose position exists in the target stays there. From `branch_post` to `peri` it is N2.
    - The other norms take the positions that are left, in order. From `post` to `peri` the norm is N1.
    - A position without a norm gets a new one, with the kind, epsilon and parameter types of the sub-layer's first
      norm. A norm without a position is dropped.
    - If the target wants a final norm, one that is there stays. Otherwise one like the last sub-layer's is added. None
      is added with `final-norm=identity`, nor where the stream forks after the stack and so goes on.
    - If the target wants no final norm (`post`, `none`), a final norm is dropped, and a remark says so.
    - New parameters are new arguments at the end: alpha, gamma, beta. They are called `norm_3_gamma`, with the norm's
      number in the manifest, or `final_norm_gamma`. In a loop over stacked parameters, the new ones are stacked too.

    **`params=shift`** works between `post` and `pre`, and between `post` and `post_shifted`:
    - Norm i moves to sub-layer i+1, and the last one becomes the final norm.
    - The first sub-layer takes the norm that makes the stack's input, if the stack alone reads it. Otherwise the first
      sub-layer becomes `none`.
    - A final norm that stood after a `post` stack stays after the new one.
    - On the way back, norm 0 goes before the stack, and the final norm becomes the last sub-layer's. Without a final
      norm, the last sub-layer becomes `none` when it comes from `post_shifted`; from `pre` that is an error.

    **Does not fire** in these cases:
    - The stack has the placement already.
    - A stack on several streams would come to `post` or `post_shifted`, or wants a new final norm and has no
      `resid.read` after its last sub-layer.
    - A stack has blocks of several placements, or of placement `none`, which has no kind of norm to take.
    - `shift` meets a stack that a loop carries.
    - The stream between two sub-layers forks or has another reader (an auxiliary head, a branch that captures it), and
      its meaning changes: it is normalised in `post`, and raw elsewhere. The bit-exact shift gives such a reader a norm
      of its own, and takes it back on the way back.
    - The end of the stream has other readers beside the final norm.
    - A final norm that would be dropped changes the type, or its statistics are read. The bit-exact shift leaves it.
    - A function would get new arguments but has callers. Inlining removes the callers.
    - New parameters are needed in a loop, but the norm's parameters depend on the iteration and are no slices of
      stacked ones.
    - A parameter cannot be defined before the sub-layer that it moves to.

    Effect on rounding: none in the bit-exact class. A branch may have read the narrower result of a norm. If no norm
    stands before it any more, it reads the stream through `arith.truncf`.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"to", "to", "std::string", /*default=*/"", "the placement to convert to">,
                 ChoiceOption<"params", "params", Resid_NormMapping, "Auto">,
                 ChoiceOption<"finalNorm", "final-norm", Resid_FinalNormSource, "Arguments">,
                 ReportOption<>];
}

#endif
