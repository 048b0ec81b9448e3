// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of norm placements.

#ifndef RESID_PASSES_PLACEMENT_PASSES
#define RESID_PASSES_PLACEMENT_PASSES

include "passes/PassOptions.td"

def ConvertNormPlacement : Pass<"resid-convert-norm-placement", "::mlir::ModuleOp"> {
  let summary = "gives stacks of resid.block another norm placement";
  let description = [{
    Class: **changes the function**; `post` to `post_shifted` and back by `params=shift` is **bit-exact**.

    Rewrites every stack of `resid.block` of the module, that is the blocks on one residual stream, to the placement
    `to`. A conversion that cannot be done is an error with its place and reason.

    Before and after, with `to=post_shifted`:
    ```mlir
    %a = resid.block post %x norm(rms gamma %g0 : tensor<512xf32> epsilon = 1.0e-6) : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    %y = resid.block post %a norm(rms gamma %g1 : tensor<512xf32> epsilon = 1.0e-6) : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @mlp(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }

    %a = resid.block none %x : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    %s = resid.block post_shifted %a norm(rms gamma %g0 : tensor<512xf32> epsilon = 1.0e-6) : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @mlp(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    %y = resid.rms_norm %s gamma(%g1) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    ```

    `params=keep`, between all placements: each sub-layer keeps its norms.
    - A norm that stands at a position of the target stays there (`branch_post` to `peri`: it is N2), the others take the
      positions left, in order (`post` to `peri`: it is N1). A position without a norm gets a new one of the kind, epsilon
      and parameter types of the sub-layer's first norm; a norm without a position is dropped.
    - Where the target wants a final norm, one that is there stays; else one like the last sub-layer's is added, or none
      with `final-norm=identity`, and where the stream forks behind the stack and so goes on. Where the target wants none
      (`post`, `none`), a final norm is dropped, and a remark says so.
    - New parameters are new arguments at the end: alpha, gamma, beta, called `norm_3_gamma` (the norm's number is that in
      the manifest), `final_norm_gamma`. In a loop over stacked parameters the new ones are stacked likewise.

    `params=shift`, between `post` and `pre` or `post_shifted`: norm i moves to sub-layer i+1, and the last one becomes
    the final norm. The first sub-layer takes the norm that makes the stack's input, where the stack alone reads it, and
    else becomes `none`. A final norm that stood behind a `post` stack stays behind the new one. Back likewise: norm 0
    goes before the stack, the final norm becomes the last sub-layer's; without one the last sub-layer becomes `none`
    (from `post_shifted`; an error from `pre`).

    What was done is recorded in the module attribute `resid.manifest`.

    Does not fire
    - on a stack that has the placement already;
    - on blocks of several placements in one stack, or of placement `none`, which has no kind of norm to take;
    - by `shift` on a stack that a loop carries;
    - where the stream between sub-layers has another reader (an auxiliary head, a branch that captures it) or forks, and
      its meaning changes: normalised in `post`, raw elsewhere. The bit-exact shift gives such a reader a norm of its own,
      and takes it back;
    - where the final norm is not all that reads the end of the stream;
    - where a final norm would go that changes the type, or whose statistics are read; the bit-exact shift leaves it;
    - where a function gets arguments but has callers, which inlining removes;
    - where a norm's parameters depend on a loop's iteration but are no slices of stacked ones, and new ones are needed;
    - where a parameter cannot be defined before the sub-layer that it moves to.

    Effect on rounding: none in the bit-exact class. A branch that took the narrower result of a norm takes the stream and
    narrows it by `arith.truncf` where no norm stands before it any more.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"to", "to", "std::string", /*default=*/"", "the placement to convert to">,
                 Option<
                     "params", "params", "::mlir::resid::NormMapping", /*default=*/"::mlir::resid::NormMapping::Auto",
                     "which norm a sub-layer has afterwards; by default, shift where that is bit-exact, else keep", [{
             ::llvm::cl::values(
               clEnumValN(::mlir::resid::NormMapping::Auto, "auto", "shift where that is bit-exact, else keep"),
               clEnumValN(::mlir::resid::NormMapping::Keep, "keep", "its own"),
               clEnumValN(::mlir::resid::NormMapping::Shift, "shift", "its neighbour's"))
           }]>,
                 Option<"finalNorm", "final-norm", "::mlir::resid::FinalNormSource",
                        /*default=*/"::mlir::resid::FinalNormSource::Arguments",
                        "what a final norm is that the placement wants and the program does not have", [{
             ::llvm::cl::values(
               clEnumValN(::mlir::resid::FinalNormSource::Arguments, "args", "one with new arguments as parameters"),
               clEnumValN(::mlir::resid::FinalNormSource::Identity, "identity", "none"))
           }]>,
                 ReportOption<>];
}

#endif
