// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of ops that have a rule for their gradient. The rules stand in the files named *Rules.cpp, one for each
// family; ops get them as external models.

#ifndef RESID_PASSES_GRAD_GRADIENTINTERFACE
#define RESID_PASSES_GRAD_GRADIENTINTERFACE

include "mlir/IR/OpBase.td"

def Resid_GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::mlir::resid";
  let description = [{
    An op that knows how the gradients of its results become gradients of its operands.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether its gradients can be made, as far as that shows before anything is changed. Where not, it says so at the op.
      `needed` are the values that have gradients.
    }], "::llvm::LogicalResult", "verifyRule", (ins "const ::llvm::DenseSet<::mlir::Value> &":$needed), "",
      "return ::llvm::success();">,
    InterfaceMethod<[{
      Makes the op of the forward give what its rule reads, where it does not already; another op may stand in its place
      then.
    }], "::llvm::LogicalResult", "prepareForward", (ins "::mlir::OpBuilder &":$builder,
      "::mlir::resid::Forward &":$forward, "const ::llvm::DenseSet<::mlir::Value> &":$needed), "",
      "return ::llvm::success();">,
    InterfaceMethod<[{
      Computes a result again where the backward stands, if that is cheap beside reading it from memory: then nothing
      else has to be saved for it. Else null.
    }], "::mlir::Value", "recompute", (ins "unsigned":$number, "::mlir::resid::Gradients &":$gradients), "", "return {};">,
    InterfaceMethod<[{
      Adds the gradients of its operands that are needed. At least one of its results has a gradient. Where it cannot,
      it says so at the op.
    }], "::llvm::LogicalResult", "differentiate", (ins "::mlir::resid::Gradients &":$gradients)>];
}

#endif
