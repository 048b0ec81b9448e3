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
