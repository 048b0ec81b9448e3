// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Streams: what reads, writes and mixes several residual streams, and what computes the coefficients from them.
// The backward of the last two stands beside them.

#ifndef RESID_DIALECT_STREAMS
#define RESID_DIALECT_STREAMS

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

class Resid_StreamOp<string mnemonic, list<Trait> traits = []>
    : Resid_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>], traits)> {
  let hasVerifier = 1;
}

def Resid_ReadOp : Resid_StreamOp<"read"> {
  let summary = "reads the input of a branch from several residual streams";
  let description = [{
    Makes one row of several streams: their weighted sum.

    **Formula.** `u = scale·Σ_i weights_i ⊙ X_i`, where `X_i` is stream i.

    **Operands and results.**
    - `x`: `[…, n, D]`, n streams, of f16, bf16, f32 or f64. n is static, every other dimension may be dynamic.
    - `weights`, optional: any of these float types. Without weights, the streams are added.
    - `scale`: float attribute, 1 where it is not written.
    - result: `[…, D]`. Its element type is that of `x`, or a wider one (`-> tensor<…xf32>`).

    | shape of the weights | there is one for |
    |---|---|
    | `[n, 1]` | each stream |
    | `[n, D]` | each stream and feature |
    | `[…, n, 1]` | each row and stream |
    | `[…, n, D]` | each row, stream and feature |

    **Constraints.**
    - `read.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes. `x` and the result have rank 1 or more.
    - `read.C2`: `x` has rank 2 or more. Its last dimension but one is static, from 1 to 16.
    - `read.C3`: the weights have rank 2 or more, at most that of `x`, and are aligned with it at the last dimension.
      Each dimension is a static 1, which broadcasts, or agrees with that of `x`. That of the streams is n. Two sizes
      agree where they are equal or one of them is dynamic.
    - `read.C4`: the result has the shape of `x` without n. Its element type is that of `x` or, for f16 and bf16, f32.
    - `read.C5`: the weights are of f64 only where `x` is.
    - `read.C6`: `scale` is finite in the arithmetic type.

    **Not allowed.** A dynamic dimension of the weights never broadcasts.

    **Gradient.** `dX_i = scale·(weights_i ⊙ du)`. `dweights_i` is `scale·(X_i ⊙ du)`, summed over the dimensions along
    which the weights broadcast, as in [`resid.gate_grad`](gate_grad.md).

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Operands are widened to it, and `scale` is
    rounded to it once. `u = weights_0·X_0`, then `u = fma(weights_i, X_i, u)` for each further stream in ascending
    order. Without weights the first step is `u = X_0`, and the others are additions. Then `u = scale·u`, where `scale`
    is not 1. `u` is rounded once, to the result's type.

    **Example.**
    ```mlir
    func.func @read(%x: tensor<?x4x4096xbf16>, %weights: tensor<?x4x1xf32>)
        -> (tensor<?x4096xbf16>, tensor<?x4096xf32>) {
      %u = resid.read %x weights(%weights) : tensor<?x4x4096xbf16>, tensor<?x4x1xf32>
      %mean = resid.read %x {scale = 0.25} : tensor<?x4x4096xbf16> -> tensor<?x4096xf32>
      return %u, %mean : tensor<?x4096xbf16>, tensor<?x4096xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$weights, // read.C1
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$scale);
  let results = (outs Resid_Rows:$result); // read.C1
  let assemblyFormat = [{
    $x (`weights` `(` $weights^ `)`)? attr-dict `:`
    custom<ReadTypes>(ref($weights), type($x), type($weights), type($result))
  }];
  let builders = [
    // The result has the element type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"::mlir::Value", "{}">:$weights, CArg<"double", "1.0">:$scale)>];
  let hasCanonicalizeMethod = 1;
}

def Resid_WriteOp : Resid_StreamOp<"write", [AttrSizedOperandSegments]> {
  let summary = "mixes several residual streams and writes the result of a branch into them";
  let description = [{
    Gives each stream its share of a branch, and mixes the streams.

    **Formula.** `Y_j = weights_j ⊙ y + Σ_i mix_ij·X_i`, where `X_i` is stream i. Without a mix, the sum is `X_j`.

    **Operands and results.**
    - `x`: `[…, n, D]`, n streams, of f16, bf16, f32 or f64. n is static, every other dimension may be dynamic.
    - `y`, the branch: `[…, D]`, of the element type of `x`. It may be left out beside a mix.
    - `weights`, optional: any of these float types, with the shapes that those of `resid.read` may have. Without
      weights, each stream gets all of `y`.
    - `mix`, optional: any of these float types. `[n, n]` is one mix for all rows, and `[…, n, n]` one for each row.
      `mix[i, j]` says how much of stream i comes to stream j. `[n, 1]` and `[…, n, 1]` hold the diagonal of a mix that
      is 0 elsewhere.
    - `transposed`: unit attribute. `mix[j, i]` says how much of stream i comes to stream j.
    - result: the shape of `x`. Its element type is that of `x`, or a wider one (`-> tensor<…xf32>`).

    **Constraints.**
    - `write.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes. `x`, `y` and the result have rank 1 or more.
    - `write.C2`: `x` has rank 2 or more. Its last dimension but one is static, from 1 to 16. `y` has the type of `x`
      without n.
    - `write.C3`: `y` or a mix is given, and weights only with `y`.
    - `write.C4`: the weights are those of `read.C3`.
    - `write.C5`: a mix has rank 2, or the rank and the leading dimensions of `x`. Its last dimension but one is n, and
      its last one n or 1. Two sizes agree where they are equal or one of them is dynamic.
    - `write.C6`: the result has the shape of `x`. Its element type is that of `x` or, for f16 and bf16, f32.
    - `write.C7`: `transposed` is given only with a mix of n by n.
    - `write.C8`: weights and mix are of f64 only where `x` is.

    **Not allowed.** A mix does not broadcast along leading dimensions, unless it has none.

    **Gradient.** `dX` is a `resid.write` of `dY` with the transposed mix, `dy` a `resid.read` of it with the same
    weights. `dmix_ij = Σ_d X_i·dY_j`, and `dweights_j` is `y ⊙ dY_j`, summed over the dimensions along which the
    weights broadcast.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Operands are widened to it. `t = weights_j·y`,
    or `t = y` without weights. Without a mix, `Y_j = X_j + t`. With a diagonal, `Y_j = fma(mix_j, X_j, t)`. With a whole
    mix, `t = fma(mix_ij, X_i, t)` for each i in ascending order. Without `y`, the first product stands in its place:
    `t = mix_0j·X_0`, or `Y_j = mix_j·X_j`. `Y_j` is rounded once, to the result's type. So one stream is a `resid.add`,
    bit for bit: its gate are the weights, and its `skip_scale` is the mix. It folds to one where the mix is absent or
    a constant. A constant mix of ones on the diagonal does not fold away: `0·X_i` turns -0 into +0, and spreads NaN.

    **Example.**
    ```mlir
    func.func @write(%x: tensor<?x4x4096xbf16>, %y: tensor<?x4096xbf16>,
                     %weights: tensor<?x4x1xf32>, %mix: tensor<?x4x4xf32>)
        -> (tensor<?x4x4096xbf16>, tensor<?x4x4096xbf16>) {
      %mixed = resid.write %x, %y weights(%weights) mix(%mix) {transposed}
          : tensor<?x4x4096xbf16>, tensor<?x4x1xf32>, tensor<?x4x4xf32>
      %added = resid.write %x, %y : tensor<?x4x4096xbf16>
      return %mixed, %added : tensor<?x4x4096xbf16>, tensor<?x4x4096xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Rows>:$y, Optional<Resid_Tensor>:$weights,
                       Optional<Resid_Tensor>:$mix, UnitAttr:$transposed); // write.C1
  let results = (outs Resid_Rows:$result); // write.C1
  let assemblyFormat = [{
    $x (`,` $y^)? (`weights` `(` $weights^ `)`)? (`mix` `(` $mix^ `)`)? attr-dict `:`
    custom<WriteTypes>(ref($y), ref($weights), ref($mix), type($x), type($y), type($weights), type($mix), type($result))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$y, CArg<"::mlir::Value", "{}">:$weights,
                   CArg<"::mlir::Value", "{}">:$mix, CArg<"bool", "false">:$transposed)>];
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Whether the mix is n by n, and not a diagonal.
    bool hasWholeMix();
  }];
}

def Resid_ProjectOp : Resid_StreamOp<"project", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "coefficients of all residual streams: a product and the norm after it";
  let description = [{
    Multiplies all streams of a row by a few rows of weights, and divides by the root mean square of the streams. That is
    an RMS norm of all streams without γ, with a linear layer after it.

    **Formula.** `z_m = rstd·Σ_i Σ_d weight[m, i·D + d]·X[i, d]`, with `rstd = 1/sqrt(mean(X²) + epsilon)`. The mean goes
    over all streams.

    **Operands and results.**
    - `x`: `[…, n, D]`, n streams, of f16, bf16, f32 or f64. n is static, every other dimension may be dynamic.
    - `weight`: `[m, n·D]`, as checkpoints store it. Any of these float types.
    - `epsilon`: float attribute, always written.
    - `z`: `[…, m]`, of the arithmetic type.
    - `rstd`, optional: `[…]`, of the arithmetic type. Both types are written after an arrow.

    **Constraints.**
    - `project.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x` has rank 1 or more.
    - `project.C2`: `x` has rank 2 or more. Its last dimension but one is static, from 1 to 16. `weight` is `[m, n·D]`,
      with a static m from 1 to 64. Two sizes agree where they are equal or one of them is dynamic.
    - `project.C3`: `z` and `rstd` have the leading dimensions of `x`, and are of f64 if `x` or `weight` is f64, else of
      f32.
    - `project.C4`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.

    **Not allowed.** A γ of the norm is a factor of `weight`.

    **Gradient.** `dz' = dz·rstd`, `c = -((Σ_m dz_m·z_m) + drstd·rstd)·rstd²/(n·D)`, `dX = c·X + dz'·weight`, and
    `dweight = dz'ᵀ·X`.

    **Rounding.** The *arithmetic type* is f64 if `x` or `weight` is f64, and f32 otherwise. S is the ordered sum that
    [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `t_d = X_0d·X_0d`, then `t_d = fma(X_id, X_id, t_d)` for each further stream in ascending order.
    2. `q = S(t)/(n·D)` and `rstd = 1/sqrt(q + epsilon)`.
    3. `p_m` adds up chains of fma over 1,024 of the numbers `k = i·D + d` each, from +0. The second chain is added to
       the first, then the third, in ascending order.
    4. `z_m = p_m·rstd`.
    5. If every element is finite, but q is not, or epsilon is 0 and `q < 2⁻¹⁰⁰`, all of this is done again with `X·s`
       and `epsilon·s²`, as for [norms](../numerics.md#formulas). The rstd that is given is that of X: the new one times
       s. If there are no elements, both are NaN.

    **Example.**
    ```mlir
    func.func @project(%x: tensor<?x4x4096xbf16>, %weight: tensor<24x16384xf32>)
        -> (tensor<?x24xf32>, tensor<?xf32>) {
      %z, %rstd = resid.project %x, %weight {epsilon = 1.0e-6}
          : tensor<?x4x4096xbf16>, tensor<24x16384xf32> -> tensor<?x24xf32>, tensor<?xf32>
      return %z, %rstd : tensor<?x24xf32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Resid_Tensor:$weight, Resid_F64Attr:$epsilon); // project.C1
  let results = (outs Resid_Statistics:$z, Optional<Resid_Statistics>:$rstd);
  let assemblyFormat = [{
    $x `,` $weight attr-dict `:` custom<ProjectTypes>(type($x), type($weight), type($z), type($rstd))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight, "double":$epsilon,
                   CArg<"bool", "false">:$withRstd)>];
  let extraClassDeclaration = [{
    /// f64 if an operand is f64, else f32.
    ::mlir::FloatType getArithmeticType();
  }];
}

def Resid_SinkhornOp : Resid_StreamOp<"sinkhorn", [SameOperandsAndResultType]> {
  let summary = "a matrix whose rows and columns sum to 1, of the exponentials of logits";
  let description = [{
    Makes a mix of streams from logits: the softmax of each row, then columns and rows divided by their sums in turn.

    **Formula.** `c = softmax(logits) + epsilon`; each column is divided by its sum plus epsilon; then, `iterations - 1`
    times, each row and after it each column is.

    **Operands and results.**
    - `logits`: `[…, n, n]`, of f32 or f64. Each leading dimension may be dynamic.
    - `iterations`, `epsilon`: attributes, always written.
    - result: the type of `logits`.

    **Constraints.**
    - `sinkhorn.C1`: tensors are ranked, of f32 or f64. Their types have no encoding, and they hold at most 2^47 bytes.
      The result has the type of `logits`.
    - `sinkhorn.C2`: `logits` has rank 2 or more. Its last two dimensions are static and equal, from 1 to 16.
    - `sinkhorn.C3`: `iterations` is from 1 to 1,000.
    - `sinkhorn.C4`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.

    **Not allowed.** Stopping early: after so many iterations the sums of rows may be far from 1, so their number is a
    part of the function.

    **Gradient.** [`resid.sinkhorn_grad`](sinkhorn_grad.md).

    **Rounding.** All is in the type of `logits`. E is the [exponential of attention](../numerics.md#attention).
    1. `m_i` is the largest of row i, NaN if one is. `x_ij = E(logits_ij - m_i)`, `s_i = (x_i0 + x_i1) + …`, and
       `c_ij = x_ij/s_i + epsilon`.
    2. `d_j = ((c_0j + c_1j) + …) + epsilon`, and `c_ij = c_ij/d_j`.
    3. `iterations - 1` times: `d_i = ((c_i0 + c_i1) + …) + epsilon`, and `c_ij = c_ij/d_i`; then step 2.

    **Example.**
    ```mlir
    func.func @sinkhorn(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
      %mix = resid.sinkhorn %logits {iterations = 20, epsilon = 1.0e-6} : tensor<?x4x4xf32>
      return %mix : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Statistics:$logits, Resid_I64Attr:$iterations, Resid_F64Attr:$epsilon); // sinkhorn.C1
  let results = (outs Resid_Statistics:$result);
  let assemblyFormat = "$logits attr-dict `:` type($logits)";
}

def Resid_StreamDotsOp : Resid_StreamOp<"stream_dots"> {
  let summary = "the dot products of each stream of one array with each of another";
  let description = [{
    Multiplies each stream of `a` with each of `b`, and adds up along the features. It is what the gradient of a mix is.

    **Formula.** `y[…, i, j] = Σ_d a[…, i, d]·b[…, j, d]`

    **Operands and results.**
    - `a`: `[…, n, D]`, `b`: `[…, m, D]`, of f16, bf16, f32 or f64. n and m are static, every other dimension may be
      dynamic.
    - result: `[…, n, m]`, of f64 if `a` or `b` is f64, else of f32.

    **Constraints.**
    - `stream_dots.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes.
    - `stream_dots.C2`: `a` and `b` have one rank of 2 or more. All dimensions agree, but for the last one but one of
      each, which are static and from 1 to 16. Two sizes agree where they are equal or one of them is dynamic.
    - `stream_dots.C3`: the result has the leading dimensions of `a`, then n and m.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 if `a` or `b` is f64, and f32 otherwise. Each product is rounded to it.
    The sum is [S](../numerics.md#the-ordered-sum-s).

    **Example.**
    ```mlir
    func.func @stream_dots(%x: tensor<?x4x4096xbf16>, %dy: tensor<?x4x4096xbf16>)
        -> tensor<?x4x4xf32> {
      %dmix = resid.stream_dots %x, %dy : tensor<?x4x4096xbf16>, tensor<?x4x4096xbf16>
      return %dmix : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$a, Resid_Rows:$b); // stream_dots.C1
  let results = (outs Resid_Statistics:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` custom<StreamDotsTypes>(type($a), type($b), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b)>];
  let extraClassDeclaration = [{
    /// f64 if an operand is f64, else f32.
    ::mlir::FloatType getArithmeticType();
  }];
}

def Resid_SinkhornGradOp : Resid_StreamOp<"sinkhorn_grad", [SameOperandsAndResultType]> {
  let summary = "the gradient of resid.sinkhorn";
  let description = [{
    Takes the gradient of a mix back to its logits, through all iterations.

    **Formula.** From the last division to the first: where `c = c'/d` is a row or a column divided by its sum,
    `dc' = (dc - Σ dc·c)/d`. Then, with the softmax `p` of a row, `dlogits = p·(dp - Σ dp·p)`.

    **Operands and results.**
    - `dmix`: `[…, n, n]`, the gradient of the result, of f32 or f64. Each leading dimension may be dynamic.
    - `logits`: that of the forward, of the type of `dmix`.
    - `iterations`, `epsilon`: those of the forward.
    - result: `dlogits`, of the type of `logits`.

    **Constraints.**
    - `sinkhorn_grad.C1`: tensors are ranked, of f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes. All have one type.
    - `sinkhorn_grad.C2`: `logits` has rank 2 or more. Its last two dimensions are static and equal, from 1 to 16.
    - `sinkhorn_grad.C3`: `iterations` is from 1 to 1,000.
    - `sinkhorn_grad.C4`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** All is in the type of `logits`. The forward is computed again, with its roundings.
    1. For each division, from the last one to the first: `t = dc_0·c_0`, then `t = fma(dc_k, c_k, t)` along the row or
       the column in ascending order, with the numbers that the division gave. `dc_k = (dc_k - t)/d`.
    2. With `p = x/s` of the softmax, without epsilon: t as above, and `dlogits_k = p_k·(dc_k - t)`.

    **Example.**
    ```mlir
    func.func @sinkhorn_grad(%dmix: tensor<?x4x4xf32>, %logits: tensor<?x4x4xf32>)
        -> tensor<?x4x4xf32> {
      %dlogits = resid.sinkhorn_grad %dmix, %logits {iterations = 20, epsilon = 1.0e-6}
          : tensor<?x4x4xf32>
      return %dlogits : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Statistics:$dmix, Resid_Statistics:$logits, Resid_I64Attr:$iterations,
                       Resid_F64Attr:$epsilon); // sinkhorn_grad.C1
  let results = (outs Resid_Statistics:$dlogits);
  let assemblyFormat = "$dmix `,` $logits attr-dict `:` type($logits)";
}

#endif
