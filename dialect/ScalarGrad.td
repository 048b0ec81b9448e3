// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Grad, the backward ops with gradients that may be one number for a whole tensor: of a gate, and of a dynamic
// tanh.

#ifndef RESID_DIALECT_SCALARGRAD
#define RESID_DIALECT_SCALARGRAD

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

def Resid_GateGradOp : Resid_Op<"gate_grad", [DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                              DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradient of a gate";
  let description = [{
    Takes the gradient of a residual add back to its gate. The gradients of the stream and of the branch need no op.

    **Formula.** `dgate = Σ branch_scale·(f ⊙ dy)`, summed over the dimensions along which the gate broadcasts.

    **Operands and results.**
    - `dy`: the gradient of the sum, with the shape of `f`. Its element type may be wider.
    - `f`: `[…, D]`, the branch. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `branch_scale`: that of the add, 1 where it is not written.
    - `dgate`: the shape of the gate says what is summed, as in `resid.add`. Its type is written after the arrow.

    **Constraints.**
    - `gate_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `dy` and `f` have rank 1 or more.
    - `gate_grad.C2`: `dy` has the shape of `f`. Its element type is that of `f` or, for f16 and bf16, f32.
    - `gate_grad.C3`: `dgate` is of f64 only where `f` is.
    - `gate_grad.C4`: `dgate` has at most the rank of `f`, and is aligned with it at the last dimension. Each dimension
      is a static 1, along which is summed, or agrees with that of `f`. Two sizes agree where they are equal or one of
      them is dynamic.
    - `gate_grad.C5`: `branch_scale` is finite in the arithmetic type.

    **Not allowed.** A dynamic dimension of `dgate` is never summed over, even where it is 1 at run time.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it, and each is
    rounded. S is the ordered sum that [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `t = f·dy`. Where `branch_scale` is not 1, then `t = branch_scale·t`.
    2. Where the gate broadcasts along the last dimension, each row gives `r = S(t)`. Elsewhere `r = t`.
    3. `dgate` is the [sum down the rows](../numerics.md#sums-down-the-rows) of `r`. Its rows are the indices of the
       other dimensions along which the gate broadcasts, in lexicographic order. The sum is rounded to f32 (f64 for
       f64), and then to the type of `dgate`. Where there is no such dimension, nothing is added to `r`.

    **Example.**
    ```mlir
    func.func @gate_grad(%dy: tensor<?x768xf32>, %f: tensor<?x768xbf16>)
        -> (tensor<768xf32>, tensor<f32>) {
      %layer_scale = resid.gate_grad %dy, %f
          : tensor<?x768xf32>, tensor<?x768xbf16> -> tensor<768xf32>
      %re_zero = resid.gate_grad %dy, %f {branch_scale = 0.5}
          : tensor<?x768xf32>, tensor<?x768xbf16> -> tensor<f32>
      return %layer_scale, %re_zero : tensor<768xf32>, tensor<f32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$f, // gate_grad.C1
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$branch_scale);
  let results = (outs Resid_Tensor:$dgate); // gate_grad.C1
  let assemblyFormat = "$dy `,` $f attr-dict `:` type($dy) `,` type($f) `->` type($dgate)";
  let hasVerifier = 1;
}

def Resid_DyTGradOp : Resid_Op<"dyt_grad", [AttrSizedOperandSegments,
                               DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradients of a dynamic tanh";
  let description = [{
    Takes the gradient of a dynamic tanh's result back to what it squashed, to alpha, gamma and beta. The tanh is
    computed again.

    **Formula.** `dx = α·(1 - t²)·g + dsum`, `dα = Σ x·(1 - t²)·g` over all elements, `dγ = Σ dy·t` and `dβ = Σ dy` over
    the rows. Here `t = tanh(α·x)`. `g` is `dy·γ`, or `dy·(1+γ)` where γ is zero-centred, or `dy` without γ.

    **Operands and results.**
    - `dy`: the gradient of the result, with the shape of `x`. Its element type may be narrower.
    - `x`: `[…, D]`, what was squashed. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `alpha`: that of the dynamic tanh, of rank 0.
    - `gamma`, optional: that of the dynamic tanh.
    - `sum`, optional: the gradient that `x` has from its other readers, of the type of `x`. It is added to dx.
    - `zero_centered_gamma`: unit attribute, as in the dynamic tanh.
    - `dx`: the type of `x`.
    - `dalpha`: rank 0, of alpha's element type or another that is written after the arrow.
    - `dgamma`, `dbeta`: both where there is a gamma, else none. They have its shape, and its element type or another
      that is written after the arrow. A result that nothing reads is not computed.

    **Constraints.**
    - `dyt_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `dy`, `x` and `dx` have rank 1 or more.
    - `dyt_grad.C2`: `dy` has the shape of `x`, and its element type or a narrower one.
    - `dyt_grad.C3`: `alpha` and `dalpha` have rank 0, and are of f64 only where `x` is.
    - `dyt_grad.C4`: gamma has a rank between 1 and that of `x`.
    - `dyt_grad.C5`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they are
      equal or one of them is dynamic. gamma is of f64 only where `x` is.
    - `dyt_grad.C6`: `sum` and `dx` have the type of `x`.
    - `dyt_grad.C7`: `dgamma` and `dbeta` are there exactly where gamma is. They have its shape, and are of f64 only
      where `x` is.
    - `dyt_grad.C8`: `zero_centered_gamma` is given only with gamma.

    **Not allowed.** beta is not among the operands: no gradient depends on it.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it, and each is
    rounded. S is the ordered sum that [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `t = tanh(α·x)`, as in `resid.dyt`. `γ' = γ`, or `1 + γ` rounded. `g = dy·γ'`, or `dy`.
    2. `h = fma(-t, t, 1)·g`. `dx = α·h`, or `fma(α, h, dsum)`. It is rounded once, to the type of `x`.
    3. Each row of the last dimension gives `r = S(x·h)`. The products are rounded before they are added. `dα` is the
       [sum down the rows](../numerics.md#sums-down-the-rows) of `r`.
    4. `dγ` is the sum down the rows of `dy·t`, and `dβ` that of `dy`. These three are rounded to f32 (f64 for f64), and
       then to the type of the result.

    **Example.**
    ```mlir
    func.func @dyt_grad(%dy: tensor<?x768xbf16>, %x: tensor<?x768xf32>, %alpha: tensor<f32>,
                        %gamma: tensor<768xf32>)
        -> (tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>) {
      %dx, %dalpha, %dgamma, %dbeta = resid.dyt_grad %dy, %x alpha(%alpha) gamma(%gamma)
           : tensor<?x768xbf16>, tensor<?x768xf32>, tensor<f32>, tensor<768xf32>
      return %dx, %dalpha, %dgamma, %dbeta
          : tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$x, Resid_Tensor:$alpha, // dyt_grad.C1
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Rows>:$dsum, UnitAttr:$zero_centered_gamma);
  let results = (outs Resid_Rows:$dx, Resid_Tensor:$dalpha, Variadic<Resid_Tensor>:$parameters); // dyt_grad.C1
  let assemblyFormat = [{
    $dy `,` $x `alpha` `(` $alpha `)` (`gamma` `(` $gamma^ `)`)? (`sum` `(` $dsum^ `)`)? attr-dict `:`
    custom<DyTGradTypes>(ref($gamma), ref($dsum), type($dy), type($x), type($alpha), type($gamma), type($dsum),
                         type($dx), type($dalpha), type($parameters))
  }];
  let hasVerifier = 1;
}

#endif
