// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Grad, the backward op of attention.

#ifndef RESID_DIALECT_ATTENTIONGRAD
#define RESID_DIALECT_ATTENTIONGRAD

include "dialect/Attention.td"
include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

def Resid_AttentionGradOp : Resid_Op<"attention_grad", [AttrSizedOperandSegments,
                                     DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradients of an attention";
  let description = [{
    Takes the gradient of an attention's result back to queries, keys and values. Scores, weights and masks are made
    again, some queries at a time: there is no array of queries times keys.

    **Formula.** With the scores of [`resid.attention`](attention.md), `p_j = exp(score_j - max)/sum` and
    `dp_j = dy·v_j`: `ds_j = scale·p_j·(dp_j - Σ p·dp)`, the sum over the keys. `dq = Σ ds_j·k_j` over the keys.
    `dk_j = Σ ds_j·q` and `dv_j = Σ p_j·dy` over the queries of all heads that read the key. With dropout, `dp_j` is
    `d_j·(dy·v_j)` and `dv_j` is `Σ d_j·p_j·dy`: `d_j` is 0 where the weight was dropped, else the scale of those kept.
    With a cap C, `ds_j` has the factor `1 - tanh(scale·q·k_j/C)²` more. With a sink, `dsinks = -p_s·Σ p·dp` for each
    query, where `p_s = exp(sink - max)/sum`.

    **Operands and results.**
    - `dy`: `[batch, heads, queries, value size]`, the gradient of the attention's result, of f16, bf16, f32 or f64.
    - `q`, `k`, `v`: those of the attention.
    - `statistics`: `max` and `sum`, as `resid.attention` gives them.
    - `mask`, optional: that of the attention.
    - `seed`, `step`, `origin_row`, `origin_site`, `origin_col`, `extent_local`, `extent_global`, with the attributes
      `p` and `site`, optional: those of the attention.
    - `sink`, optional: that of the attention.
    - `segments`, optional: those of the attention.
    - `scale`, `causal`, `window`, `cap`: those of the attention.
    - `dq`, `dk`, `dv`: the types of `q`, `k` and `v`.
    - `dsinks`, with a sink: `[batch, queries, heads]`, of the arithmetic type. Its sum down the rows is the gradient of
      the sink.

    **Constraints.**
    - `attention_grad.C1`: tensors are ranked, and of f16, bf16, f32 or f64; a mask may be of i1. Their types have no
      encoding, and they hold at most 2^47 bytes. `q`, `k` and `v` have rank 4, a mask at most that.
    - `attention_grad.C2`: the sizes of heads are static, from 1 to 576. That of `k` is that of `q`; `v` may have another
      one.
    - `attention_grad.C3`: batch agrees in `q`, `k` and `v`; heads and keys agree in `k` and `v`. Two sizes agree where
      they are equal or one of them is dynamic.
    - `attention_grad.C4`: the heads of `k` divide those of `q`, where both numbers are static.
    - `attention_grad.C5`: the mask broadcasts to `[batch, heads, queries, keys]`.
    - `attention_grad.C6`: the scale is finite in the arithmetic type.
    - `attention_grad.C7`: `dy` has the shape of `q`, but the size of `v`. It is of f64 only where the arithmetic type is.
    - `attention_grad.C8`: `max` and `sum` have the shape of `q` without its last dimension, and the arithmetic type. The
      text does not say their types.
    - `attention_grad.C9`: `seed`, `step`, `p` and `site` are given together.
    - `attention_grad.C10`: `p` is in [0, 1], and `site` is in [0, 2^32).
    - `attention_grad.C11`: `origin_row` and `origin_site` are given together, and only with a seed.
    - `attention_grad.C12`: with a seed, the static sizes amount to at most 2^32 rows, batch·heads·queries, and 2^35
      keys.
    - `attention_grad.C13`: `dq`, `dk` and `dv` have the types of `q`, `k` and `v`.
    - `attention_grad.C14`: `origin_col` and the extent hold to `dropout.C7`, `dropout.C8` and `dropout.C9`.
    - `attention_grad.C15`: the window is 1 or more.
    - `attention_grad.C16`: the cap is finite and greater than 0 in the arithmetic type.
    - `attention_grad.C17`: the sink has rank 1. Its size is the number of heads of `q`, where both are static.
    - `attention_grad.C18`: `dsinks` is there if the sink is. It has batch, queries and heads of `q`, and the arithmetic
      type.
    - `attention_grad.C19`: segments are of i32, `[batch, queries]` of `q` and `[batch, keys]` of `k`.
    - `attention_grad.C20`: `segments` does not stand beside `dropout`.

    **Not allowed.** Numbers of heads that do not divide are an error at run time. So is a row, site or step of dropout
    that is negative or reaches 2^32, and a column or an extent that `resid.dropout` does not allow. Numbers of segments
    that do not stand side by side are an error, too, as in the attention. Absent keys, their values, and queries without
    a present key have to be finite: a NaN or an infinity in them may make NaN of any element of dq, dk or dv. On CPUs
    that does not reach from one segment into another.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 if q, k, v, a mask or a sink is, else f32. Each step is rounded to it by itself.
    Only the results are rounded once more, to their types.
    1. `s_j` is the score of [attention](../numerics.md#attention), and the same keys are absent.
    2. `p_j = E(s_j - max)/sum`, with the E of attention, and +0 where the key is absent.
    3. `u_j` is the chain of `fma(dy, v_j, u)` over the size of a value, ascending, from +0. `dp_j` is `u_j`. With
       dropout, `w_j = p_j·c` and `dp_j = u_j·c` where the weight is kept, and both are +0 where it is dropped; c is the
       scale of the kept ones. Without dropout, `w_j` is `p_j`.
    4. `t` is `S(p·dp)` of each chunk of 256 keys, added from +0, the chunks ascending.
       [S](../numerics.md#the-ordered-sum-s) has key j in lane j mod 64, each product is rounded, and a key with a `p_j`
       of 0 adds nothing.
    5. `ds_j = (p_j·(dp_j - t))·scale`, and +0 where `p_j` is 0. With a cap it is `((p_j·(dp_j - t))·f_j)·scale`, where
       `f_j = fma(-u_j, u_j, 1)` and `u_j` is the tanh of the score. `dsinks` is `-(p_s·t)`, and +0 where `p_s` is 0 or
       the sink is -Inf.
    6. `dq` is the chain of `fma(ds_j, k_j, dq)` over the present keys, ascending, from +0. `dk_j` and `dv_j` are those of
       `fma(ds_j, q, dk)` and `fma(w_j, dy, dv)` over the heads that read the key, ascending, and in each its queries,
       ascending. Each of the three ends with a sum with +0.

    **Example.**
    ```mlir
    func.func @attention_grad(%dy: tensor<1x8x?x64xbf16>, %q: tensor<1x8x?x64xbf16>,
                              %k: tensor<1x2x?x64xbf16>, %v: tensor<1x2x?x64xbf16>,
                              %max: tensor<1x8x?xf32>, %sum: tensor<1x8x?xf32>,
                              %sink: tensor<8xf32>, %seed: i64, %step: i64)
        -> (tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>,
            tensor<1x?x8xf32>) {
      %dq, %dk, %dv = resid.attention_grad %dy, %q, %k, %v statistics(%max, %sum)
           dropout(%seed, %step)
           {causal, p = 0.1, site = 3}
           : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>,
             tensor<1x2x?x64xbf16>
      %dq2, %dk2, %dv2, %ds = resid.attention_grad %dy, %q, %k, %v statistics(%max, %sum)
           sink(%sink) {cap = 50.0, causal, window = 512}
           : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>,
             tensor<1x2x?x64xbf16>, tensor<8xf32>
      %q3 = resid.add %dq, %dq2 : tensor<1x8x?x64xbf16>
      %k3 = resid.add %dk, %dk2 : tensor<1x2x?x64xbf16>
      %v3 = resid.add %dv, %dv2 : tensor<1x2x?x64xbf16>
      return %q3, %k3, %v3, %ds : tensor<1x8x?x64xbf16>, tensor<1x2x?x64xbf16>,
          tensor<1x2x?x64xbf16>, tensor<1x?x8xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$q, Resid_Rows:$k, Resid_Rows:$v, Resid_Statistics:$max,
                       Resid_Statistics:$sum, Optional<Resid_Mask>:$mask, Optional<Resid_Rows>:$sink, // attention_grad.C1
                       Optional<Resid_Segments>:$query_segments, Optional<Resid_Segments>:$key_segments,
                       Optional<I64>:$seed, Optional<I64>:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<I64>:$origin_col, Optional<I64>:$extent_local, Optional<I64>:$extent_global,
                       OptionalAttr<Resid_F64Attr>:$scale, UnitAttr:$causal, OptionalAttr<Resid_I64Attr>:$window,
                       OptionalAttr<Resid_F64Attr>:$cap, OptionalAttr<Resid_F64Attr>:$p,
                       OptionalAttr<Resid_I64Attr>:$site);
  let results = (outs Resid_Rows:$dq, Resid_Rows:$dk, Resid_Rows:$dv, // attention_grad.C1
                      Optional<Resid_Statistics>:$dsinks);
  let assemblyFormat = [{
    $dy `,` $q `,` $k `,` $v `statistics` `(` $max `,` $sum `)` (`mask` `(` $mask^ `)`)? (`sink` `(` $sink^ `)`)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    (`dropout` `(` $seed^ `,` $step `)`)? (`origin` `(` $origin_row^ `,` $origin_site (`,` $origin_col^)? `)`)?
    (`extent` `(` $extent_local^ `,` $extent_global `)`)? attr-dict `:`
    custom<AttentionGradTypes>(ref($mask), ref($sink), ref($query_segments), type($dy), type($q), type($k), type($v),
                               type($max), type($sum), type($mask), type($sink), type($query_segments),
                               type($key_segments), type($dq), type($dk), type($dv), type($dsinks))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = AttentionTerms;
}

#endif
