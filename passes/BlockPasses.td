// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes on resid.block and its norm placement: expanding, forming, converting, checking.

#ifndef RESID_PASSES_BLOCKPASSES
#define RESID_PASSES_BLOCKPASSES

include "passes/PassOptions.td"

def ExpandBlocks : Pass<"resid-expand-blocks"> {
  let summary = "expands resid.block into flat ops";
  let description = [{
    Class: **bit-exact**.

    Rewrites `resid.block` into the norms of its placement, the ops of its branch, `resid.dropout` where the block has
    that clause, and `resid.add` with its gate and scales. The expansion is the op's definition.

    Before and after:
    ```mlir
    %y = resid.block pre %x norm(rms gamma %g : tensor<512xf32> epsilon = 1.0e-6) : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }

    %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
    %y = resid.add %x, %f : tensor<4x512xf32>
    ```

    Fires on every `resid.block`, also on blocks inside the branch of another.

    Effect on rounding: none.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
  let options = [ReportOption<>];
}

def FormBlocks : Pass<"resid-form-blocks"> {
  let summary = "raises flat residual sub-layers to resid.block";
  let description = [{
    Class: **bit-exact**.

    Rewrites each `resid.add` whose branch is computed from its stream into a `resid.block`, with the norms around it and
    the dropout on the branch. It is the inverse of `resid-expand-blocks`: expanding what was formed gives the same ops.

    Before and after:
    ```mlir
    %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
    %y = resid.add %x, %f : tensor<4x512xf32>

    %y = resid.block pre %x norm(rms gamma %g : tensor<512xf32> epsilon = 1.0e-6) : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    ```
    - Stream and branch: the branch is the operand that is computed from the other one. In a plain `resid.add` (no gate,
      both scales 1) it may be either operand, since x + f = f + x in every bit.
    - The branch's region gets all ops, of whatever dialect, between the stream and the branch's output that depend on the
      stream's elements. Everything else (weights, an encoder's memory, constants, a gate that is drawn for a drop path) is
      captured or stays an operand. What depends on the stream's sizes alone, the `tensor.empty` of a result, say, moves
      along where nothing else needs it.
    - Sub-layers are found in every block of a function: in loops, in regions, in the branch of another block; a sub-layer
      inside of another one's branch becomes a block inside of its region.
    - `resid.add_norm` is expanded first (`resid-expand-add-norm`).

    The placement is read off where the norms stand:
    - a norm that is all of the branch that reads the stream: `pre`; the last op of the branch: `branch_post`; both: `peri`.
      The norm after the last of such sub-layers stays where it is, as the final norm.
    - a norm between two sub-layers without these could be the end of the first (`post`) or the beginning of the second
      (`post_shifted`): the bits are the same, and the chain of sub-layers decides. It reads as `post` where its last sum
      is read by a norm alone; a norm before the first sub-layer is then the embedding's. It reads as `post_shifted` where
      a raw sum leaves the chain and every sub-layer begins with a norm that nothing else reads (the first of several may
      do without and becomes `none`), and where a sum in between is read elsewhere too and every sub-layer begins with a
      norm; a norm at the end is then the final norm. In any other chain each sub-layer is `post` where a norm follows.
      So a `post_shifted` stack with a final norm, read by nothing else, comes back as `post` behind an embedding's norm.
    - sub-layers without norms that follow each other directly are `none`; a norm after the last of them is a final norm,
      but at the end of a loop's body, or behind a sub-layer that is `post`, it ends the last one.

    Does not fire, and gives the reason with `report`, or as an error with `complete`, where
    - the sum is wider than the stream, since a block's result has the stream's type;
    - the branch does not depend on the stream, or, with a gate or scales, is the first operand;
    - a part of the branch lies in another block of the program than the add;
    - a value of the branch is read outside of it (a norm that two branches share, parallel branches, an auxiliary head), or
      by a gate, a norm's parameter or the seed, step or origin of the dropout;
    - the branch reads the stream beside the norm of it, or the norm after the branch reads another type than it makes;
    - the statistics of one of the norms are read;
    - `narrow_affine` stands on one of two norms with gamma;
    - between two sub-layers a norm follows on a sum that is read elsewhere too, or makes another type: that is `post`, but
      no block;
    - the branch has effects (a `func.call`) and other ops with effects stand between it and the end of the sub-layer.

    Effect on rounding: none.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
  let options = [ReportOption<>, Option<"complete", "complete", "bool", /*default=*/"false",
                                        "an error where a residual sub-layer does not become a block; a sum of values that "
                                        "do not depend on each other is none">];
}

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
  let options = [
    Option<"to", "to", "std::string", /*default=*/"", "the placement to convert to">,
    Option<"params", "params", "::mlir::resid::NormMapping", /*default=*/"::mlir::resid::NormMapping::Auto",
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

def CheckStream : Pass<"resid-check-stream", "::mlir::ModuleOp"> {
  let summary = "warns about what the field knows as mistakes around a residual stream";
  let description = [{
    Class: **bit-exact**; nothing is rewritten.

    Emits a warning for each mistake, with its place and, as a note, the mend. Blocks, flat ops and fused ones are all
    read. `residc` runs this pass on every program as it is written; its flag `--werror` makes the warnings errors.

    **Dropout after the residual add.** It drops elements of the stream, not of the branch.
    ```mlir
    %s = resid.add %x, %f : tensor<?x768xf32>
    %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    ```
    Silent where another op carries the sum on (then a branch has dropout on its input), where the sum is that of
    embeddings and goes into a stack, and on the normalised end of a post-norm stack, which a head may drop from.

    **A stack without a final norm.** A stack of two sub-layers or more, or in a loop, whose last placement wants a
    final norm (flat ops as `resid-form-blocks` reads them), and the stream leaves it as a result of a public function that nobody calls, or into a linear layer.
    Silent where somebody who reads the stream normalises it, carries it on, is a function without a body, or computes
    anything else with it. Silent too for one layer, whose caller has the final norm: at most three sub-layers without a
    loop (self-attention, cross-attention, feed-forward), from an argument of the function to its result.

    **A norm on the skip path.** x' = N(x) + f(x): the stream is normalised, the branch reads it as it was. Silent where
    the branch reads N(x) (post-norm, `post_shifted`).

    **One mask twice.** Two dropouts with the same site, seed, step and origin, also in functions that are called, and
    one dropout in every iteration of a loop. Sites, origins and what makes them are followed through sums and
    products with constants: with the origin's site at `%i` and the sites 0 and 1 in one body, site 1 of one iteration is
    site 0 of the next. Silent in branches of which one runs, where p rounds to 0 or 1, and where a value is computed
    otherwise.
    ```mlir
    %a = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    %b = resid.dropout %g seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    ```

    **A branch that does not depend on the stream.** A block whose region reads neither its argument nor the stream, now
    or earlier; flat, a branch that calls or linear algebra compute after a first sub-layer in the same function without
    the stream. Silent where the branch is an argument of the function, as it is: a kernel may take it from its caller.

    Effect on rounding: none.
  }];
}

#endif
