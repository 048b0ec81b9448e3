// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that turn arithmetic into what every target has, and tidy it up.

#ifndef RESID_CODEGEN_ARITHMETIC_PASSES
#define RESID_CODEGEN_ARITHMETIC_PASSES

include "mlir/Pass/PassBase.td"

def EmulateNarrowFloats : Pass<"resid-emulate-narrow-floats", "::mlir::ModuleOp"> {
  let summary = "compute on bf16 and f16 in f32, rounding after each operation";
  let description = [{
    Runs MLIR's emulation on what users write in narrow types, where there is any. The emulation marks its conversions
    `contract`. With that flag, a rounding followed by the extension back would be folded away. But each operation on a
    narrow type rounds. So this pass removes the fast-math flags of arith.extf and arith.truncf before anything folds.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandMath : Pass<"resid-expand-math"> {
  let summary = "replace math functions by arithmetic that needs no library";
  let description = [{
    exp, tanh and erf of f32 and f64 become polynomials (relative error below 4e-7 and 1e-15), and rsqrt becomes 1/sqrt.
    The other functions are computed in f64, and rounded to f32 where that is the result. sin, cos and tan reduce any
    finite argument modulo π/2, with as many bits of 2/π as it takes. arith.remf is exact (f64 with `fma` only), and
    arith.maxnumf and minnumf become comparisons. An operation that would still be a call into a
    mathematical library is an error that names it. Quotients of f32 that become integers of at most 127, many by one
    divisor, take its reciprocal and a correction instead of a division each, with the same integers. Without `fma`,
    math.fma becomes a multiplication and an addition, and these stay divisions.
  }];
  let options = [Option<"hasFMA", "fma", "bool", /*default=*/"true", "the target has a fused multiply-add">, ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandNarrowFloats : Pass<"resid-expand-narrow-floats"> {
  let summary = "replace conversions from and to bf16 and f16 by integer arithmetic";
  let description = [{
    Conversions round to nearest even, once, from f32 and from f64. (From f64 they first round to odd.) Subnormals and
    infinities are right, and a NaN stays a NaN. With `f16c`, f32 ⇄ f16 is left to the hardware.
  }];
  let options = [Option<"hasF16C", "f16c", "bool", /*default=*/"true", "the target converts between f16 and f32">, ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def CarryNarrowFloats : Pass<"resid-carry-narrow-floats"> {
  let summary = "move bf16 and f16 as integers of 16 bits";
  let description = [{
    Values, memory and constants of bf16 and f16 become integers with the same bits. A conversion that is left, since the
    target has an instruction for it, gets its floats by a bitcast. LLVM has no registers for bf16 on many processors:
    it would widen what is only moved to f32, and round it back by a call into a library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandDivisions : Pass<"resid-expand-divisions"> {
  let summary = "expand integer divisions that round up or down";
  let description = [{
    `arith.ceildivsi`, `arith.ceildivui` and `arith.floordivsi` become divisions that LLVM has, with a correction.
    Nothing else is expanded. MLIR's `arith-expand` would also turn `arith.maximumf` and `arith.minimumf` into
    comparisons. LLVM's own instructions order -0 before +0 as MLIR does, so they stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldAndShare : Pass<"resid-fold-and-share", "::mlir::ModuleOp"> {
  let summary = "fold ops, inline loops of one turn and known branches, and compute what is the same once";
  let description = [{
    Does what MLIR's canonicalizer and CSE would find in lowered kernels, in one walk over each function:
    - Constants are shared, and what follows from them is folded.
    - An scf.if with a known condition becomes its branch, and an scf.for of one turn its body.
    - Of several ops without effects that compute the same, the first one stays.
    - Then ops that nobody reads are erased.

    No dialect's own patterns are applied.
  }];
}

#endif
