// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InlineCalls.h.

#include "dialect/InlineCalls.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

class CallInliner {
public:
  explicit CallInliner(func::FuncOp function)
      : symbols(SymbolTable::getNearestSymbolTable(function)), chain{function} {}

  LogicalResult run(Operation *root);

private:
  FailureOr<Block *> findBody(func::CallOp call);
  LogicalResult inlineCall(func::CallOp call);

  SymbolTable symbols;
  /// The functions from the first caller to where the walk is.
  SmallVector<Operation *> chain;
};

} // namespace

FailureOr<Block *> CallInliner::findBody(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitError() << "expected a function with a body, but '" << call.getCallee() << "' has none";
  if (llvm::is_contained(chain, callee))
    return call.emitError() << "expected calls without recursion, but '" << call.getCallee() << "' leads to itself";
  if (!callee.getBody().hasOneBlock())
    return call.emitError() << "expected a function of one block, but '" << call.getCallee() << "' has "
                            << callee.getBody().getBlocks().size();
  return &callee.getBody().front();
}

LogicalResult CallInliner::inlineCall(func::CallOp call) {
  FailureOr<Block *> body = findBody(call);
  if (failed(body))
    return failure();
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map((*body)->getArguments(), call.getOperands());
  SmallVector<Operation *> copies;
  for (Operation &op : (*body)->without_terminator())
    copies.push_back(builder.clone(op, mapping));
  for (auto [result, value] : llvm::zip_equal(call.getResults(), (*body)->getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  chain.push_back((*body)->getParentOp());
  for (Operation *copy : copies)
    if (failed(run(copy)))
      return failure();
  chain.pop_back();
  return success();
}

LogicalResult CallInliner::run(Operation *root) {
  SmallVector<func::CallOp> calls;
  root->walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls)
    if (failed(inlineCall(call)))
      return failure();
  return success();
}

LogicalResult resid::inlineCalls(func::FuncOp function) { return CallInliner(function).run(function); }
