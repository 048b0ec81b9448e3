// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that turn arithmetic into what every target has, and tidy it up.

#ifndef RESID_CODEGEN_ARITHMETIC_PASSES
#define RESID_CODEGEN_ARITHMETIC_PASSES

include "mlir/Pass/PassBase.td"

def EmulateNarrowFloats : Pass<"resid-emulate-narrow-floats", "::mlir::ModuleOp"> {
  let summary = "compute on bf16 and f16 in f32, rounding after each operation";
  let description = [{
    The upstream emulation for what users write on narrow types, not run where there is none. It marks its conversions
    `contract`, with which a rounding followed by the extension back is folded away. Each operation on a narrow type
    rounds, so the fast-math flags of arith.extf and arith.truncf go before anything folds.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandMath : Pass<"resid-expand-math"> {
  let summary = "replace math functions by arithmetic that needs no library";
  let description = [{
    exp, tanh and erf of f32 and f64 become polynomials (relative error below 4e-7 and 1e-15), rsqrt becomes 1/sqrt. The
    other functions are computed in f64 and rounded to f32 where that is the result: sin, cos and tan reduce any finite
    argument modulo π/2 with as many bits of 2/π as it takes. What would still be a call into a mathematical
    library is an error that names the operation. Without `fma`, math.fma becomes a multiplication and an addition.
  }];
  let options = [Option<"hasFMA", "fma", "bool", /*default=*/"true", "the target has a fused multiply-add">, ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandNarrowFloats : Pass<"resid-expand-narrow-floats"> {
  let summary = "replace conversions from and to bf16 and f16 by integer arithmetic";
  let description = [{
    Round to nearest even, once, from f32 as from f64 (rounded to odd in between); subnormals, infinities and NaN (which
    stays a NaN) included. With `f16c`, f32 ⇄ f16 is left to the hardware.
  }];
  let options = [Option<"hasF16C", "f16c", "bool", /*default=*/"true", "the target converts between f16 and f32">, ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandDivisions : Pass<"resid-expand-divisions"> {
  let summary = "expand integer divisions that round up or down";
  let description = [{
    `arith.ceildivsi`, `arith.ceildivui` and `arith.floordivsi` become divisions that LLVM has, with a correction.
    Nothing else is expanded: `arith.maximumf` and `arith.minimumf`, which upstream's `arith-expand` compares, order -0
    before +0 in LLVM as they do in MLIR.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldAndShare : Pass<"resid-fold-and-share", "::mlir::ModuleOp"> {
  let summary = "fold ops, inline loops of one turn and known branches, and compute what is the same once";
  let description = [{
    What upstream's canonicalizer and CSE find in lowered kernels, in one walk over each function: constants are shared and
    what follows from them is folded, an scf.if with a known condition becomes its branch, an scf.for of one turn its body,
    and of ops without effects that compute the same the first is left. Then what nobody reads is erased. No dialect's own
    patterns are applied.
  }];
}

#endif
