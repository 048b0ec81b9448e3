// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from resid to resid: flags, options and what each of them keeps. The page docs/passes.md is made from this text.

#ifndef RESID_PASSES_PASSES
#define RESID_PASSES_PASSES

include "mlir/Pass/PassBase.td"

class ReportOption : Option<"report", "report", "bool", /*default=*/"false",
                            "emit a remark where the pass rewrites, with its class, and where it refuses, with the reason">;

def FuseAddNorm : Pass<"resid-fuse-add-norm"> {
  let summary = "fuses residual add and norm, with the branch's bias and dropout, into resid.add_norm";
  let description = [{
    Class: **bit-exact**.

    Rewrites the chain `[resid.add_bias] -> [resid.dropout] -> resid.add -> norm`, the norm being `resid.layer_norm`,
    `resid.rms_norm` or `resid.dyt`, into one `resid.add_norm`, which is defined as this chain.

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

def ExpandAddNorm : Pass<"resid-expand-add-norm"> {
  let summary = "expands resid.add_norm into bias, dropout, residual add and norm";
  let description = [{
    Class: **bit-exact**.

    Rewrites `resid.add_norm` into `resid.add_bias`, `resid.dropout`, `resid.add` and `resid.layer_norm`,
    `resid.rms_norm` or `resid.dyt`; bias and dropout only where the op has those clauses.
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
    anything else with it. A function that is one layer of a stack is private, or takes the norm in.

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

def FoldDeepNorm : Pass<"resid-fold-deepnorm", "::mlir::ModuleOp"> {
  let summary = "folds skip_scale before a norm into branch_scale and epsilon";
  let description = [{
    Class: **exact in real arithmetic**.

    DeepNorm is plain post-norm in other numbers: N(a·x + B(f)) = N'(x + B(f)/a) for a > 0, where N' has epsilon/a² in
    place of epsilon; for `resid.dyt`, alpha·a in place of alpha.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>) -> tensor<4x512xf32> {
      %y = resid.block post %x norm(rms gamma %gamma : tensor<512xf32> epsilon = 4.0e-6) {skip_scale = 2.0} : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = math.tanh %h : tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      return %y : tensor<4x512xf32>
    }

    func.func @after(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>) -> tensor<4x512xf32> {
      %y = resid.block post %x norm(rms gamma %gamma : tensor<512xf32> epsilon = 1.0e-6) {branch_scale = 0.5} : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = math.tanh %h : tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      return %y : tensor<4x512xf32>
    }
    ```
    - Fires on a `post` block whose `skip_scale` is not 1, and wherever else a norm is all that reads the sum a·x + B(f): a
      `resid.add`, or a block without a norm after its add, read by a norm op or by a `post_shifted` block.
    - gamma, beta, gate and dropout stay as they are.
    - A constant alpha becomes a new constant; for one that is an argument of the function, `@F_prepare` computes
      alpha·a, see [prepared weights](prepare.md).

    Refuses, with the reason
    - a `skip_scale` that is not positive;
    - a sum that anything but the norm reads, and a norm whose statistics are read, since they scale with a;
    - an epsilon/a² or branch_scale/a that would be infinite in the arithmetic type, or 0 where it was not;
    - an alpha that is neither a constant nor an argument of the function, or the argument of a function that is called.

    Does not look into `resid.add_norm`: expand it first.

    Effect on rounding: x is no longer multiplied by a, and the branch is multiplied by branch_scale/a; both scales and
    epsilon are computed in double and rounded to the arithmetic type like written ones.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def FoldLayerScale : Pass<"resid-fold-layer-scale", "::mlir::ModuleOp"> {
  let summary = "folds the gate and branch_scale of a branch into the linear layer that ends it";
  let description = [{
    Class: **exact in real arithmetic**.

    s·(g ⊙ (u·W + b)) = u·(W·diag(s·g)) + s·g ⊙ b: where a branch ends in a linear layer, a gate per feature (LayerScale), a
    gate of one number (ReZero) and `branch_scale` become part of its weight and bias.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %u: tensor<4x2048xf32>, %w: tensor<2048x512xf32>, %b: tensor<512xf32>,
                      %gate: tensor<512xf32>) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %m = linalg.matmul ins(%u, %w : tensor<4x2048xf32>, tensor<2048x512xf32>) outs(%zeros : tensor<4x512xf32>) -> tensor<4x512xf32>
      %f = resid.add_bias %m, %b : tensor<4x512xf32>, tensor<512xf32>
      %y = resid.add %x, %f gate(%gate) : tensor<4x512xf32>, tensor<512xf32>
      return %y : tensor<4x512xf32>
    }

    // %w and %b are made by @after_prepare from the old %w, %b and %gate.
    func.func @after(%x: tensor<4x512xf32>, %u: tensor<4x2048xf32>, %w: tensor<2048x512xf32> {resid.prepared = 0 : i64},
                     %b: tensor<512xf32> {resid.prepared = 1 : i64}) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %m = linalg.matmul ins(%u, %w : tensor<4x2048xf32>, tensor<2048x512xf32>) outs(%zeros : tensor<4x512xf32>) -> tensor<4x512xf32>
      %f = resid.add_bias %m, %b : tensor<4x512xf32>, tensor<512xf32>
      %y = resid.add %x, %f : tensor<4x512xf32>
      return %y : tensor<4x512xf32>
    }
    ```
    - Fires on `resid.add` and on `resid.block`. Linear layers are those of `resid-fold-norm-affine`; here the output
      features are their last axis, and they start from zeros or from a bias.
    - Dropout may stand between layer and gate: its mask does not depend on what it masks, and its scale is a number, so it
      commutes with a gate per feature.
    - Casts of the element type and reshapes that keep the feature axis may stand there too.
    - Constant weights become new constants; else `@F_prepare` makes them, see [prepared weights](prepare.md).
    - A weight that something else reads as well stays as it is, and the layer gets a copy of its own.

    `skip_scale` is on the other side of the add and stays; where a norm follows, `resid-fold-deepnorm` turns it into a
    `branch_scale` first.

    Refuses, with the place and the reason
    - a gate per row or element, drop path among them: it is no weight;
    - anything but a linear layer right before the gate, dropout aside: an activation, the norm of `branch_post` and `peri`;
    - a layer whose result, or a step after it, has another reader, and one that accumulates onto anything but zeros or a
      bias;
    - weights, bias or gate that are neither constants nor arguments of the function, and arguments of a function that is
      called.

    Does not look into `resid.add_norm`: expand it first.

    Effect on rounding: the branch is no longer multiplied by gate and scale; weight and bias are, and are rounded
    once to their types.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def FoldNormAffine : Pass<"resid-fold-norm-affine", "::mlir::ModuleOp"> {
  let summary = "folds gamma and beta of a norm into the linear layers that read it";
  let description = [{
    Class: **exact in real arithmetic**.

    (γ ⊙ x̂ + β)·W + b = x̂·(diag(γ)·W) + (b + β·W): where nothing but linear layers reads a norm, its gamma and beta
    become part of their weights and biases, and the norm is left without parameters. A layer without bias gets one
    where there is a beta, as `resid.add_bias`.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>, %w: tensor<512x2048xf32>,
                      %zeros: tensor<4x2048xf32>) -> tensor<4x2048xf32> {
      %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>
      %y = linalg.matmul ins(%n, %w : tensor<4x512xf32>, tensor<512x2048xf32>) outs(%zeros : tensor<4x2048xf32>) -> tensor<4x2048xf32>
      return %y : tensor<4x2048xf32>
    }

    // %w and %w_bias are made by @after_prepare from the old %w, %gamma and %beta.
    func.func @after(%x: tensor<4x512xf32>, %w: tensor<512x2048xf32> {resid.prepared = 1 : i64}, %zeros: tensor<4x2048xf32>,
                     %w_bias: tensor<2048xf32> {resid.prepared = 0 : i64}) -> tensor<4x2048xf32> {
      %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x512xf32>
      %m = linalg.matmul ins(%n, %w : tensor<4x512xf32>, tensor<512x2048xf32>) outs(%zeros : tensor<4x2048xf32>) -> tensor<4x2048xf32>
      %y = resid.add_bias %m, %w_bias : tensor<4x2048xf32>, tensor<2048xf32>
      return %y : tensor<4x2048xf32>
    }
    ```
    - The norm is `resid.layer_norm`, `resid.rms_norm`, `resid.dyt`, or one of a `resid.block`: right before its branch
      (`pre`, the first of `peri`), or the last of a `post` block whose result is read by linear layers alone.
    - A linear layer is `linalg.matmul`, `linalg.batch_matmul`, `linalg.contract` or `linalg.generic` of that form, with
      any indexing maps that sum over the feature axis of the norm; casts of the element type and reshapes that keep the
      feature axis may stand before it, casts, `linalg.transpose` and `linalg.broadcast` that nothing else reads before its
      weight. Several layers may read one norm (query, key and value).
    - Its bias is that of `resid.add_bias`, of an elementwise sum with one vector for all rows, or the contraction's start.
    - `zero_centered_gamma` folds 1+γ. `narrow_affine` folds too, and with it goes the rounding before γ; where
      another norm of the block has a gamma, it stays for that.
    - Constant weights become new constants. Where a weight or a parameter is an argument of the function, the new weight is
      made by `@F_prepare`, see [prepared weights](prepare.md).
    - A weight that something else reads as well stays as it is, and the layer gets a copy of its own.
    - In a loop over layers, weights and parameters may be slices of stacks, by one number.

    Refuses, with the place and the reason
    - a norm whose value anything but a linear layer reads: the residual add, the function's result;
    - a norm over several dimensions;
    - parameters, weights or a bias that are neither constants nor arguments of the function;
    - a beta where the layer's output features are not its last axis;
    - arguments of a function that is called, or whose `@F_prepare` would need a name that is taken.

    Does not look into `resid.add_norm`: expand it first.

    Effect on rounding: γ and β are no longer rounded per row, x̂ and the new weights are rounded instead, each once to
    its type. Weights are computed in f32 (f64 beside f64); constants in double.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
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

def CenterStream : Pass<"resid-center-stream", "::mlir::ModuleOp"> {
  let summary = "turns pre-LayerNorm into pre-RMSNorm by centring what writes to the stream";
  let description = [{
    Class: **exact in real arithmetic**. Inference only: training trajectories differ.

    A layer norm subtracts the mean of each row first. Where all that reads the stream are layer norms, the mean of
    its rows matters to nobody, and everything that writes to the stream may as well write rows of mean zero; then
    subtracting the mean does nothing, and each layer norm is an RMS norm with the same epsilon, gamma and beta. With
    P = I - 11ᵀ/D:
    - the stream that enters the stack is centred in the program, x·P = x - mean(x);
    - the last linear layer of each branch, y = h·W + b, becomes h·(W·P) + b·P: the mean over the output features
      leaves each row of the weight and the bias;
    - the norms of the blocks, the final norm, and the norm of a head that reads the stream in the middle become RMS
      norms.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>, %w: tensor<512x512xf32>)
        -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %y = resid.block pre %x norm(layer gamma %gamma : tensor<512xf32> epsilon = 1.0e-5) : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = linalg.matmul ins(%h, %w : tensor<4x512xf32>, tensor<512x512xf32>) outs(%zeros : tensor<4x512xf32>)
            -> tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      %z = resid.layer_norm %y gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
          : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>
      return %z : tensor<4x512xf32>
    }

    // %w is made by @after_prepare from the old %w.
    func.func @after(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>,
                     %w: tensor<512x512xf32> {resid.prepared = 0 : i64}) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %n, %mean, %correction, %rstd = resid.layer_norm %x {epsilon = 1.0e-5}
          : tensor<4x512xf32> -> tensor<4x512xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
      %e = tensor.empty() : tensor<4x512xf32>
      %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                            affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%x, %mean, %correction : tensor<4x512xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4x512xf32>) {
      ^bb0(%a: f32, %m: f32, %r: f32, %o: f32):
        %d = arith.subf %a, %m : f32
        %s = arith.subf %d, %r : f32
        linalg.yield %s : f32
      } -> tensor<4x512xf32>
      %y = resid.block pre %c norm(rms gamma %gamma : tensor<512xf32> epsilon = 1.0e-5) : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = linalg.matmul ins(%h, %w : tensor<4x512xf32>, tensor<512x512xf32>) outs(%zeros : tensor<4x512xf32>)
            -> tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      %z = resid.rms_norm %y gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
          : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>
      return %z : tensor<4x512xf32>
    }
    ```
    - Works on stacks of `resid.block`, also on those that a `scf.for` carries; `resid-form-blocks` makes blocks of
      flat ops.
    - Skip and branch scales, and a gate of one number or one number per row (ReZero, drop path), stay as they are.
    - In `peri` blocks the norm after the branch is the last that writes: a layer norm without gamma is centred
      already.
    - Which linear layers are found, and how weights that are arguments are [prepared](prepare.md), is as in
      `resid-fold-norm-affine`. Where a weight is a slice of the weights of all layers (`tensor.extract_slice` with the
      counter of a loop), those are centred.
    - A weight that something else reads as well, a tied embedding say, stays as it is, and the writer gets a copy of
      its own.
    - `resid-fold-norm-affine` afterwards finds the RMS norms.

    Refuses, with the place and the reason
    - dropout between branch and stream, since it drops single elements: `resid-inference` removes it;
    - a gate per feature (LayerScale) or per element: `resid-fold-layer-scale` folds the former;
    - where anything but a layer norm over the last dimension reads the stream: a branch in `post`, `branch_post` or
      `none`, a head, the function's result, a norm of another kind, one whose statistics are used;
    - where something else than a linear layer writes to the stream: another op, a norm with gamma after the branch;
    - weights and biases that are neither constants nor arguments of the function.

    Effect on rounding: stream and weights are rounded where their mean is gone. In a narrow stream (bf16) the
    rounding of each sum leaves a mean of its own, which layer norms would take out and RMS norms keep.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

#endif
