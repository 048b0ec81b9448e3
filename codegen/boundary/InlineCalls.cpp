// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls between functions to the bodies of their callees.

#include "codegen/boundary/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::resid::boundary {
#define GEN_PASS_DEF_INLINECALLS
#include "codegen/boundary/Passes.h.inc"
} // namespace mlir::resid::boundary

using namespace mlir;

namespace {

/// A depth-first walk over the call graph: a callee has no calls left when it is inlined.
class CallInliner {
public:
  explicit CallInliner(ModuleOp module) : symbols(module) {}

  LogicalResult run(func::FuncOp function);

private:
  enum class State { New, Open, Done };

  LogicalResult inlineCall(func::CallOp call);

  SymbolTable symbols;
  llvm::DenseMap<Operation *, State> states;
};

} // namespace

LogicalResult CallInliner::inlineCall(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitError() << "expected a function with a body, but '" << call.getCallee() << "' has none";
  if (states.lookup(callee) == State::Open)
    return call.emitError() << "expected calls without recursion, but '" << call.getCallee() << "' leads to itself";
  if (failed(run(callee)))
    return failure();
  if (!callee.getBody().hasOneBlock())
    return call.emitError() << "expected a function of one block, but '" << call.getCallee() << "' has "
                            << callee.getBody().getBlocks().size();
  Block &body = callee.getBody().front();
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, value] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  return success();
}

LogicalResult CallInliner::run(func::FuncOp function) {
  if (states.lookup(function) == State::Done)
    return success();
  states[function] = State::Open;
  SmallVector<func::CallOp> calls;
  WalkResult result = function.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      calls.push_back(call);
    if (!isa<func::CallIndirectOp>(op))
      return WalkResult::advance();
    op->emitError("a call of a function value is not available: expected a call of a function by name");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  for (func::CallOp call : calls)
    if (failed(inlineCall(call)))
      return failure();
  states[function] = State::Done;
  return success();
}

/// A step that a caller gives as a constant shows only here; upstream's patterns would take such a loop away.
static LogicalResult verifySteps(ModuleOp module) {
  return failure(module
                     .walk([](scf::ForOp loop) {
                       std::optional<int64_t> step = getConstantIntValue(loop.getStep());
                       if (!step || (loop.getUnsignedCmp() ? *step != 0 : *step > 0))
                         return WalkResult::advance();
                       loop.emitOpError() << "expected a step of 1 or more, but got " << *step;
                       return WalkResult::interrupt();
                     })
                     .wasInterrupted());
}

namespace {
struct InlineCalls : resid::boundary::impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    CallInliner inliner(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.isPublic() && failed(inliner.run(function)))
        return signalPassFailure();
    if (failed(verifySteps(getOperation())))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      if (function.isPrivate())
        function.erase();
  }
};
} // namespace
