// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that recognises what programs of other tools wrote out.

#ifndef RESID_PASSES_RAISE_PASSES
#define RESID_PASSES_RAISE_PASSES

include "passes/PassOptions.td"

def Raise : Pass<"resid-raise"> {
  let summary = "raises sub-layers, norms and residual sums that are written out to ops of resid";
  let description = [{
    Class: **bit-exact**; with `level=all` **exact in real arithmetic**.

    Importers write activations, linear layers, norms, attention and residual connections as chains of `linalg`, `arith` and `math`. The pass reads such a chain as an
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
    products may be swapped. So no bit changes. An activation times another tensor of its type is one of the gated kinds.

    A product of rows with a matrix to which a vector is added, by output feature, is `resid.linear`. The matrix may be
    turned, or copied for each batch. The product starts from +0 and is stored in the type of the sum, which is the
    arithmetic type of the op. One rounding may follow. A product without a bias stays.

    A sum of two tensors of one shape is `resid.add` if one of them, the branch, is computed from the other, the stream.
    So imported layers meet the passes on streams: fusion of add and norm, blocks, conversion of norm placements. The
    branch may be the first or the second operand, of the stream's type or of a narrower one that the sum widens.
    - A product lies between stream and branch: `resid.linear`, `resid.attention` or a contraction of `linalg` multiplies
      what is computed from the stream. Without one the sum stays, as in activations, for example.
    - What else the branch has stays in it, such as a mask of dropout or a factor per feature.
    - Sums of two values of which neither is computed from the other stay: biases, embeddings of tokens and positions,
      masks, two layers of one input. So does the second sum in (x + f(x)) + g(x), whose branch reads x and not the
      stream. Where f(x) + g(x) is added to x, that is one residual connection.

    Several residual streams are read, and written, with a slice for each of them. A weighted sum of all streams is `resid.read`. Sums that are put together by
    `tensor.insert_slice`, one for each stream, are `resid.write`.
    - The steps are those of the ops: one product, then `math.fma` for each further stream in ascending order; in a write, the branch is first. Or streams are
      added without weights, and the branch to a stream that is not mixed.
    - Weights and coefficients are slices of one tensor each, at the places of their streams. A mix may be transposed. Slices have all rows: their sizes are
      constants, or `tensor.dim` of the tensor that they are slices of.
    - All streams may be written at once: elementwise, `x + b·y` or `math.fma` of c, x and `b·y`; or as a product of x with a mix, which starts from `b·y` in
      the arithmetic type. The branch y has the rows of x, and b has a weight for each stream.
    - A write that leaves a stream out of a mix stays, since 0 times it would spread NaN.

    **`all`** also takes what is the same function in real arithmetic, and says so in a remark for each:
    - activations in any order of products and sums, with divisions by constants, with powers of small integers, with
      casts in between (`Div`-`Erf`-`Add`-`Mul` and `Pow`-`Tanh` of ONNX, `x·sigmoid(x)`), and what they gate;
    - `resid.read` and `resid.write` of several streams with products that are rounded before they are added, and in any order of the sum;
    - `resid.project`: the product of all streams of a row, joined by `tensor.collapse_shape`, with a matrix of 1 to 64 rows, times 1 over the root of epsilon
      plus the mean of the squares of the same row. Its sums have other orders than those of a program;
    - `resid.linear` with other roundings, also as a product that starts from its bias;
    - `resid.layer_norm` and `resid.rms_norm` over the last dimensions: mean, difference, squares, mean, epsilon, root,
      gamma and beta, as torch-mlir and importers of ONNX write them. The sums are `linalg` ops over the last
      loops which start from zeros. The last dimensions are static. gamma and beta have these dimensions, or are absent.
      A beta alone is not part of the norm;
    - `resid.attention`: a product of queries and keys, a softmax over the keys, and a product with the values. See below.

    Constants may be off by a millionth, so that constants of f32 are taken for what they stand for.

    With `report`, remarks say what is left alone since it is nearly, but not quite, one of these: where only the level
    forbids it, or where a constant is off by more, up to a fiftieth.

    **Attention.** The products are `linalg` ops of any maps that sum over one loop. Batch and heads may be two
    dimensions, one (`batch_matmul` of reshaped operands), or none. Transposes and reshapes around the products are
    undone. Keys and values may lack the dimension of heads, or be repeated for each group of heads. The result has the
    element type of the last product.
    - The softmax is `linalg.softmax`, or `exp(s)/Σ exp(s)` over the last dimension, also times the reciprocal. Whatever
      is the same for a row may be subtracted from s, such as its maximum. Zeros in place of rows that are all -Inf may
      follow, as PyTorch has them.
    - s is the product times a constant, of which a part may stand at the queries or keys. A tensor is added to it, or
      the product starts from it: the mask. It may broadcast.
    - Or a choice puts -Inf in place of s, or adds it. The condition becomes a mask of i1. If it compares the places of
      key and query (`linalg.index`), it becomes `causal`, or a `window` where another one beside it has such a number.

    A row of which all keys are masked is NaN in most chains, and zeros in the op. What is nearly attention stays, and
    `report` says why: a softmax over another dimension, a choice of a large number instead of -Inf, a mask before the
    scale, two masks, scores or weights that something else reads too, heads that are not of one static size.

    What else reads a value of an activation or a norm still reads it, so that parts of the chain may stay. What nothing
    reads is erased.

    Effect on rounding: none in the bit-exact class. Else the op's own steps are taken, and values between them are not
    rounded to narrow types.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect"];
  let options = [ChoiceOption<"level", "level", Resid_RaiseLevel, "Exact">,
                 ReportOption<>];
}

#endif
