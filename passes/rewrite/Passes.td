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

    Rewrites each `resid.add` whose branch is computed from its stream into a `resid.block`. The block takes the norms
    around the branch, and the dropout on it. The pass is the inverse of `resid-expand-blocks`: expanding what was
    formed gives the same ops.

    Before and after:
    ```mlir
    %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
    %y = resid.add %x, %f : tensor<4x512xf32>

    %y = resid.block pre %x norm(rms gamma %g : tensor<512xf32> epsilon = 1.0e-6)
        : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }
    ```

    **What belongs to the branch.**
    - A `resid.write` whose branch is computed from the one `resid.read` of the same streams is a sub-layer on several
      streams, with the clause `streams`. Norms of the streams themselves stay where they are.
    - Stream and branch are told apart by dependence: the branch is computed from the stream. In a plain `resid.add` (no
      gate, both scales 1) the branch may be either operand, since x + f = f + x in every bit.
    - The region gets all ops between the stream and the branch's output that depend on the stream's elements, of
      whatever dialect.
    - Everything else stays outside and is captured, or stays an operand. Examples are weights, an encoder's output,
      constants, and a gate that is drawn for a drop path.
    - An op that depends on the stream's sizes alone, such as the `tensor.empty` of a result, moves into the region if
      nothing else needs it.
    - Sub-layers are found in every block of a function: in loops, in regions, and in the branch of another sub-layer. A
      sub-layer inside of a branch becomes a block inside of that block's region.
    - `resid.add_norm` is expanded first (`resid-expand-add-norm`).

    **Which placement it reads.** The places of the norms decide:
    - `pre`: the only op of the branch that reads the stream is a norm.
    - `branch_post`: the last op of the branch is a norm.
    - `peri`: both are norms.
    - `none`: there are no norms, and the sub-layers follow each other directly. A norm after the last of them is a
      final norm. At the end of a loop's body, or after a sub-layer that is `post`, it belongs to the last sub-layer
      instead.
    - `post` or `post_shifted`: norms stand between the sub-layers only. The next paragraph says which of the two.

    After the last `pre`, `branch_post` or `peri` sub-layer, a norm stays where it is, as the final norm.

    **Post or post_shifted.** A norm between two sub-layers could end the first (`post`) or begin the second
    (`post_shifted`). The bits are the same, so the chain of sub-layers decides:
    - It is `post` where the chain's last sum is read by a norm alone. A norm before the first sub-layer is then the
      embedding's.
    - It is `post_shifted` where a raw sum leaves the chain, and every sub-layer begins with a norm that nothing else
      reads. The first of several sub-layers may do without a norm, and becomes `none`.
    - It is `post_shifted` too where a sum in between is read elsewhere, and every sub-layer begins with a norm. A norm
      at the end is then the final norm.
    - In any other chain, each sub-layer is `post` where a norm follows it.

    So a `post_shifted` stack with a final norm that nothing else reads comes back as `post`, after an embedding's
    norm.

    **Does not fire** in these cases. It gives the reason with `report`, or as an error with `complete`:
    - The sum is wider than the stream. A block's result has the stream's type.
    - The branch does not depend on the stream. Or it is the first operand of an add with a gate or scales.
    - A part of the branch lies in another block of the program than the add.
    - A value of the branch is read outside of it. Examples are a norm that two branches share, parallel branches, and
      an auxiliary head.
    - A value of the branch is read by a gate, a norm's parameter, or the seed, step, origin or extent of the dropout.
    - The branch reads both the stream and the norm of it. Or the norm after the branch reads another type than it
      makes.
    - The statistics of one of the norms are read.
    - `narrow_affine` stands on one of two norms with gamma.
    - Between two sub-layers, a norm follows on a sum that is also read elsewhere, or the norm makes another type. That
      is `post`, but no block can say it.
    - The branch has effects (a `func.call`), and other ops with effects stand between it and the end of the sub-layer.

    Effect on rounding: none.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
  let options = [ReportOption<>,
                 Option<"complete", "complete", "bool", /*default=*/"false",
                        "an error where a residual sub-layer does not become a block; a sum of values that "
                        "do not depend on each other is no sub-layer">];
}

def ExpandBlocks : Pass<"resid-expand-blocks"> {
  let summary = "expands resid.block into flat ops";
  let description = [{
    Class: **bit-exact**.

    Rewrites `resid.block` into single ops: the norms of its placement, the ops of its branch, `resid.dropout` if the
    block has that clause, and `resid.add` with its gate and scales. A block with the clause `streams` begins with
    `resid.read` and ends in `resid.write` instead of the add. Its gate and its `branch_scale` are a `resid.read` of the
    branch as the only stream. This expansion is the definition of the op.

    Before and after:
    ```mlir
    %y = resid.block pre %x norm(rms gamma %g : tensor<512xf32> epsilon = 1.0e-6)
        : tensor<4x512xf32> {
    ^bb0(%h: tensor<4x512xf32>):
      %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
      resid.yield %f : tensor<4x512xf32>
    }

    %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    %f = func.call @attention(%h) : (tensor<4x512xf32>) -> tensor<4x512xf32>
    %y = resid.add %x, %f : tensor<4x512xf32>
    ```

    Fires on every `resid.block`, also on blocks inside of another block's branch.

    Effect on rounding: none.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def ExpandQuantizedResults : Pass<"resid-expand-quantized-results"> {
  let summary = "expands ops with a quantised result into the op on floats and resid.quantize";
  let description = [{
    Class: **bit-exact**.

    Rewrites each norm, `resid.add_norm` and `resid.block` whose first result is of i8 into the same op with a result of
    floats, and a `resid.quantize` of it. This expansion is the definition of such an op.

    Before and after:
    ```mlir
    %q, %scale = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6}
        : tensor<4x512xf32>, tensor<512xf32> -> tensor<4x512xi8>, tensor<4xf32>

    %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<4x512xf32>, tensor<512xf32>
    %q, %scale = resid.quantize %n {granularity = row} : tensor<4x512xf32>
    ```

    Fires on every such op. Other passes know the expansion alone. All tools but `resid-opt` therefore expand a program
    as they read it, and `resid-opt` does so before the first pass that it is given. In other tools of MLIR, run this
    pass first.

    Effect on rounding: none.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
}

def FuseAddNorm : Pass<"resid-fuse-add-norm"> {
  let summary = "fuses residual add and norm, with the branch's bias and dropout, into resid.add_norm";
  let description = [{
    Class: **bit-exact**.

    Rewrites the chain `[resid.add_bias] -> [resid.dropout] -> resid.add -> norm` into one `resid.add_norm`, which is
    defined as this chain. The norm is `resid.layer_norm`, `resid.rms_norm`, `resid.dyt` or `resid.group_norm`. Bias and
    dropout are optional.

    Before and after:
    ```mlir
    %b = resid.add_bias %f, %bias : tensor<?x768xf32>, tensor<768xf32>
    %d = resid.dropout %b seed(%seed, %step) {p = 0.1, site = 3} : tensor<?x768xf32>
    %s = resid.add %x, %d : tensor<?x768xf32>
    %n = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>

    %n, %s = resid.add_norm layer %x, %f bias(%bias) dropout(%seed, %step) gamma(%g)
        {epsilon = 1.0e-5, p = 0.1, site = 3} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
    ```
    - The fused op takes over the gate, the scales, the dropout's origin and extent, a wider sum, a narrower normalised
      result, and the statistics.
    - Other readers of the sum read the second result.
    - In a plain `resid.add` (no gate, both scales 1) bias and dropout may stand on either operand, since x + f = f + x
      in every bit. The branch becomes the second operand of `resid.add_norm`.
    - A branch that is narrower than the stream, `%e = arith.extf %f`, is taken as it is. The fused op reads `%e`.

    The pass fuses as much of the chain as it can. The rest of the branch stays, as the operand of the fused op. With
    `report` a remark gives the reason.

    **Does not fire** in these cases:
    - There is dropout, and the norm covers more than the last dimension. Dropout's row and column refer to the last
      axis alone, and `resid.add_norm` has only one notion of a row.
    - The norm reads the sum through `arith.extf` or `arith.truncf`. The sum would be rounded elsewhere.
    - It is a second norm of one sum. The first norm is fused, and the second one reads the sum that the fused op hands
      out.
    - Add and norm lie in different blocks of the program. The sum might be computed more often, or not at all.
    - The sum is read before a parameter of the norm is defined, or a parameter depends on the sum.

    **Stops before** these ops, and fuses what comes after them:
    - A dropout or bias whose result is also read elsewhere, or that lies in another block of the program, such as
      outside of a loop. Fusing would compute it twice.
    - `arith.extf` or `arith.truncf` between bias, dropout and add. Fused, the results would no longer be rounded to the
      narrow type.
    - A bias or dropout on the skip operand of an add with a gate or scales. Such an add does not commute.

    Effect on rounding: none. Every value of the chain is still rounded to its storage type once.

    `resid-expand-add-norm` is the inverse. Expanding what was fused gives the chain back, in its order and with the
    branch as second operand. Fusing what was expanded gives the fused op back.
  }];
  let options = [ReportOption<>];
}

def ExpandAddNorm : Pass<"resid-expand-add-norm"> {
  let summary = "expands resid.add_norm into bias, dropout, residual add and norm";
  let description = [{
    Class: **bit-exact**.

    Rewrites `resid.add_norm` into single ops: `resid.add_bias`, `resid.dropout`, `resid.add`, and the norm
    (`resid.layer_norm`, `resid.rms_norm`, `resid.dyt` or `resid.group_norm`). Bias and dropout are written only if the
    op has those clauses. This expansion is the definition of the op.

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

    An iteration of a `scf.for` over pre-norm layers is `[N f B +]`: norm, branch, what acts on the branch (bias,
    dropout, gate, scales), residual add. The add that makes the stream and the norm that reads it stand in different
    iterations. So `resid-fuse-add-norm` cannot join them.

    This pass makes the iteration `[B + N] f`. The first `N f` is peeled off before the loop, and the last `B +` after
    it. The loop carries two values: the stream before the add, and the branch. `B +` then works for the iteration
    before, so it uses what that iteration used: its site, origin and extent, its gate, scales and bias, and slices of
    stacked parameters at that iteration's counter.

    Before and after:
    ```mlir
    %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %x0) -> (tensor<?x512xf32>) {
      %gamma = tensor.extract_slice %gammas[%i, 0] [1, 512] [1, 1]
          : tensor<6x512xf32> to tensor<512xf32>
      %h = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
      %f = func.call @mlp(%h, %i) : (tensor<?x512xf32>, index) -> tensor<?x512xf32>
      %layer = arith.index_cast %i : index to i64
      %d = resid.dropout %f seed(%seed, %step) origin(%zero, %layer) {p = 0.1, site = 0}
          : tensor<?x512xf32>
      %s = resid.add %x, %d : tensor<?x512xf32>
      scf.yield %s : tensor<?x512xf32>
    }

    %gamma0 = tensor.extract_slice %gammas[0, 0] [1, 512] [1, 1]
        : tensor<6x512xf32> to tensor<512xf32>
    %h0 = resid.rms_norm %x0 gamma(%gamma0) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
    %f0 = func.call @mlp(%h0, %c0) : (tensor<?x512xf32>, index) -> tensor<?x512xf32>
    %skip, %branch = scf.for %i = %c1 to %c6 step %c1 iter_args(%x = %x0, %f = %f0)
        -> (tensor<?x512xf32>, tensor<?x512xf32>) {
      %previous = arith.subi %i, %c1 : index
      %layer = arith.index_cast %previous : index to i64
      %d = resid.dropout %f seed(%seed, %step) origin(%zero, %layer) {p = 0.1, site = 0}
          : tensor<?x512xf32>
      %s = resid.add %x, %d : tensor<?x512xf32>
      %gamma = tensor.extract_slice %gammas[%i, 0] [1, 512] [1, 1]
          : tensor<6x512xf32> to tensor<512xf32>
      %h = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
      %g = func.call @mlp(%h, %i) : (tensor<?x512xf32>, index) -> tensor<?x512xf32>
      scf.yield %s, %g : tensor<?x512xf32>, tensor<?x512xf32>
    }
    %layer5 = arith.index_cast %c5 : index to i64
    %d5 = resid.dropout %branch seed(%seed, %step) origin(%zero, %layer5) {p = 0.1, site = 0}
        : tensor<?x512xf32>
    %y = resid.add %skip, %d5 : tensor<?x512xf32>
    ```
    - A body of several sub-layers, such as attention and MLP, rotates at the iteration's boundary: the last add meets
      the first norm. Inside of the body, adds and norms stand together already.
    - A narrow branch, `%e = arith.extf %f` before the add, is carried narrow.
    - `B` may have a parameter that depends on more than the loop's counter and values from outside, such as a gate made
      from the stream. The loop carries such a parameter with the branch.
    - Other carried values stay as they are. Of nested loops, the inner one is rotated first.
    - Ops with side effects, such as calls, run in the same order and as often as before.

    With `report`, a remark gives the reason if a loop looks like one over layers and is not rotated.

    **Does not fire** in these cases:
    - The loop is not known to run at least once, neither by constant bounds nor by the known ranges of integers.
    - The first reader of the stream in an iteration is no norm (`none`, `branch_post`).
    - The value that the iteration hands on is made by another op than `resid.add`. In `post`, add and norm stand
      together already.
    - The last sum is also read in its own iteration: another carried value returns it, or something taps it.
    - The loop carries two such streams.
    - There is dropout, and the norm covers more than the last dimension. `resid-fuse-add-norm` would not fuse them.
    - The layers are written as `resid.block`. `resid-expand-blocks` makes flat ops of them first.

    Effect on rounding: none. Every op works on the operands it had.

    The pass is not part of `resid-passes`, since it does not always pay. A rotated loop carries one tensor more. If the
    branch mixes rows (attention, a matrix product), one pass over the stream per layer is saved. The exception is a
    product that starts from a fill outside of the loop: rotation then makes a copy of that fill per layer. If the whole
    layer works row by row, it is one kernel without rotation, and slower with it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [ReportOption<>];
}

def Inference : Pass<"resid-inference"> {
  let summary = "removes dropout";
  let description = [{
    Class: **changes the function**.

    Removes dropout. Replaces `resid.dropout` by its operand, and removes the dropout clause of `resid.add_norm`,
    `resid.attention` and `resid.block`. A program for training becomes the program for inference, in which dropout is the identity by
    definition. The rest of the program keeps its bits.

    Before and after:
    ```mlir
    %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    %s = resid.add %x, %d : tensor<?x768xf32>

    %s = resid.add %x, %f : tensor<?x768xf32>
    ```

    Fires on every dropout, whatever its `p`, also for p = 1. Function signatures stay as they are: seed, step, origin
    and extent remain arguments, which nothing reads any more.

    Effect on rounding: the rounding of the dropout's result disappears with it.
  }];
  let options = [ReportOption<>];
}

def ExpandAttention : Pass<"resid-expand-attention"> {
  let summary = "rewrites attention into linalg, for tools without its kernel";
  let description = [{
    Class: **exact in real arithmetic**.

    Rewrites `resid.attention` into two products with a softmax between them, all of them `linalg.generic`, and
    `resid.append` into `tensor.insert_slice`. No pipeline of resid runs this pass: `resid.attention` compiles to one
    kernel, and its expansion stores the matrix of scores, `[batch, heads, queries, keys]`.

    Before and after, without the bodies:
    ```mlir
    %y = resid.attention %q, %k, %v
        : tensor<1x8x16x64xf32>, tensor<1x8x16x64xf32>, tensor<1x8x16x64xf32>

    %products = linalg.generic … ins(%q, %k : …) outs(%zeros : tensor<1x8x16x16xf32>)
    %scores = linalg.generic … ins(%products : …)         // scale and mask, -Inf for absent keys
    %max = linalg.generic … ins(%scores : …)              // reduced with arith.maximumf
    %weights = linalg.generic … ins(%scores, %max : …)    // exp(score - max), 0 for absent keys
    %sum = linalg.generic … ins(%weights : …)             // reduced with arith.addf
    %values = linalg.generic … ins(%weights, %v : …) outs(%zeros : tensor<1x8x16x64xf32>)
    %y = linalg.generic … ins(%values, %sum : …)          // divided, or 0 where no key is present
    ```

    - Heads that share keys are a dimension of their own in the products, by `tensor.expand_shape`.
    - That the cache has places, and that numbers of heads divide, becomes `cf.assert` where it is not known.
    - `max` and `sum` become the results of the two reductions.
    - A dropout clause becomes `resid.dropout` on the weights, after their sum. It drops the same weights.

    Fires on each of the two ops. **Differs** from the op in one case: a value that is infinite or NaN spoils all queries
    of its head, also those for which a mask, causality or dropout hides its key. Places of a cache that are not filled yet spoil
    nothing.

    Effect on rounding: the arithmetic type stays, and storage is rounded to once. The sums have other orders, there are
    no chunks, and exp keeps subnormal weights. So the last bits differ.
  }];
  let options = [ReportOption<>];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

#endif
