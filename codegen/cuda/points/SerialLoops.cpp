// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/SerialLoops.h"

#include "codegen/cuda/points/GuardedElements.h"
#include "codegen/cuda/points/MoveLoads.h"
#include "codegen/kernels/Extent.h"
#include "codegen/kernels/IndependentLoops.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;

//===------------------------------------------- slices -----------------------------------------------------------===//

/// Whether nothing but elements and slices is read and written in the loops, and a number in memory says where.
static bool hasPlacesInMemory(scf::ForOp loops) {
  bool isPlaced = false;
  bool isOther =
      loops
          ->walk([&](Operation *op) {
            if (auto slice = dyn_cast<memref::SubViewOp>(op))
              isPlaced |= llvm::any_of(slice.getOffsets(), isFromMemory);
            // A copy to or from a slice becomes a linalg op.
            bool isPart =
                isa<linalg::LinalgOp, memref::CopyOp, memref::LoadOp, memref::StoreOp, scf::ForOp, scf::IfOp>(op) ||
                isMemoryEffectFree(op) || isIndexCondition(op) || isa_and_present<linalg::LinalgOp>(op->getParentOp());
            return isPart ? WalkResult::advance() : WalkResult::interrupt();
          })
          .wasInterrupted();
  return isPlaced && !isOther;
}

void cuda::takeSlicesApart(ModuleOp module) {
  SmallVector<scf::ForOp> found;
  module.walk<WalkOrder::PreOrder>([&](scf::ForOp loops) {
    if (!hasPlacesInMemory(loops))
      return WalkResult::advance();
    found.push_back(loops);
    return WalkResult::skip();
  });
  if (found.empty())
    return;
  IRRewriter rewriter(module.getContext());
  for (scf::ForOp loops : found) {
    loops.walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    });
    SmallVector<linalg::LinalgOp> nests;
    loops.walk([&](linalg::LinalgOp nest) { nests.push_back(nest); });
    for (linalg::LinalgOp nest : nests) {
      rewriter.setInsertionPoint(nest);
      if (succeeded(linalg::linalgOpToLoops(rewriter, nest)))
        rewriter.eraseOp(nest);
    }
  }
  RewritePatternSet patterns(module.getContext());
  memref::populateFoldMemRefAliasOpPatterns(patterns);
  (void)applyPatternsGreedily(module, std::move(patterns));
  module.walk([&](affine::AffineApplyOp apply) {
    rewriter.setInsertionPoint(apply);
    std::optional<SmallVector<Value>> values =
        affine::expandAffineMap(rewriter, apply.getLoc(), apply.getAffineMap(), apply.getOperands());
    if (values)
      rewriter.replaceOp(apply, *values);
  });
}

//===------------------------------------------- which loops ------------------------------------------------------===//

static bool isSerial(scf::ForOp loops) {
  bool stores = loops->walk([](memref::StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return stores && loops.getNumResults() == 0 && hasElementsOnly(loops);
}

/// The outermost serial loops around the op.
static scf::ForOp findOutermost(Operation *op, function_ref<bool(scf::ForOp)> isOne) {
  scf::ForOp found;
  for (; op; op = op->getParentOp())
    if (auto loops = dyn_cast<scf::ForOp>(op); loops && isOne(loops))
      found = loops;
  return found;
}

static scf::ForOp findSerial(Operation *op) {
  return findOutermost(op, [](scf::ForOp loops) { return isSerial(loops); });
}

scf::ForOp cuda::findSerialLoops(Operation *op) {
  return findOutermost(op, [](scf::ForOp loops) { return isSerial(loops) || hasPlacesInMemory(loops); });
}

bool SerialLoops::contain(Operation *op) { return findSerial(op) != nullptr; }

/// Whether threads may share out a loop in `loops`: how often it runs is known before them.
static bool isShareable(scf::ForOp loops, scf::ForOp loop) {
  auto isKnown = [&](Value bound) { return !loops.getRegion().isAncestor(bound.getParentRegion()); };
  return loop.getNumResults() == 0 && loop.getInductionVar().getType().isIndex() && isKnown(loop.getLowerBound()) &&
         isKnown(loop.getUpperBound()) && isKnown(loop.getStep()) && isIndependent(loop, loops);
}

SerialLoops::SerialLoops(scf::ForOp loops) : TakingOp(loops) {
  loops.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!shared && isShareable(loops, loop))
      shared = loop;
  });
}

std::optional<SerialLoops> SerialLoops::find(Operation *op) {
  auto loops = dyn_cast<scf::ForOp>(op);
  if (!loops || findSerial(loops) != loops)
    return std::nullopt;
  SerialLoops found(loops);
  return found.takeAll() ? std::optional(std::move(found)) : std::nullopt;
}

void SerialLoops::collectMoreFacts(SmallVectorImpl<Attribute> &facts) const {
  int64_t number = 0, found = -1;
  op->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (loop == shared)
      found = number;
    ++number;
  });
  facts.push_back(Builder(op->getContext()).getI64IntegerAttr(found));
}

//===------------------------------------------- the kernel -------------------------------------------------------===//

void SerialLoops::rebuild(Code &code, KernelBody &body, Value point) const {
  IRMapping mapping = body.mapping;
  Operation *copy = code.clone(*op, mapping);
  guardElements(copy);
  if (!shared)
    return;
  // The iterations of the shared loop become the one of the point.
  auto loop = cast<scf::ForOp>(mapping.lookup(scf::ForOp(shared).getOperation()));
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), point);
  index = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, index, loop.getStep()),
                                loop.getLowerBound());
  loop.getInductionVar().replaceAllUsesWith(index);
  for (Operation &inner : llvm::make_early_inc_range(loop.getBody()->without_terminator()))
    inner.moveBefore(loop);
  loop.erase();
}

Value SerialLoopsKernel::countPoints(Code &code, KernelUse &use) {
  // Equal loops share the one that the first of them shares.
  scf::ForOp loop = SerialLoops::find(use.op)->getShared();
  if (!loop)
    return code.constant(1);
  auto wide = [&](Value number) { return castToI64(code, code.getLoc(), number); };
  Value length = code.subtract(wide(loop.getUpperBound()), wide(loop.getLowerBound()));
  return code.ceilDivide(code.max(length, code.constant(0)), wide(loop.getStep()));
}

PointKernel::EmitPoint SerialLoopsKernel::emitKernel(Code &code, KernelBody &body) {
  loops.rebuildAround(code, body);
  return [this, &code, &body](Value point) { loops.rebuild(code, body, point); };
}
