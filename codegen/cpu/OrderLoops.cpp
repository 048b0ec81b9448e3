// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the innermost loop of contractions on buffers, so that it runs along contiguous elements.

#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_ORDERLOOPS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

/// The loop along the last dimension of what `map` addresses.
std::optional<unsigned> getLastLoop(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

/// The parallel loop that should be innermost: it runs along the last dimension of the output and of at least one
/// input, and along no other dimension.
std::optional<unsigned> findInnermostLoop(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return std::nullopt;
  std::optional<unsigned> loop = getLastLoop(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  if (!loop || op.getIteratorTypesArray()[*loop] != utils::IteratorType::parallel)
    return std::nullopt;
  bool isAlongInput = false;
  for (AffineMap map : op.getIndexingMapsArray()) {
    bool isLast = getLastLoop(map) == loop;
    AffineMap leading = isLast ? map.dropResult(map.getNumResults() - 1) : map;
    if (leading.isFunctionOfDim(*loop))
      return std::nullopt;
    isAlongInput |= isLast && map != op.getIndexingMapsArray().back();
  }
  return isAlongInput ? loop : std::nullopt;
}

LogicalResult moveInnermost(linalg::LinalgOp op, unsigned loop) {
  if (loop + 1 == op.getNumLoops())
    return success();
  IRRewriter rewriter(op);
  FailureOr<linalg::GenericOp> generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!*generic)
    generic = linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return failure();
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < generic->getNumLoops(); ++i)
    if (i != loop)
      order.push_back(i);
  order.push_back(loop);
  return linalg::interchangeGenericOp(rewriter, *generic, order);
}

struct OrderLoops : public cpu::impl::OrderLoopsBase<OrderLoops> {
  void runOnOperation() override {
    SmallVector<std::pair<linalg::LinalgOp, unsigned>> work;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (std::optional<unsigned> loop = findInnermostLoop(op); loop && op.hasPureBufferSemantics())
        work.push_back({op, *loop});
    });
    for (auto [op, loop] : work)
      if (failed(moveInnermost(op, loop)))
        return signalPassFailure();
  }
};

} // namespace
