// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tidies up what the lowering of kernels leaves, in one walk. Upstream's canonicalizer and CSE reach a fixed point by
// visiting each op again whenever something near it changes, which took longer than the lowering itself.

#include "codegen/arithmetic/Passes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/FoldUtils.h"
#include "llvm/ADT/ScopedHashTable.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_FOLDANDSHARE
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

/// Ops are the same that compute the same of the same values, wherever they stand.
struct SameComputation : public llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getTombstoneKey() || a == getEmptyKey() || b == getTombstoneKey() || b == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a), const_cast<Operation *>(b),
                                                OperationEquivalence::IgnoreLocations);
  }
};

/// One function. Operands come before their users, so that one walk forth sees all there is to fold.
class Folder {
public:
  explicit Folder(MLIRContext *context) : folder(context), rewriter(context) {}

  void visit(Region &region);

private:
  using Computations = llvm::ScopedHashTable<Operation *, Operation *, SameComputation>;

  void visit(Block &block);
  bool visit(Operation *op);
  bool share(Operation *op);
  bool enterBranch(scf::IfOp op);
  bool enterLoop(scf::ForOp op);
  void replaceByBody(Operation *op, Block &body, ValueRange arguments);

  OperationFolder folder;
  IRRewriter rewriter;
  Computations computations;
};

} // namespace

/// The first block comes before all others; which of these come before which is not asked.
void Folder::visit(Region &region) {
  if (region.empty())
    return;
  Computations::ScopeTy scope(computations);
  visit(region.front());
  for (Block &block : llvm::drop_begin(region)) {
    Computations::ScopeTy blockScope(computations);
    visit(block);
  }
}

void Folder::visit(Block &block) {
  for (Operation *op = &block.front(); op;) {
    // What takes the place of `op` stands after what stood before it.
    Operation *previous = op->getPrevNode(), *next = op->getNextNode();
    op = visit(op) ? (previous ? previous->getNextNode() : &block.front()) : next;
  }
}

/// Whether other ops have taken the place of `op` that are still to be visited.
bool Folder::visit(Operation *op) {
  if (isOpTriviallyDead(op)) {
    rewriter.eraseOp(op);
    return false;
  }
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    folder.insertKnownConstant(op, constant);
    return false;
  }
  bool isInPlace = false;
  if (succeeded(folder.tryToFold(op, &isInPlace)) && !isInPlace)
    return false;
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && enterBranch(branch))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && enterLoop(loop))
    return true;
  if (share(op))
    return false;
  for (Region &region : op->getRegions())
    visit(region);
  return false;
}

/// Replaces `op` by one before it that computes the same.
bool Folder::share(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() == 0 || !isMemoryEffectFree(op))
    return false;
  if (Operation *other = computations.lookup(op)) {
    rewriter.replaceOp(op, other->getResults());
    return true;
  }
  computations.insert(op, op);
  return false;
}

void Folder::replaceByBody(Operation *op, Block &body, ValueRange arguments) {
  Operation *yield = body.getTerminator();
  rewriter.inlineBlockBefore(&body, op, arguments);
  rewriter.replaceOp(op, yield->getOperands());
  rewriter.eraseOp(yield);
}

/// Of a condition that is known, one branch is left.
bool Folder::enterBranch(scf::IfOp op) {
  std::optional<int64_t> condition = getConstantIntValue(op.getCondition());
  if (!condition)
    return false;
  if (Region &branch = *condition != 0 ? op.getThenRegion() : op.getElseRegion(); !branch.empty())
    replaceByBody(op, branch.front(), {});
  else
    rewriter.eraseOp(op);
  return true;
}

/// A loop of one turn is its body, one of none what it starts from.
bool Folder::enterLoop(scf::ForOp op) {
  std::optional<APInt> turns = op.getStaticTripCount();
  if (!turns || turns->ugt(1))
    return false;
  if (turns->isZero()) {
    rewriter.replaceOp(op, op.getInitArgs());
    return true;
  }
  SmallVector<Value> arguments = {op.getLowerBound()};
  llvm::append_range(arguments, op.getInitArgs());
  replaceByBody(op, *op.getBody(), arguments);
  return true;
}

/// Users come after their operands, so that one walk back sees all there is to erase.
static void eraseDeadOps(RewriterBase &rewriter, Region &region) {
  for (Block &block : llvm::reverse(region))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      for (Region &inner : op.getRegions())
        eraseDeadOps(rewriter, inner);
      if (isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
    }
}

namespace {
struct FoldAndShare : public arithmetic::impl::FoldAndShareBase<FoldAndShare> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      Folder(&getContext()).visit(function.getFunctionBody());
      eraseDeadOps(rewriter, function.getFunctionBody());
    }
  }
};
} // namespace
