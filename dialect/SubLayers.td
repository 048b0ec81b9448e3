// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family SubLayers: what the branches of a Transformer are made of, beside attention.

#ifndef RESID_DIALECT_SUBLAYERS
#define RESID_DIALECT_SUBLAYERS

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

// What a kind means stands in ActivationKinds.cpp, one entry per kind.
def Resid_ActivationKind : I32EnumAttr<"ActivationKind", "kind of an activation", [
  I32EnumAttrCase<"ReLU", 0, "relu">, I32EnumAttrCase<"GELU", 1, "gelu">, I32EnumAttrCase<"GELUTanh", 2, "gelu_tanh">,
  I32EnumAttrCase<"SiLU", 3, "silu">, I32EnumAttrCase<"SwiGLU", 4, "swiglu">, I32EnumAttrCase<"GeGLU", 5, "geglu">,
  I32EnumAttrCase<"GeGLUTanh", 6, "geglu_tanh">, I32EnumAttrCase<"Sigmoid", 7, "sigmoid">,
  I32EnumAttrCase<"ReLU2", 8, "relu2">, I32EnumAttrCase<"SwiGLUOAI", 9, "swiglu_oai">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}
def Resid_ActivationKindAttr : EnumAttr<Resid_Dialect, Resid_ActivationKind, "activation_kind">;

def Resid_Weight : Resid_TensorOf<[F16, BF16, F32, F64, I8, I<4>],
                                  "ranked tensor of f16, bf16, f32, f64, i8 or i4">;
def Resid_LinearRows : Resid_TensorOf<[F16, BF16, F32, F64, I8],
                                      "ranked tensor of f16, bf16, f32, f64 or i8, of rank 1 or more",
                                      [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">]>;
def Resid_WeightScale : Resid_TensorOf<[F16, BF16, F32], "ranked tensor of f16, bf16 or f32">;

def Resid_LinearOp : Resid_Op<"linear", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>]> {
  let summary = "linear layer: a product with a weight, and a bias";
  let description = [{
    Multiplies each row by a weight that all rows share, and adds a bias. The weight may be stored in 8 or 4 bits.

    **Formula.** `y[…, j] = Σ_k x[…, k]·w[j, k] + bias[j]`, where `w` is `weight`. With `transposed`, the weight's
    element is `weight[k, j]`.

    A weight of integers q is stored in *groups* of `group` neighbours along the input features, and g = floor(k/group)
    is the group of an element:
    - `w[j, k] = weight_scale[j, g]·q[j, k]`.
    - With `weight_zero`, `w[j, k] = weight_scale[j, g]·(q[j, k] - weight_zero[j, g])`.
    - With `weight_offset`, `w[j, k] = weight_scale[j, g]·q[j, k] - weight_offset[j, g]`, as in GGUF's Q4_K.

    Where `x` is of integers, too, `y[…, j] = (Σ_k x[…, k]·weight[j, k])·(x_scale[…]·weight_scale[j]) + bias[j]`.

    **Operands and results.**
    - `x`: `[…, in]`, of f16, bf16, f32, f64 or i8. Every dimension may be dynamic.
    - `weight`: `[out, in]`, as PyTorch and most checkpoints store it. Any of these float types, i8 or i4.
    - `x_scale`, for an `x` of i8: f32, one number for each row, `[…]`, or one for all, of rank 0, as
      [`resid.quantize`](quantize.md) gives them.
    - `weight_scale`, for integers: `[out, in/group]`, of f16, bf16 or f32. For an `x` of i8: `[out]`, of f32.
    - `weight_zero`, for integers, optional: the shape of `weight_scale`, of i8.
    - `weight_offset`, for integers, optional in place of `weight_zero`: the shape of `weight_scale`, of f32.
    - `group`, for integers with an `x` of floats: integer attribute, such as 32, 64 or 128.
    - `bias`, optional: `[out]`, any of these float types.
    - `transposed`: unit attribute. The weight is `[in, out]`, as the checkpoints of GPT-2 store it.
    - result: the shape of `x` with `out` in place of `in`. Its element type is that of `x`, unless the text says
      another one (`-> tensor<…xf32>`). For an `x` of i8 it is f32, unless the text says f16 or bf16.

    **Constraints.**
    - `linear.C1`: tensors are ranked, of the types above. Their types have no encoding, and they hold at most 2^47
      bytes. `x` and the result have rank 1 or more.
    - `linear.C2`: `weight` has rank 2.
    - `linear.C3`: the input features of `weight` agree with the last dimension of `x`. Two sizes agree where they are
      equal or one of them is dynamic.
    - `linear.C4`: the result has the leading dimensions of `x`, and the output features of `weight` as its last one.
    - `linear.C5`: `bias` has rank 1, and its size agrees with the last dimension of the result.
    - `linear.C6`: for an `x` of floats, `weight_scale` and `group` are given exactly where `weight` is of i8 or i4.
      Only beside them is there a `weight_zero` or a `weight_offset`, and not both.
    - `linear.C7`: a weight of integers is not `transposed`, and nothing beside it is of f64. `group` is even, and
      divides the input features, whose number is static.
    - `linear.C8`: `weight_scale`, `weight_zero` and `weight_offset` have the shape `[out, in/group]`.
    - `linear.C9`: `x` is of i8 exactly where there is `x_scale`. `weight` is of i8 then, and there is `weight_scale`, of
      f32 and `[out]`. There is no `weight_zero`, `weight_offset` or `group`, and nothing is of f64.
    - `linear.C10`: `x_scale` has rank 0, or agrees with the leading dimensions of `x`.
    - `linear.C11`: a row of i8 has at most 131,071 input features, so that no sum overflows. A dynamic number of them is
      looked at when the function is called.

    **Not allowed.** The bias does not broadcast. Activations of i8 have no scale for each group. A weight per sample is
    no linear layer: write `linalg.batch_matmul`.

    **Gradient.** `dx = dy·weight`, `dweight = dyᵀ·x` over all rows, and `dbias` is `dy` summed over the rows. With
    `transposed`, both products are transposed. A layer whose weight is of integers has no gradient.

    **Rounding.** The *arithmetic type* is f64 if any operand or the result is f64, and f32 otherwise. All operands are
    widened to it. Each element is one chain `acc = fma(x, weight, acc)`, which starts from +0 and goes over the input
    features in ascending order. The bias is added to it in the arithmetic type. The sum is rounded once, to the result's
    type. A bias of zeros does not fold away, since `-0 + +0` is `+0`.

    A `w` that is computed from integers is rounded once, to f32. Scales are widened to f32 before, and `q - weight_zero`
    is exact. With `weight_offset`, it is `fma(weight_scale, q, -weight_offset)`.

    The sum of products of an `x` of i8 is exact, any numbers, -128 too. Then it is rounded to f32, half to even, which
    loses bits from 2^24 on; `s = x_scale·weight_scale` is rounded to f32, and so are the product of both, and that plus
    the bias. There is no fused multiply-add. The last of these is rounded once more, to the result's type.

    **Example.**
    ```mlir
    func.func @quantized(%x: tensor<?x768xf32>, %w: tensor<3072x768xi8>, %s: tensor<3072xf32>)
        -> tensor<?x3072xf32> {
      %q, %rows = resid.quantize %x {granularity = row} : tensor<?x768xf32>
      %y = resid.linear %q, %w x_scale(%rows) weight_scale(%s)
          : tensor<?x768xi8>, tensor<3072x768xi8>, tensor<?xf32>, tensor<3072xf32>
      return %y : tensor<?x3072xf32>
    }

    func.func @of_four_bits(%x: tensor<?x4096xf32>, %w: tensor<1024x4096xi4>,
                            %s: tensor<1024x32xf16>, %z: tensor<1024x32xi8>) -> tensor<?x1024xf32> {
      %y = resid.linear %x, %w weight_scale(%s) weight_zero(%z) {group = 128}
          : tensor<?x4096xf32>, tensor<1024x4096xi4>, tensor<1024x32xf16>, tensor<1024x32xi8>
      return %y : tensor<?x1024xf32>
    }

    func.func @feed_forward(%x: tensor<?x768xbf16>, %up: tensor<3072x768xbf16>,
                            %bias: tensor<3072xf32>, %down: tensor<3072x768xbf16>)
        -> (tensor<?x3072xbf16>, tensor<?x768xf32>) {
      %h = resid.linear %x, %up bias(%bias)
          : tensor<?x768xbf16>, tensor<3072x768xbf16>, tensor<3072xf32>
      %y = resid.linear %h, %down {transposed}
          : tensor<?x3072xbf16>, tensor<3072x768xbf16> -> tensor<?x768xf32>
      return %h, %y : tensor<?x3072xbf16>, tensor<?x768xf32>
    }
    ```
  }];
  // linear.C1
  let arguments = (ins Resid_LinearRows:$x, Resid_Weight:$weight, Optional<Resid_Scales>:$x_scale,
                       Optional<Resid_WeightScale>:$weight_scale,
                       Optional<Resid_TensorOf<[I8], "ranked tensor of i8">>:$weight_zero,
                       Optional<Resid_TensorOf<[F32], "ranked tensor of f32">>:$weight_offset,
                       Optional<Resid_Tensor>:$bias, UnitAttr:$transposed, OptionalAttr<Resid_I64Attr>:$group);
  let results = (outs Resid_Rows:$result); // linear.C1
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // The result has the element type of x.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight, CArg<"::mlir::Value", "{}">:$bias,
                   CArg<"bool", "false">:$transposed)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dimensions of the weight that are input features and output features.
    int64_t getInputAxis() { return getTransposed() ? 0 : 1; }
    int64_t getOutputAxis() { return getTransposed() ? 1 : 0; }
    /// Whether the weight is of i8 or i4; and whether x is, too.
    bool hasIntegerWeight() { return getWeight().getType().getElementType().isInteger(); }
    bool hasIntegerRows() { return static_cast<bool>(getXScale()); }
    /// f64 if an operand or the result is f64, else f32.
    ::mlir::FloatType getArithmeticType();
  }];
}

// activation.C2: the inferred result type.
def Resid_ActivationOp : Resid_Op<"activation", [InferTypeOpAdaptor]> {
  let summary = "an activation of each element, or a gated linear unit";
  let description = [{
    Applies a function to each element. A gated kind multiplies another tensor by the result.

    **Formula.**

    | kind | y | known as |
    |---|---|---|
    | `relu` | `max(x, 0)` | ReLU |
    | `relu2` | `max(x, 0)²` | squared ReLU: Primer, Nemotron |
    | `gelu` | `0.5·x·(1 + erf(x/√2))` | GELU |
    | `gelu_tanh` | `0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))` | GELU with tanh: GPT-2, `gelu_new` |
    | `silu` | `x/(1 + exp(-x))` | SiLU, Swish |
    | `sigmoid` | `1/(1 + exp(-x))` | logistic function: gates, weights of streams |
    | `swiglu` | `silu(x)·up` | SwiGLU: LLaMA; with `limit`: DeepSeek-V4 |
    | `swiglu_oai` | `x/(1 + exp(-alpha·x))·(up + 1)` | SwiGLU of gpt-oss |
    | `geglu` | `gelu(x)·up` | GEGLU |
    | `geglu_tanh` | `gelu_tanh(x)·up` | GEGLU with tanh: Gemma |

    **Operands and results.**
    - the kind, before the operands.
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic. In a gated kind it is the gate.
    - `up`: the type of `x`. Gated kinds have it, the others do not.
    - `limit`, for `swiglu` optional, for `swiglu_oai` always: float attribute. `min(x, limit)` stands for `x` then, and
      `min(max(up, -limit), limit)` for `up`.
    - `alpha`, for `swiglu_oai`: float attribute.
    - result: the type of `x`.

    **Constraints.**
    - `activation.C1`: tensors are ranked, of f16, bf16, f32 or f64, and of rank 1 or more. Their types have no encoding,
      and they hold at most 2^47 bytes.
    - `activation.C2`: the result has the type of `x`.
    - `activation.C3`: `up` is given exactly where the kind is gated.
    - `activation.C4`: `up` has the type of `x`.
    - `activation.C5`: `limit` is given for `swiglu_oai`, may be for `swiglu`, and is for no other kind. `alpha` is given
      for `swiglu_oai` alone. Both are finite and greater than 0 in the arithmetic type.

    **Not allowed.** `up` does not broadcast. One tensor that holds both halves is taken apart with
    `tensor.extract_slice`.

    **Gradient.** `dx = f'(x)·dy`, with `relu' = 1` where `x > 0` and else 0, `relu2' = 2·max(x, 0)`, `silu' = s·(1 + x·(1 - s))` where
    `s = 1/(1 + exp(-x))`, `sigmoid' = s·(1 - s)`, and `gelu' = Φ(x) + x·φ(x)`. In a gated kind `dx = f'(x)·up·dy` and `dup = f(x)·dy`.
    Beyond `limit` both are 0; at it they are not.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Operands are widened to it, and constants are
    rounded to it once. Each step is rounded to it by itself, in this order:
    - `relu`: `x` where `x > 0` or `x` is NaN, else +0.
    - `relu2`: `f = r·r`, where r is what `relu` makes.
    - `gelu`: `e = erf(x·(1/√2))`; `h = 0.5·x`; `f = h·(1 + e)`.
    - `gelu_tanh`: `c = (x·x)·x`; `u = √(2/π)·(x + 0.044715·c)`; `h = 0.5·x`; `f = h·(1 + tanh(u))`.
    - `silu`: `f = x/(1 + exp(-x))`.
    - `sigmoid`: `f = 1/(1 + exp(-x))`.
    - `swiglu_oai`: `f = x/(1 + exp(-(alpha·x)))`; `y = f·(up + 1)`.
    - other gated kinds: `y = f·up`.

    `limit` comes first, and a NaN stays one.     The result is rounded once, to the type of `x`. A NaN gives NaN, +Inf gives +Inf, and -0 gives -0 but in `relu` and
    `relu2`, where it gives +0. Of -Inf, these make +0. The others make NaN of it, as the steps say and PyTorch does.

    **Example.**
    ```mlir
    func.func @activations(%x: tensor<?x3072xbf16>, %up: tensor<?x3072xbf16>)
        -> (tensor<?x3072xbf16>, tensor<?x3072xbf16>) {
      %a = resid.activation gelu %x : tensor<?x3072xbf16>
      %b = resid.activation swiglu %x, %up {limit = 7.0} : tensor<?x3072xbf16>
      return %a, %b : tensor<?x3072xbf16>, tensor<?x3072xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_ActivationKindAttr:$kind, Resid_Rows:$x, Optional<Resid_Rows>:$up, // activation.C1
                       OptionalAttr<Resid_F64Attr>:$limit, OptionalAttr<Resid_F64Attr>:$alpha);
  let results = (outs Resid_Rows:$result); // activation.C1
  let assemblyFormat = [{
    custom<Keyword>($kind) $x (`,` $up^)? attr-dict `:` custom<ActivationTypes>(ref($up), type($x), type($up))
  }];
  let builders = [
    // A kind without a limit.
    OpBuilder<(ins "::mlir::resid::ActivationKind":$kind, "::mlir::Value":$x, "::mlir::Value":$up)>];
  let hasVerifier = 1;
}

// rotary.C2: the inferred result type.
def Resid_RotaryOp : Resid_Op<"rotary", [InferTypeOpAdaptor,
                              DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>]> {
  let summary = "rotary position embedding";
  let description = [{
    Turns pairs of elements of each head by an angle that depends on the position.

    **Formula.** With the pair `(x1, x2)` number j of position p, `c = cos[offset + p, j]` and `s = sin[offset + p, j]`:
    `y1 = x1·c - x2·s` and `y2 = x2·c + x1·s`. There are as many pairs as the tables have columns, h.
    - By default the pair is `(x[j], x[h + j])`: the two halves of what is turned (LLaMA, GPT-NeoX).
    - With `interleaved`, it is `(x[2·j], x[2·j + 1])` (GPT-J).

    Elements from 2·h on stay as they are.

    **Operands and results.**
    - `x`: `[…, positions, size]`, of f16, bf16, f32 or f64, such as `[batch, heads, positions, size]`. The size of a head
      is static. Every other dimension may be dynamic.
    - `cos`, `sin`: `[rows, h]`, any of these float types, each of its own. The number of columns is static.
    - `offset`, optional: i64, the row of the tables for position 0. It is the number of positions that a key-value cache
      has already. As a tensor `[batch]` of i64, whose type is written after the others, it has one number for each sample
      of `[batch, …, positions, size]`.
    - `interleaved`: unit attribute.
    - result: the type of `x`.

    **Constraints.**
    - `rotary.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes.
    - `rotary.C2`: the result has the type of `x`.
    - `rotary.C3`: `x` has rank 2 or more, and its last dimension is static.
    - `rotary.C4`: `cos` has rank 2. Its columns are static, 1 or more, and at most half of the last dimension of `x`.
    - `rotary.C5`: `sin` has rank 2, as many columns as `cos`, and rows that agree with those of `cos`. Two sizes agree
      where they are equal or one of them is dynamic.
    - `rotary.C6`: without `offset`, the rows of the tables agree with the positions of `x`. With it, there are no fewer.
    - `rotary.C7`: `cos` and `sin` are of f64 only where `x` is.
    - `rotary.C8`: an offset that is a tensor has rank 1, i64, and the first dimension of `x`, whose rank is 3 or more.

    **Not allowed.** An offset that is negative, or too large for the tables to have a row for each position, is an error
    at run time. A GPU, which returns before it could answer for what lies in its memory, gives NaN for the positions of a
    sample that have no row.

    **Gradient.** `dx` is `dy` turned back: the same op with `-sin` in place of `sin`. `cos` and `sin` have no
    gradient yet.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Operands are widened to it. Both products are
    rounded to it, and so is their difference or sum; there is no fused multiply-add. The result is rounded once, to the
    type of `x`.

    **Example.**
    ```mlir
    func.func @rotate(%q: tensor<1x8x?x64xbf16>, %cos: tensor<2048x32xf32>,
                      %sin: tensor<2048x32xf32>, %past: i64, %pasts: tensor<1xi64>)
        -> tensor<1x8x?x64xbf16> {
      %x = resid.rotary %q cos(%cos) sin(%sin) offset(%past)
          : tensor<1x8x?x64xbf16>, tensor<2048x32xf32>, tensor<2048x32xf32>
      %y = resid.rotary %x cos(%cos) sin(%sin) offset(%pasts) {interleaved}
          : tensor<1x8x?x64xbf16>, tensor<2048x32xf32>, tensor<2048x32xf32>, tensor<1xi64>
      return %y : tensor<1x8x?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Resid_Tensor:$cos, Resid_Tensor:$sin, Optional<Resid_Past>:$offset,
                       UnitAttr:$interleaved); // rotary.C1
  let results = (outs Resid_Rows:$result);     // rotary.C1
  let assemblyFormat = [{
    $x `cos` `(` $cos `)` `sin` `(` $sin `)` (`offset` `(` $offset^ `)`)? attr-dict `:`
    custom<RotaryTypes>(ref($offset), type($x), type($cos), type($sin), type($offset))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many pairs of a head are turned.
    int64_t getPairs() { return getCos().getType().getDimSize(1); }
  }];
}

#endif
