// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and what all op families share: type constraints and base classes. Owns no op.

#ifndef RESID_DIALECT_BASE
#define RESID_DIALECT_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Resid_Dialect : Dialect {
  let name = "resid";
  let cppNamespace = "::mlir::resid";
  let summary = "The residual stream of Transformers: residual adds, norms, dropout and norm placement";
  let description = [{
    Ops work on ranked tensors of f16, bf16, f32 or f64. Every dimension may be dynamic. The *feature* axis is the last
    one. *Rows* are all leading dimensions, flattened. Arithmetic is in f64 for f64, and in f32 otherwise. Every op rounds
    its results to their storage type exactly once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Names the op that one of an unknown name was probably meant to be.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

// C1 of every op: which tensors there are. The byte limit keeps every size and stride of a tensor far from overflow.
class Resid_TensorOf<list<Type> elementTypes, string description, list<Pred> more = []>
    : Type<And<!listconcat([RankedTensorOf<elementTypes>.predicate,
                            CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">,
                            CPred<"::mlir::resid::fitsByteLimit($_self)">], more)>,
           description # ", without an encoding and of at most 2^47 bytes", "::mlir::RankedTensorType">;

def Resid_Tensor : Resid_TensorOf<[F16, BF16, F32, F64], "ranked tensor of f16, bf16, f32 or f64">;
def Resid_Rows : Resid_TensorOf<[F16, BF16, F32, F64], "ranked tensor of f16, bf16, f32 or f64, of rank 1 or more",
                                [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">]>;
def Resid_Scales : Resid_TensorOf<[F32], "ranked tensor of f32">;
// How many positions a cache holds already: one number, or one for each sample. attention.C17, append.C4, rotary.C8.
def Resid_Past : AnyTypeOf<[I64, Resid_TensorOf<[I64], "ranked tensor of i64">], "i64, or a ranked tensor of i64">;
def Resid_Statistics : Resid_TensorOf<[F32, F64], "ranked tensor of f32 or f64">;

// MLIR's own description does not say why `1` and `1e-5` are no floats.
def Resid_F64Attr : FloatAttrBase<F64, "64-bit float attribute, written with a point as in 1.0 or 1.0e-5">;

def Resid_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t",
                                                 "64-bit integer attribute, written without a point as in 8">;

// Verified before the op's own attributes, of which a misspelled one may be missing.
def Resid_DefinedAttributes : NativeOpTrait<"DefinedAttributes">, StructuralOpTrait {
  let cppNamespace = "::mlir::resid";
}

class Resid_BaseOp<string mnemonic, list<Trait> traits = []>
    : Op<Resid_Dialect, mnemonic, !listconcat([Resid_DefinedAttributes], traits)>;

class Resid_Op<string mnemonic, list<Trait> traits = []> : Resid_BaseOp<mnemonic, !listconcat(traits, [Pure])>;

#endif
