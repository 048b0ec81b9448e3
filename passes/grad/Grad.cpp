// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/FunctionAttributes.h"
#include "dialect/InlineCalls.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/grad/Activity.h"
#include "passes/grad/Differentiation.h"
#include "passes/grad/Rules.h"

namespace mlir::resid {
#define GEN_PASS_DEF_GRAD
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The arguments whose gradients are made.
static FailureOr<SmallVector<unsigned>> findArguments(func::FuncOp function, ArrayRef<int64_t> wrt) {
  auto isFloats = [](Type type) { return isa<RankedTensorType>(type) && hasGradient(type); };
  SmallVector<unsigned> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (wrt.empty() && isFloats(type))
      arguments.push_back(index);
  if (wrt.empty() && arguments.empty())
    return function.emitError("expected an argument that is a tensor of floats, but '")
           << function.getSymName() << "' has none";
  for (int64_t index : wrt) {
    if (index < 0 || index >= int64_t(function.getNumArguments()))
      return function.emitError("expected an argument from 0 to ")
             << int64_t(function.getNumArguments()) - 1 << " in wrt, but got " << index;
    if (llvm::is_contained(arguments, static_cast<unsigned>(index)))
      return function.emitError("expected each argument once in wrt, but got ") << index << " twice";
    if (!isFloats(function.getArgumentTypes()[index]))
      return emitError(getArgumentLocation(function, index))
             << "expected a tensor of floats as argument " << index << ", whose gradient is asked for, but got "
             << function.getArgumentTypes()[index];
    arguments.push_back(index);
  }
  return arguments;
}

namespace {
struct Grad : resid::impl::GradBase<Grad> {
  using GradBase::GradBase;

  /// The rules come with the dialects, before any program is read.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ResidDialect, affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, scf::SCFDialect,
                    linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect>();
#define RESID_RULE_FAMILY(NAME) register##NAME##Rules(registry);
#include "passes/grad/RuleFamilies.def"
  }

  void runOnOperation() override {
    if (failed(differentiate()))
      signalPassFailure();
  }

  LogicalResult differentiate();
  FailureOr<func::FuncOp> findFunction();
  LogicalResult expand(func::FuncOp copy);
};
} // namespace

FailureOr<func::FuncOp> Grad::findFunction() {
  auto found = dyn_cast_or_null<func::FuncOp>(SymbolTable::lookupSymbolIn(getOperation(), function));
  if (!found)
    return getOperation().emitError("expected a function to differentiate, but '") << function << "' is none";
  if (!found.getBody().hasOneBlock())
    return found.emitError("expected a function with one block to differentiate, but '")
           << function << "' has " << found.getBody().getBlocks().size();
  SmallVector<StringRef> endings{"_value_and_grad"};
  if (mode == GradMode::Split)
    endings = {"_forward", "_backward"};
  for (StringRef ending : endings)
    if (Operation *taken = SymbolTable::lookupSymbolIn(getOperation(), function.getValue() + ending.str()))
      return taken->emitError("expected no function '") << function << ending << "', which differentiation makes";
  return found;
}

/// Of ops that stand for several, these have the rules.
LogicalResult Grad::expand(func::FuncOp copy) {
  OpPassManager manager(func::FuncOp::getOperationName());
  manager.addPass(createExpandBlocks());
  manager.addPass(createExpandAddNorm());
  return runPipeline(manager, copy);
}

LogicalResult Grad::differentiate() {
  FailureOr<func::FuncOp> found = findFunction();
  if (failed(found))
    return failure();
  FailureOr<SmallVector<unsigned>> arguments = findArguments(*found, wrt);
  if (failed(arguments))
    return failure();
  auto copy = cast<func::FuncOp>(found->clone());
  copy.setSymName(function + (mode == GradMode::Split ? "_forward" : "_value_and_grad"));
  SymbolTable(getOperation()).insert(copy, std::next(Block::iterator(*found)));
  copy.setPublic();
  if (succeeded(inlineCalls(copy)) && succeeded(expand(copy)) &&
      succeeded(resid::differentiate(copy, function + "_backward", *arguments, mode, save)))
    return success();
  copy.erase();
  return failure();
}
