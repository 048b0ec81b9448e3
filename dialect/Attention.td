// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Attention: scaled dot-product attention of whole heads.

#ifndef RESID_DIALECT_ATTENTION
#define RESID_DIALECT_ATTENTION

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

// attention.C1, beside the rank that the verifier checks.
def Resid_Mask : Resid_TensorOf<[I1, F16, BF16, F32, F64], "ranked tensor of i1, f16, bf16, f32 or f64">;
// Names of the sequences of a pack; attention.C18, attention_grad.C19.
def Resid_Segments : Resid_TensorOf<[I32], "ranked tensor of i32">;

/// Shared by attention and its backward.
defvar AttentionTerms = [{
    /// f64 if a float operand is, else f32.
    ::mlir::FloatType getArithmeticType();
    /// The factor of the scores, not rounded to the arithmetic type yet.
    double getScoreScale();
    /// The window, where no size reaches above it; 0 without one.
    int64_t getWindowOrZero();
    /// The cap, not rounded to the arithmetic type yet; 0 without one.
    double getCapOrZero();
    /// Whether the segments clause is there.
    bool hasSegments() { return static_cast<bool>(getQuerySegments()); }
    /// Whether the dropout clause is there.
    bool hasDropout() { return static_cast<bool>(getSeed()); }
    /// T = round(p·65536), half away from zero: 0 is the identity, 65536 drops all. 0 without a dropout clause.
    int64_t getThreshold();
}];

def Resid_AttentionOp : Resid_Op<"attention", [AttrSizedOperandSegments,
                                 DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "scaled dot-product attention";
  let description = [{
    Each query becomes a mean of the values, weighted by how well it matches their keys.

    **Formula.** `y = softmax(scale·q·kᵀ + mask)·v`, head by head. Query head h reads the keys and values of head
    `h div g`, where g is the number of query heads per head of keys. Keys that are *absent* take no part, whatever they
    and their values hold:
    - those that a boolean mask says `false` for;
    - with `causal`, keys after the query: key j of query i where `j > past + i` (`j > i` without a `past`);
    - with `window = W`, keys that are W or more places from the query: where `|j - (past + i)| >= W`. So a causal query
      sees itself and the W-1 keys before it, and any other one 2W-1 keys. Chunks of 256 keys that no query of a block
      sees cost nothing;
    - with `past`, keys from `past + queries` on: places of the cache that are not filled yet;
    - with `segments`, keys of another sequence than the query's, and all keys of a query of none;
    - those whose score is -Inf.

    All other keys are *present*, those with a score of NaN too. A query without a present key gives zeros.

    With `cap = C`, `C·tanh(scale·q·kᵀ/C)` stands for `scale·q·kᵀ`, so that no score is beyond C before a mask of floats
    is added.

    With `sink`, each head of q has one more score, which is that number and has no value: it takes a part of each
    query's weight. It is neither scaled, capped nor masked, and dropout never drops it. Where it is -Inf there is none.

    With `segments`, a row of the batch is a *pack* of several sequences, one after the other. Each query and each key has
    the number of its sequence, and one of -1 belongs to none: it is padding. Equal numbers stand side by side, in `q`
    and in `k`. `causal` and `window` then compare places within the sequences, each counted from the first query, or
    the first key, of its own. So a sequence has the bits that it has alone, wherever it is packed. A mask has its elements
    where queries and keys stand in the pack.

    With `dropout`, normalised weights are dropped: `y = dropout(softmax(scale·q·kᵀ + mask))·v`. This is
    [`resid.dropout`](dropout.md) on `[batch, heads, queries, keys]`. So the row of a weight is
    `(batch·heads + head)·queries + query`, with the heads of q, and its column is the key, counted from the first key
    of the cache. The mask is never stored.

    **Operands and results.**
    - `q`: `[batch, heads, queries, size]`, of f16, bf16, f32 or f64. The size of a head is static, at most 576. Every
      other dimension may be dynamic.
    - `k`: `[batch, heads/g, keys, size]`.
    - `v`: `[batch, heads/g, keys, value size]`, with a static size of values, at most 576. Keys and values may be slices
      of one tensor, as of a latent cache; they are read where they lie.
    - `mask`, optional: a tensor of at most four dimensions that broadcasts from the right to
      `[batch, heads, queries, keys]`, where a static 1 stands for every size, and a dynamic size for itself only. One of
      floats is added to the scores. In one of i1, true takes part.
    - `sink`, optional: `[heads]`, a number for each head of q, of f16, bf16, f32 or f64.
    - `past`, optional: i64, how many keys were in the cache before this call. Then `k` and `v` are caches, which hold the
      keys of this call in the places from `past` on ([`resid.append`](append.md)). As a tensor `[batch]` of i64, it
      has one number for each sample. The type of a tensor is written, after all others; that of an i64 is not.
    - `segments`, optional: `[batch, queries]` and `[batch, keys]`, of i32.
    - `seed`, `step`, `origin_row`, `origin_site`, `origin_col`, `extent_local`, `extent_global`, with the attributes
      `p` and `site`, optional: as in [`resid.dropout`](dropout.md), whose table says what a shard of the heads gives.
    - `scale`: float attribute, by default 1/sqrt(size).
    - `causal`: unit attribute.
    - `window`: integer attribute, W. Without one all keys are near enough.
    - `cap`: float attribute, C.
    - result: `[batch, heads, queries, value size]`. Its element type is that of `q` unless another is written (`-> tensor<…xf32>`).
    - `max`, `sum`: both or none, `[batch, heads, queries]`. Their type is the arithmetic type. `max` is the largest
      score of the present keys, and `sum` is the sum of `exp(score - max)`. Without a present key they are -Inf and +0.
      A sink is one of the scores in both.

    **Constraints.**
    - `attention.C1`: tensors are ranked, and of f16, bf16, f32 or f64; a mask may be of i1. Their types have no
      encoding, and they hold at most 2^47 bytes. `q`, `k` and `v` have rank 4, a mask at most that.
    - `attention.C2`: the sizes of heads are static, from 1 to 576. That of `k` is that of `q`; `v` may have another one.
    - `attention.C3`: batch agrees in `q`, `k` and `v`; heads and keys agree in `k` and `v`. Two sizes agree where they
      are equal or one of them is dynamic.
    - `attention.C4`: the heads of `k` divide those of `q`, where both numbers are static.
    - `attention.C5`: the mask broadcasts to `[batch, heads, queries, keys]`.
    - `attention.C6`: the scale is finite in the arithmetic type.
    - `attention.C7`: the result has the shape of `q`, but the size of `v`.
    - `attention.C8`: `max` and `sum` are given together. They have the shape of `q` without its last dimension, and the
      arithmetic type.
    - `attention.C9`: `seed`, `step`, `p` and `site` are given together.
    - `attention.C10`: `p` is in [0, 1], and `site` is in [0, 2^32).
    - `attention.C11`: `origin_row` and `origin_site` are given together, and only with a seed.
    - `attention.C12`: with a seed, the static sizes amount to at most 2^32 rows, batch·heads·queries, and 2^35 keys.
    - `attention.C13`: `origin_col` and the extent hold to `dropout.C7`, `dropout.C8` and `dropout.C9`.
    - `attention.C14`: the window is 1 or more.
    - `attention.C15`: the cap is finite and greater than 0 in the arithmetic type.
    - `attention.C16`: the sink has rank 1. Its size is the number of heads of `q`, where both are static.
    - `attention.C17`: a `past` that is a tensor has rank 1, i64, and the batch of `q`.
    - `attention.C18`: segments are of i32, `[batch, queries]` of `q` and `[batch, keys]` of `k`.
    - `attention.C19`: `segments` stands beside neither `past` nor `dropout`.

    **Not allowed.** A negative `past`, or more keys than the cache has places (`past + queries > keys`), is an error at
    run time, as are numbers of heads that do not divide. So is a row, site or step of dropout that is negative or
    reaches 2^32, and a column or an extent that `resid.dropout` does not allow. Numbers of segments that do not stand
    side by side are an error, too. A GPU returns before it could answer for what lies in its memory: there a sample
    whose `past` is none sees no key, and a query whose segment does not stand side by side sees none either.

    **Gradient.** With `p_j = exp(score_j - max)/sum`: `dp_j = dy·v_j` and `dscore_j = p_j·(dp_j - Σ p·dp)`, the sum
    over the keys. Then `dq = scale·Σ dscore_j·k_j` over the keys, and `dk_j = scale·Σ dscore_j·q` and
    `dv_j = Σ p_j·dy` over the queries of all heads that read the key. The gradient of a mask of floats is dscore, summed
    where the mask broadcasts. Absent keys have no gradient. With dropout, `d_j` stands for the factor of `p_j` there, 0
    or the scale of the kept ones: `dp_j = d_j·(dy·v_j)`, and `dv_j = Σ d_j·p_j·dy`. With a cap, dscore_j has one factor
    more, `1 - tanh(scale·q·k_j/C)²`. The gradient of a sink is the sum of `-p_s·Σ p·dp` over all queries of its head,
    with `p_s = exp(sink - max)/sum`. Not there yet: gradients of a mask, and with `past`.

    **Rounding.** The *arithmetic type* is f64 if any float operand is, else f32. Nothing is rounded to a storage type
    before the results, each of which is rounded once. [Numerics](../numerics.md#attention) has the same in full.
    1. `s_j` is the chain of fused multiply-adds over `q·k_j` in ascending order, from +0, times the scale. An additive
       mask is added to that product: two roundings. The scale itself is rounded to the arithmetic type once.
    2. Keys are taken in *chunks* of 256: `256c … 256c+255`, counted from the first key of the cache or, with segments,
       from the first key of the query's sequence. So are the lanes of the ordered sum. A chunk without
       present keys is skipped. In a chunk, `m_c` is the largest score plus +0; a NaN makes it NaN.
    3. `p_j = E(s_j - m_c)`. E is the exp of [numerics](../numerics.md#attention), but +0 instead of subnormal numbers.
       `l_c = S(p)`, the [ordered sum](../numerics.md#the-ordered-sum-s) over the chunk, where absent keys add nothing.
       With dropout, each kept `p_j` is then multiplied by the dropout's scale, which is rounded to the arithmetic type.
       `O_c` is the chain of `fma(p_j, v_j, O)` from +0 over the present keys that are not dropped, ascending.
    4. The first chunk is the state `(m, l, O)`. Each other one joins it: `m' = max(m, m_c)`, NaN if one is,
       `a = E(m - m')`, `b = E(m_c - m')`, `l' = fma(l_c, b, l·a)`, `O' = fma(O_c, b, O·a)`.
    5. A sink that is not -Inf joins last, as a chunk with `m_c = sink + +0`, `l_c = 1` and `O_c = +0`. Without a present
       key, that is the state.
    6. `y = (O + +0)/l`. `max` is m and `sum` is l.

    **Example.**
    ```mlir
    func.func @attention(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>,
                         %v: tensor<1x2x?x64xf32>, %mask: tensor<?xi1>, %sink: tensor<8xf32>,
                         %past: i64, %pasts: tensor<1xi64>, %qs: tensor<1x?xi32>,
                         %ks: tensor<1x?xi32>, %seed: i64, %step: i64) -> tensor<1x8x?x64xf32> {
      %a = resid.attention %q, %k, %v mask(%mask)
           : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<?xi1>
      %b, %max, %sum = resid.attention %a, %k, %v past(%past) {causal, scale = 0.125}
           : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
             -> tensor<1x8x?x64xf32>, tensor<1x8x?xf32>, tensor<1x8x?xf32>
      %c = resid.attention %b, %k, %v dropout(%seed, %step) {causal, p = 0.1, site = 3}
           : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
      %d = resid.attention %c, %k, %v sink(%sink) past(%past) {cap = 50.0, causal, window = 512}
           : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<8xf32>
      %e = resid.attention %d, %k, %v past(%pasts) {causal}
           : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1xi64>
      %f = resid.attention %e, %k, %v segments(%qs, %ks) {causal}
           : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x?xi32>,
             tensor<1x?xi32>
      return %f : tensor<1x8x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$q, Resid_Rows:$k, Resid_Rows:$v, // attention.C1
                       Optional<Resid_Mask>:$mask, Optional<Resid_Rows>:$sink, // attention.C1
                       Optional<Resid_Past>:$past, Optional<Resid_Segments>:$query_segments,
                       Optional<Resid_Segments>:$key_segments,
                       Optional<I64>:$seed, Optional<I64>:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<I64>:$origin_col, Optional<I64>:$extent_local, Optional<I64>:$extent_global,
                       OptionalAttr<Resid_F64Attr>:$scale, UnitAttr:$causal, OptionalAttr<Resid_I64Attr>:$window,
                       OptionalAttr<Resid_F64Attr>:$cap, OptionalAttr<Resid_F64Attr>:$p,
                       OptionalAttr<Resid_I64Attr>:$site);
  // The statistics are both present (max, sum) or both absent.
  let results = (outs Resid_Rows:$result, Variadic<Resid_Statistics>:$statistics); // attention.C1
  let assemblyFormat = [{
    $q `,` $k `,` $v (`mask` `(` $mask^ `)`)? (`sink` `(` $sink^ `)`)? (`past` `(` $past^ `)`)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)? (`dropout` `(` $seed^ `,` $step `)`)?
    (`origin` `(` $origin_row^ `,` $origin_site (`,` $origin_col^)? `)`)?
    (`extent` `(` $extent_local^ `,` $extent_global `)`)? attr-dict `:`
    custom<AttentionTypes>(ref($mask), ref($sink), ref($past), ref($query_segments), type($q), type($k), type($v),
                           type($mask), type($sink), type($past), type($query_segments), type($key_segments),
                           type($result), type($statistics))
  }];
  let builders = [
    // The result has the element type of q.
    OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$k, "::mlir::Value":$v, CArg<"::mlir::Value", "{}">:$mask,
                   CArg<"bool", "false">:$causal, CArg<"bool", "false">:$withStatistics)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = AttentionTerms # [{
    /// The size of a head is at most this.
    static constexpr int64_t kLargestHead = 576;
    static bool isHeadSize(int64_t size);
    /// The type of a result that is not written: that of q with the size of v. That of q where they have no such shapes.
    static Type getResultType(Type q, Type v);
    /// The row statistics; null where they were not asked for.
    Value getMax() { return getStatistics().empty() ? Value() : getStatistics()[0]; }
    Value getSum() { return getStatistics().empty() ? Value() : getStatistics()[1]; }
  }];
}

def Resid_AppendOp : Resid_Op<"append", [InferTypeOpAdaptor,
                              DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>]> {
  let summary = "writes new keys or values into a cache";
  let description = [{
    Puts the keys (or values) of this call after those that the cache holds.

    **Formula.** `y[b, h, past + i, d] = x[b, h, i, d]` for each new key i; all else is the cache's.

    **Operands and results.**
    - `cache`: `[batch, heads, keys, size]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `x`: `[batch, heads, new keys, size]`, of the cache's element type.
    - `past`: i64, how many keys the cache holds. As a tensor `[batch]` of i64, whose type is written after the others,
      it has one number for each sample.
    - result: the type of `cache`. Where the cache is an argument of the function, and the result one of its results,
      the caller may pass one array for both. Then only the new keys are written.

    **Constraints.**
    - `append.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes.
    - `append.C2`: both have rank 4 and one element type. Batch, heads and size agree; static new keys fit into static
      keys.
    - `append.C3`: the result has the type of `cache`.
    - `append.C4`: a `past` that is a tensor has rank 1, i64, and the batch of the cache.

    **Not allowed.** A negative `past`, or `past + new keys > keys`, is an error at run time: a full cache. Nothing is
    written then for a sample with such a number; others of the call may be. A GPU, which returns before it could answer
    for what lies in its memory, writes nothing for that sample either.

    **Gradient.** `dx` is the slice of dy that was written, and `dcache` is dy with zeros there.

    **Rounding.** None.

    **Example.**
    ```mlir
    func.func @append(%cache: tensor<2x2x512x64xbf16>, %keys: tensor<2x2x?x64xbf16>, %past: i64,
                      %pasts: tensor<2xi64>) -> (tensor<2x2x512x64xbf16>, tensor<2x2x512x64xbf16>) {
      %y = resid.append %cache, %keys past(%past) : tensor<2x2x512x64xbf16>, tensor<2x2x?x64xbf16>
      %z = resid.append %cache, %keys past(%pasts)
           : tensor<2x2x512x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2xi64>
      return %y, %z : tensor<2x2x512x64xbf16>, tensor<2x2x512x64xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$cache, Resid_Rows:$x, Resid_Past:$past); // append.C1
  let results = (outs Resid_Rows:$result);                                 // append.C1, append.C3
  let assemblyFormat = [{
    $cache `,` $x `past` `(` $past `)` attr-dict `:` custom<AppendTypes>(type($cache), type($x), type($past))
  }];
  let hasVerifier = 1;
}

#endif
