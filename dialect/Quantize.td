// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Quantize: numbers as integers of 8 bits times a scale, and back.

#ifndef RESID_DIALECT_QUANTIZE
#define RESID_DIALECT_QUANTIZE

include "dialect/EqualSizes.td"
include "dialect/QuantizedResult.td"

def Resid_QuantizedRows : Resid_TensorOf<[I8], "ranked tensor of i8, of rank 1 or more",
                                         [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">]>;
def Resid_NarrowRows : Resid_TensorOf<[F16, BF16, F32], "ranked tensor of f16, bf16 or f32, of rank 1 or more",
                                      [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">]>;

class Resid_QuantizationOp<string mnemonic>
    : Resid_Op<mnemonic, [DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>]> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Resid_QuantizeOp : Resid_QuantizationOp<"quantize"> {
  let summary = "numbers as integers of 8 bits, with the scale that they share";
  let description = [{
    Finds the scale of each row, tensor or group, and divides by it.

    **Formula.** `scale = max|x| / 127`, over what shares a scale, and `q = clamp(rint(x / scale), -127, 127)`. With
    `scale` as an operand, that one takes the place of the first formula.

    **Operands and results.**
    - `x`: `[…, features]`, of f16, bf16 or f32. Every dimension may be dynamic.
    - `scale`, optional: a scale that was found before, of f32 and of the shape that the result `scale` would have.
    - `granularity`: what shares a scale. `row`: the last dimension. `tensor`: all of `x`. `group G`: each run of G
      elements in the last dimension, whose size is static; a last, shorter run is a group, too.
    - `q`: the shape of `x`, of i8.
    - `scale`, where it is no operand: f32. For `row` it has the leading dimensions of `x`, for `tensor` none, and for
      `group G` the leading dimensions and as many groups as a row has.

    **Constraints.**
    - `quantize.C1`: `x` is a ranked tensor of f16, bf16 or f32, of rank 1 or more. Types have no encoding, and hold at
      most 2^47 bytes. An x of f64 is refused: round it first.
    - `quantize.C2`: with `group G`, G is 1 or more, and the last dimension of `x` is static, and not 0.
    - `quantize.C3`: an operand `scale` has the shape of the granularity. Two sizes agree where they are equal or one of
      them is dynamic.
    - `quantize.C4`: results have the types that follow from `x`. There is a result `scale` exactly where there is no such
      operand.

    **Not allowed.** Zero points: q is symmetric, and -128 does not occur.

    **Gradient.** None. Rounding to integers has none, and a function that is differentiated through this op is an error.

    **Rounding.** `x` is widened to f32. Each step is rounded to f32 by itself; both divisions are true ones, and `rint`
    rounds half to even.
    1. `m` is the largest magnitude. Where an element is NaN or infinite, the scale is NaN. Else it is `m / 127`.
    2. `r = x / scale`. Where the scale is 0, also because `m / 127` is less than half of the smallest number of f32, or
       where `r` is NaN, q is 0. Else q is `rint(r)`, at least -127 and at most 127.

    So each q of what holds a NaN or an infinity is 0. With an operand `scale`, this is so for each NaN by itself, and an
    infinity becomes 127 or -127.

    **Example.**
    ```mlir
    func.func @quantize(%x: tensor<?x768xbf16>, %static: tensor<f32>)
        -> (tensor<?x768xi8>, tensor<?xf32>, tensor<?x6xf32>, tensor<?x768xi8>) {
      %q, %scale = resid.quantize %x {granularity = row} : tensor<?x768xbf16>
      %g, %scales = resid.quantize %x {granularity = group 128} : tensor<?x768xbf16>
      %s = resid.quantize %x scale(%static) {granularity = tensor} : tensor<?x768xbf16>, tensor<f32>
      return %q, %scale, %scales, %s
          : tensor<?x768xi8>, tensor<?xf32>, tensor<?x6xf32>, tensor<?x768xi8>
    }
    ```
  }];
  let arguments = (ins Resid_NarrowRows:$x, Optional<Resid_Scales>:$static_scale, Resid_GranularityAttr:$granularity, // quantize.C1
                       OptionalAttr<Resid_I64Attr>:$group);
  let results = (outs Resid_QuantizedRows:$q, Optional<Resid_Scales>:$scale); // quantize.C1
}

def Resid_DequantizeOp : Resid_QuantizationOp<"dequantize"> {
  let summary = "integers of 8 bits times the scale that they share";
  let description = [{
    Multiplies integers by their scale.

    **Formula.** `y = q·scale`.

    **Operands and results.**
    - `q`: `[…, features]`, of i8; -128 is a number like others. Every dimension may be dynamic.
    - `scale`: f32, of the shape that [`resid.quantize`](quantize.md) gives it.
    - `granularity`: `row`, `tensor` or `group G`, as in `resid.quantize`.
    - result: the shape of `q`, of f32, unless the text says f16 or bf16 (`-> tensor<…xbf16>`).

    **Constraints.**
    - `dequantize.C1`: `q` is a ranked tensor of i8, and the result one of f16, bf16 or f32, of rank 1 or more; `scale` is
      one of f32. Types have no encoding, and hold at most 2^47 bytes.
    - `dequantize.C2`: with `group G`, G is 1 or more, and the last dimension of `q` is static, and not 0.
    - `dequantize.C3`: `scale` has the shape of the granularity. Two sizes agree where they are equal or one of them is
      dynamic.
    - `dequantize.C4`: the result has the shape of `q`.

    **Not allowed.** Zero points.

    **Gradient.** None. A function that is differentiated through this op is an error.

    **Rounding.** q is a number of f32. The product is rounded to f32, and once more to the result's type.

    **Example.**
    ```mlir
    func.func @dequantize(%q: tensor<?x768xi8>, %scale: tensor<?xf32>) -> tensor<?x768xbf16> {
      %y = resid.dequantize %q scale(%scale) {granularity = row}
          : tensor<?x768xi8>, tensor<?xf32> -> tensor<?x768xbf16>
      return %y : tensor<?x768xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_QuantizedRows:$q, Resid_Scales:$scale, Resid_GranularityAttr:$granularity, // dequantize.C1
                       OptionalAttr<Resid_I64Attr>:$group);
  let results = (outs Resid_NarrowRows:$result); // dequantize.C1
}

#endif
