// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and what all op families share: type constraints and base classes. Owns no op.

#ifndef RESID_DIALECT_BASE
#define RESID_DIALECT_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Resid_Dialect : Dialect {
  let name = "resid";
  let cppNamespace = "::mlir::resid";
  let summary = "The residual stream of Transformers: residual adds, norms, dropout and norm placement";
  let description = [{
    Ops work on ranked tensors of f16, bf16, f32 or f64; every dimension may be dynamic. The *feature* axis is the last
    one; *rows* are all leading dimensions, flattened. Arithmetic is in f32 for f16, bf16 and f32 and in f64 for f64;
    every op rounds its results to their storage type exactly once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Resid_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Resid_Tensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Resid_Statistics : RankedTensorOf<[F32, F64]>;

class Resid_Op<string mnemonic, list<Trait> traits = []> : Op<Resid_Dialect, mnemonic, !listconcat(traits, [Pure])>;

#endif
