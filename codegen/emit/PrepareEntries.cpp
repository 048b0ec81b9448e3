// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions on tensors to functions with destinations.

#include "codegen/emit/Passes.h"
#include "codegen/emit/Signature.h"
#include "dialect/FunctionAttributes.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::resid::emit {
#define GEN_PASS_DEF_PREPAREENTRIES
#include "codegen/emit/Passes.h.inc"
} // namespace mlir::resid::emit

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::emit;

static FunctionType getImplementationType(MLIRContext *context, const KernelSignature &signature) {
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(context)};
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results))
    types.push_back(value.getBufferType());
  types.push_back(MemRefType::get({}, IntegerType::get(context, 32)));
  return FunctionType::get(context, types, {});
}

/// The results in the order in which they are computed. Bufferization may place a value in the destination of another
/// that is computed from it; so the former must have left for its own destination before the latter arrives.
static SmallVector<unsigned> orderResults(Operation *terminator) {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, terminator->getNumOperands()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    Operation *first = terminator->getOperand(a).getDefiningOp(), *second = terminator->getOperand(b).getDefiningOp();
    if (first == second)
      return a < b;
    return second && (!first || first->isBeforeInBlock(second));
  });
  return order;
}

/// Moves the body of `function` into a new private function after it.
static void rewriteFunction(func::FuncOp function, const KernelSignature &signature) {
  OpBuilder builder(function);
  Location loc = function.getLoc();
  auto implementation = func::FuncOp::create(builder, loc, signature.symbol + kImplementationSuffix.str(),
                                             getImplementationType(function.getContext(), signature));
  implementation.setPrivate();
  implementation->setAttr(kSignatureAttribute, signature.toAttribute(function.getContext()));
  Block *entry = implementation.addEntryBlock();
  for (auto [index, value] :
       llvm::enumerate(llvm::concat<const KernelValue>(signature.arguments, signature.results)))
    if (value.isStrided())
      implementation.setArgAttr(1 + index, kStridedAttribute, builder.getUnitAttr());
  builder.setInsertionPointToStart(entry);

  SmallVector<Value> replacements;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Value argument = entry->getArgument(1 + index);
    replacements.push_back(isa<TensorType>(type) ? bufferization::ToTensorOp::create(builder, loc, type, argument,
                                                                                     /*restrict=*/true)
                                                 : argument);
  }
  Operation *terminator = function.getBody().front().getTerminator();
  Block *body = &function.getBody().front();
  for (auto [argument, replacement] : llvm::zip_equal(body->getArguments(), replacements))
    argument.replaceAllUsesWith(replacement);
  entry->getOperations().splice(entry->end(), body->getOperations());

  builder.setInsertionPoint(terminator);
  for (unsigned index : orderResults(terminator))
    bufferization::MaterializeInDestinationOp::create(builder, terminator->getLoc(), /*result=*/Type(),
                                                      terminator->getOperand(index),
                                                      entry->getArgument(1 + function.getNumArguments() + index),
                                                      /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(builder, terminator->getLoc());
  terminator->erase();
  function.erase();
}

namespace {
struct PrepareEntries : resid::emit::impl::PrepareEntriesBase<PrepareEntries> {
  using PrepareEntriesBase::PrepareEntriesBase;

  void runOnOperation() override {
    SmallVector<std::pair<func::FuncOp, KernelSignature>> functions;
    llvm::StringSet<> exported;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic())
        continue;
      if (failed(verifyInterfaceTypes(function)))
        return signalPassFailure();
      FailureOr<KernelSignature> signature = computeSignature(function, prefix);
      if (failed(signature))
        return signalPassFailure();
      for (StringRef suffix : {"", "_dl", "_info", "_scratch_bytes"})
        if (!exported.insert(signature->symbol + suffix.str()).second) {
          function.emitError() << "expected names that differ, but '" << signature->symbol + suffix.str()
                               << "' is exported for another function too";
          return signalPassFailure();
        }
      functions.push_back({function, std::move(*signature)});
    }
    for (auto &[function, signature] : functions)
      rewriteFunction(function, signature);
  }
};
} // namespace
