// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Tokens: where ids of tokens become the stream, and where the loss is taken at the labels. The backward of each
// stands beside it.

#ifndef RESID_DIALECT_TOKENS
#define RESID_DIALECT_TOKENS

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

def Resid_Ids : Resid_TensorOf<[I32, I64], "ranked tensor of i32 or i64">;
def Resid_IdRows : Resid_TensorOf<[I32, I64], "ranked tensor of i32 or i64, of rank 1 or more",
                                  [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">]>;

class Resid_TokenOp<string mnemonic>
    : Resid_Op<mnemonic, [DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>]> {
  let hasVerifier = 1;
}

def Resid_CrossEntropyOp : Resid_TokenOp<"cross_entropy"> {
  let summary = "softmax cross-entropy of each row at its label";
  let description = [{
    Says how unlikely the label of each row is under the softmax of the row.

    **Formula.** `loss = logsumexp - x[label]`, with `logsumexp = m + log(Σ_j exp(x[j] - m))` and `m = max_j x[j]`. A
    row whose label is `ignore_index` has the loss 0.

    **Operands and results.**
    - `logits`: `[…, V]`, of f16, bf16, f32 or f64: x. Every dimension may be dynamic.
    - `labels`: `[…]`, of i32 or i64: a number from 0 to V - 1 for each row.
    - `ignore_index`, optional attribute: a label of rows that do not count. It may be any number.
    - `loss`: `[…]`, of f64 if `logits` is f64, else of f32. Sums and means over rows are the program's own.
    - `logsumexp`, optional: `[…]`, of the type of `loss`. Both types are written after an arrow. The backward reads it.

    **Constraints.**
    - `cross_entropy.C1`: `logits` is a ranked tensor of f16, bf16, f32 or f64, of rank 1 or more; `labels` one of i32 or
      i64. Their types have no encoding, and they hold at most 2^47 bytes.
    - `cross_entropy.C2`: `labels` agrees with the leading dimensions of `logits`, in order. Two sizes agree where they
      are equal or one of them is dynamic.
    - `cross_entropy.C3`: `loss` and `logsumexp` have the leading dimensions of `logits`, and are of f64 if it is f64,
      else of f32.
    - `cross_entropy.C4`: a row has at most 2^31 logits.
    - `cross_entropy.C5`: `ignore_index` is a number that the type of `labels` has.

    **Not allowed.** A label outside of the row that is not `ignore_index`: the call is answered with `RESID_BAD_VALUE`.
    Labels are no probabilities.

    **Gradient.** [`resid.cross_entropy_grad`](cross_entropy_grad.md). It reads the logits and `logsumexp`. There is none
    through `logsumexp` as a result of the function.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Logits are widened to it, and each step is
    rounded to it by itself. S is the ordered sum that [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `m` is the largest logit, or NaN if one is. `t = log(S(exp(x - m)))`, with the `exp` and `log` of `math`.
    2. `loss = (m - x[label]) + t`, where a logit of -0 counts as +0. So a row that is sure of its label keeps the bits of
       its small loss.
    3. `logsumexp = m + t`.

    An infinite `m` makes NaN of both, as the steps say. A row that is ignored has the loss +0, whatever its logits, and
    its `logsumexp` is that of any row.

    **Example.**
    ```mlir
    func.func @cross_entropy(%logits: tensor<?x50257xbf16>, %labels: tensor<?xi64>)
        -> (tensor<?xf32>, tensor<?xf32>) {
      %loss, %logsumexp = resid.cross_entropy %logits labels(%labels) {ignore_index = -100}
           : tensor<?x50257xbf16>, tensor<?xi64> -> tensor<?xf32>, tensor<?xf32>
      %same = resid.cross_entropy %logits labels(%labels) : tensor<?x50257xbf16>, tensor<?xi64>
      return %same, %logsumexp : tensor<?xf32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$logits, Resid_Ids:$labels, OptionalAttr<Resid_I64Attr>:$ignore_index); // cross_entropy.C1
  let results = (outs Resid_Statistics:$loss, Optional<Resid_Statistics>:$logsumexp);
  let assemblyFormat = [{
    $logits `labels` `(` $labels `)` attr-dict `:`
    custom<CrossEntropyTypes>(type($logits), type($labels), type($loss), type($logsumexp))
  }];
}

def Resid_CrossEntropyGradOp : Resid_TokenOp<"cross_entropy_grad"> {
  let summary = "the gradient of a softmax cross-entropy";
  let description = [{
    Takes the gradient of each row's loss back to the logits of the row.

    **Formula.** `dlogits[j] = (exp(x[j] - logsumexp) - [j = label])·dloss`. A row whose label is `ignore_index` has the
    gradient 0.

    **Operands and results.**
    - `dloss`: `[…]`, the gradient of the loss of each row. For a mean over M rows, each is 1/M.
    - `logits`: `[…, V]`, those of the forward, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `labels`: `[…]`, of i32 or i64, those of the forward.
    - `logsumexp`: `[…]`, as `resid.cross_entropy` gives it.
    - `ignore_index`, optional attribute: that of the forward.
    - `dlogits`: the type of `logits`.

    **Constraints.**
    - `cross_entropy_grad.C1`: `logits` and `dlogits` are ranked tensors of f16, bf16, f32 or f64, of rank 1 or more;
      `labels` is one of i32 or i64. Their types have no encoding, and they hold at most 2^47 bytes.
    - `cross_entropy_grad.C2`: `labels` agrees with the leading dimensions of `logits`, in order. Two sizes agree where
      they are equal or one of them is dynamic.
    - `cross_entropy_grad.C3`: `dloss` and `logsumexp` have the leading dimensions of `logits`, and are of f64 if it is
      f64, else of f32. The text does not say their types.
    - `cross_entropy_grad.C4`: a row has at most 2^31 logits.
    - `cross_entropy_grad.C5`: `ignore_index` is a number that the type of `labels` has.
    - `cross_entropy_grad.C6`: `dlogits` has the type of `logits`.

    **Not allowed.** A label outside of the row that is not `ignore_index`: the call is answered with `RESID_BAD_VALUE`.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Each step is rounded to it by itself:
    `p = exp(x - logsumexp)`, with the `exp` of `math`; `p - 1` at the label, else `p`; times `dloss`. The product is
    rounded once more, to the type of `logits`. A row that is ignored gets +0, whatever its logits.

    **Example.**
    ```mlir
    func.func @cross_entropy_grad(%dloss: tensor<?xf32>, %logits: tensor<?x50257xbf16>,
                                  %labels: tensor<?xi64>, %logsumexp: tensor<?xf32>)
        -> tensor<?x50257xbf16> {
      %dlogits = resid.cross_entropy_grad %dloss, %logits labels(%labels) logsumexp(%logsumexp)
           {ignore_index = -100}
           : tensor<?x50257xbf16>, tensor<?xi64>
      return %dlogits : tensor<?x50257xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_Statistics:$dloss, Resid_Rows:$logits, Resid_Ids:$labels, Resid_Statistics:$logsumexp,
                       OptionalAttr<Resid_I64Attr>:$ignore_index); // cross_entropy_grad.C1
  let results = (outs Resid_Rows:$dlogits);
  let assemblyFormat = [{
    $dloss `,` $logits `labels` `(` $labels `)` `logsumexp` `(` $logsumexp `)` attr-dict `:`
    custom<CrossEntropyGradTypes>(type($dloss), type($logits), type($labels), type($logsumexp), type($dlogits))
  }];
}

def Resid_EmbeddingOp : Resid_TokenOp<"embedding"> {
  let summary = "the rows of a table that ids name";
  let description = [{
    Looks up a row of a table for each id.

    **Formula.** `y[…, j] = table[ids[…], j]`.

    **Operands and results.**
    - `ids`: `[…]`, of i32 or i64: a number from 0 to N - 1 each.
    - `table`: `[N, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - result: `[…, D]`, of the element type of `table`.

    **Constraints.**
    - `embedding.C1`: `ids` is a ranked tensor of i32 or i64, of rank 1 or more; `table` and the result are ones of f16,
      bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47 bytes.
    - `embedding.C2`: `table` has rank 2.
    - `embedding.C3`: the result has the dimensions of `ids`, then the last one of `table`, and its element type.

    **Not allowed.** An id outside of the table: the call is answered with `RESID_BAD_VALUE`. Nothing outside of the
    table is read.

    **Gradient.** [`resid.embedding_grad`](embedding_grad.md). Ids have none.

    **Rounding.** None: the result has the bits of the table.

    **Example.**
    ```mlir
    func.func @embedding(%ids: tensor<?x?xi64>, %table: tensor<50257x768xbf16>)
        -> tensor<?x?x768xbf16> {
      %y = resid.embedding %ids, %table : tensor<?x?xi64>, tensor<50257x768xbf16>
      return %y : tensor<?x?x768xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_IdRows:$ids, Resid_Tensor:$table); // embedding.C1
  let results = (outs Resid_Rows:$result);
  let assemblyFormat = [{
    $ids `,` $table attr-dict `:` custom<EmbeddingTypes>(type($ids), type($table), type($result))
  }];
}

def Resid_EmbeddingGradOp : Resid_TokenOp<"embedding_grad"> {
  let summary = "the gradient of a table of embeddings";
  let description = [{
    Adds the gradients of all rows that were looked up to the rows of the table that they came from.

    **Formula.** `dtable[i, j] = Σ dy[r, j]` over the rows r with `ids[r] = i`, in ascending order. Rows are the leading
    dimensions, flattened.

    **Operands and results.**
    - `dy`: `[…, D]`, the gradient of what was looked up, of the type that `resid.embedding` gives.
    - `ids`: `[…]`, of i32 or i64, those of the forward.
    - `table`: `[N, D]`, that of the forward. It says the size, and its elements are not read.
    - `dtable`: the type of `table`.

    **Constraints.**
    - `embedding_grad.C1`: `ids` is a ranked tensor of i32 or i64, of rank 1 or more; `dy`, `table` and `dtable` are ones
      of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47 bytes.
    - `embedding_grad.C2`: `table` has rank 2.
    - `embedding_grad.C3`: `dy` has the dimensions of `ids`, then the last one of `table`, and its element type. The text
      does not say its type.
    - `embedding_grad.C4`: `dtable` has the type of `table`.

    **Not allowed.** An id outside of the table: the call is answered with `RESID_BAD_VALUE`.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Each element starts from +0, and takes in its
    terms one by one, in the order of the rows. Each addition is rounded to the arithmetic type. At the end the sum is
    rounded once, to the type of `table`. So the bits do not depend on threads.

    **Example.**
    ```mlir
    func.func @embedding_grad(%dy: tensor<?x?x768xbf16>, %ids: tensor<?x?xi64>,
                              %table: tensor<50257x768xbf16>) -> tensor<50257x768xbf16> {
      %dtable = resid.embedding_grad %dy, %ids like(%table)
          : tensor<?x?xi64>, tensor<50257x768xbf16>
      return %dtable : tensor<50257x768xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_IdRows:$ids, Resid_Tensor:$table); // embedding_grad.C1
  let results = (outs Resid_Tensor:$dtable);
  let assemblyFormat = [{
    $dy `,` $ids `like` `(` $table `)` attr-dict `:`
    custom<EmbeddingGradTypes>(type($dy), type($ids), type($table), type($dtable))
  }];
}

#endif
