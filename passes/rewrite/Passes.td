// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes between blocks, flat ops and fused ops, and those that drop or move what stands in a stream.

#ifndef RESID_PASSES_REWRITE_PASSES
#define RESID_PASSES_REWRITE_PASSES

include "passes/PassOptions.td"

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
  let options = [ReportOption<>,
                 Option<"complete", "complete", "bool", /*default=*/"false",
                        "an error where a residual sub-layer does not become a block; a sum of values that "
                        "do not depend on each other is none">];
}

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

def FuseAddNorm : Pass<"resid-fuse-add-norm"> {
  let summary = "fuses residual add and norm, with the branch's bias and dropout, into resid.add_norm";
  let description = [{
    Class: **bit-exact**.

    Rewrites the chain `[resid.add_bias] -> [resid.dropout] -> resid.add -> norm`, the norm being `resid.layer_norm`,
    `resid.rms_norm`, `resid.dyt` or `resid.group_norm`, into one `resid.add_norm`, which is defined as this chain.

    Before and after:
    ```mlir
    %b = resid.add_bias %f, %bias : tensor<?x768xf32>, tensor<768xf32>
    %d = resid.dropout %b seed(%seed, %step) {p = 0.1, site = 3} : tensor<?x768xf32>
    %s = resid.add %x, %d : tensor<?x768xf32>
    %n = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>

    %n, %s = resid.add_norm layer %x, %f bias(%bias) dropout(%seed, %step) gamma(%g)
        {epsilon = 1.0e-5, p = 0.1, site = 3} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
    ```
    - Gate, scales, the dropout's origin, a wider sum, a narrower normalised result and statistics are taken over.
    - Other readers of the sum read the second result.
    - In a plain `resid.add` (no gate, both scales 1) the bias and the dropout may stand on either operand, since
      x + f = f + x in every bit; the branch becomes the second operand of `resid.add_norm`.
    - A branch narrower than the stream, `%e = arith.extf %f`, is taken as it is: the fused op reads `%e`.

    The chain is fused as far as it can be; the rest of the branch stays as the fused op's operand. With `report` a
    remark gives the reason.

    Does not fire
    - beside dropout where the norm covers more than the last dimension: dropout's row and column refer to the last axis
      alone, and `resid.add_norm` states one notion of a row;
    - where the norm reads the sum through `arith.extf` or `arith.truncf`, since the sum would be rounded elsewhere;
    - on a second norm of one sum: the first is fused, the second reads the sum that leaves it;
    - where add and norm lie in different blocks, since the sum might be computed more often, or not at all;
    - where the sum is read before a parameter of the norm is defined, or a parameter depends on the sum.

    Stops at
    - a dropout or bias whose result is read elsewhere too, or that lies in another block (outside a loop, say): fusing
      would compute it twice;
    - `arith.extf` or `arith.truncf` between bias, dropout and add: fused, their results would not be rounded to the
      narrow type any more;
    - a bias or dropout on the skip operand of an add with gate or scales, which does not commute.

    Effect on rounding: none; every value of the chain is still rounded to its storage type once.

    `resid-expand-add-norm` is the inverse: expanding what was fused gives the chain back, standing together in its order
    and with the branch as second operand, and fusing what was expanded gives the fused op back.
  }];
  let options = [ReportOption<>];
}

def ExpandAddNorm : Pass<"resid-expand-add-norm"> {
  let summary = "expands resid.add_norm into bias, dropout, residual add and norm";
  let description = [{
    Class: **bit-exact**.

    Rewrites `resid.add_norm` into `resid.add_bias`, `resid.dropout`, `resid.add` and `resid.layer_norm`,
    `resid.rms_norm`, `resid.dyt` or `resid.group_norm`; bias and dropout only where the op has those clauses.
    The expansion is the op's definition.

    Before and after:
    ```mlir
    %n, %s = resid.add_norm rms %x, %f gate(%w) gamma(%g) {branch_scale = 0.5, epsilon = 1.0e-6}
        : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>

    %s = resid.add %x, %f gate(%w) {branch_scale = 0.5} : tensor<4x512xf32>, tensor<512xf32>
    %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    ```

    Fires on every `resid.add_norm`. A part whose result nobody reads is not kept.

    Effect on rounding: none.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
  let options = [ReportOption<>];
}

def RotatePreNorm : Pass<"resid-rotate-pre-norm"> {
  let summary = "rotates loops over pre-norm layers, so that add and norm stand together";
  let description = [{
    Class: **bit-exact**.

    In a `scf.for` over pre-norm layers an iteration is `[N f B +]`: norm, branch, what acts on the branch (bias,
    dropout, gate, scales), residual add. The add that makes the stream and the norm that reads it stand in
    different iterations, so `resid-fuse-add-norm` cannot join them. This pass makes the iteration `[B + N] f`: the
    first `N f` is peeled before the loop, the last `B +` after it, and the loop carries the stream before the add
    and the branch. The leading part uses what the iteration before used: its site and origin, its gate, scales and
    bias, slices of stacked parameters with the counter of that iteration.

    Before and after:
    ```mlir
    %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %x0) -> (tensor<?x512xf32>) {
      %gamma = tensor.extract_slice %gammas[%i, 0] [1, 512] [1, 1] : tensor<6x512xf32> to tensor<512xf32>
      %h = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
      %f = func.call @mlp(%h, %i) : (tensor<?x512xf32>, index) -> tensor<?x512xf32>
      %layer = arith.index_cast %i : index to i64
      %d = resid.dropout %f seed(%seed, %step) origin(%zero, %layer) {p = 0.1, site = 0} : tensor<?x512xf32>
      %s = resid.add %x, %d : tensor<?x512xf32>
      scf.yield %s : tensor<?x512xf32>
    }

    %gamma0 = tensor.extract_slice %gammas[0, 0] [1, 512] [1, 1] : tensor<6x512xf32> to tensor<512xf32>
    %h0 = resid.rms_norm %x0 gamma(%gamma0) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
    %f0 = func.call @mlp(%h0, %c0) : (tensor<?x512xf32>, index) -> tensor<?x512xf32>
    %skip, %branch = scf.for %i = %c1 to %c6 step %c1 iter_args(%x = %x0, %f = %f0)
        -> (tensor<?x512xf32>, tensor<?x512xf32>) {
      %previous = arith.subi %i, %c1 : index
      %layer = arith.index_cast %previous : index to i64
      %d = resid.dropout %f seed(%seed, %step) origin(%zero, %layer) {p = 0.1, site = 0} : tensor<?x512xf32>
      %s = resid.add %x, %d : tensor<?x512xf32>
      %gamma = tensor.extract_slice %gammas[%i, 0] [1, 512] [1, 1] : tensor<6x512xf32> to tensor<512xf32>
      %h = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
      %g = func.call @mlp(%h, %i) : (tensor<?x512xf32>, index) -> tensor<?x512xf32>
      scf.yield %s, %g : tensor<?x512xf32>, tensor<?x512xf32>
    }
    %layer5 = arith.index_cast %c5 : index to i64
    %d5 = resid.dropout %branch seed(%seed, %step) origin(%zero, %layer5) {p = 0.1, site = 0} : tensor<?x512xf32>
    %y = resid.add %skip, %d5 : tensor<?x512xf32>
    ```
    - A body of several sub-layers, attention and MLP say, rotates at the iteration's boundary: the last add meets the
      first norm. Inside the body add and norm stand together already.
    - A narrow branch, `%e = arith.extf %f` before the add, is carried narrow.
    - A parameter of the leading part that depends on more than the loop's counter and values from above, a gate made
      from the stream say, is carried with the branch.
    - Other carried values stay as they are. Of nested loops the inner one is rotated first.
    - Ops with side effects, calls say, run in the order and as often as before.

    With `report` a remark gives the reason where a loop looks like one over layers and is not rotated.

    Does not fire
    - where the loop is not known to run at least once: by constant bounds, or by what is known of the ranges of
      integers;
    - where another op than a norm is the first to read the stream in an iteration (`none`, `branch_post`), or another
      op than `resid.add` makes what the iteration hands on (`post`, where add and norm stand together already);
    - where the last sum is read in its own iteration too: returned by another carried value, or tapped;
    - where the loop carries two such streams;
    - beside dropout where the norm covers more than the last dimension: `resid-fuse-add-norm` would not fuse them;
    - on `resid.block`: `resid-expand-blocks` makes flat ops of it first.

    Effect on rounding: none; every op works on the operands it had.

    It is no part of `resid-passes`. Rotated, the loop carries one tensor more. Where the branch mixes rows (attention,
    a matrix product) one pass over the stream per layer is saved, unless the product starts from a fill outside of the
    loop, which rotation makes a copy per layer. Where the whole layer works row by row, it would have been one kernel
    without rotation, and is slower with it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [ReportOption<>];
}

def Inference : Pass<"resid-inference"> {
  let summary = "removes dropout";
  let description = [{
    Class: **changes the function**.

    Replaces `resid.dropout` by its operand and removes the dropout clause of `resid.add_norm` and
    `resid.block`: a program for training
    becomes the one for inference, in which dropout is the identity by definition. What is left of the program keeps its
    bits.

    Before and after:
    ```mlir
    %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    %s = resid.add %x, %d : tensor<?x768xf32>

    %s = resid.add %x, %f : tensor<?x768xf32>
    ```

    Fires on every dropout, whatever its `p`, p = 1 included. Function signatures stay as they are: seed, step and origin
    remain arguments, which nothing reads any more.

    Effect on rounding: the rounding of the dropout's result disappears with it.
  }];
  let options = [ReportOption<>];
}

#endif
