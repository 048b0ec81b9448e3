// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives each step of a loop memory of its own for what the steps keep to themselves: in one array for all steps, or on
// the stack.

#include "codegen/buffers/Passes.h"
#include "codegen/kernels/IndependentLoops.h"
#include "codegen/kernels/LaneLoops.h"
#include "mlir/IR/Matchers.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_SPREADTEMPORARIES
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

/// Whether a temporary is loaded and stored element by element alone.
static bool hasElementUsersOnly(memref::AllocOp temporary) {
  return llvm::all_of(temporary->getUsers(),
                      [](Operation *user) { return isa<memref::LoadOp, memref::StoreOp>(user); });
}

/// The temporaries of the steps of a loop that works on single elements; none where it does more.
static SmallVector<memref::AllocOp> findTemporaries(scf::ForOp loop) {
  SmallVector<memref::AllocOp> temporaries;
  if (!loop.getInitArgs().empty() || !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !kernels::hasElementsOnly(loop, /*withTemporaries=*/true))
    return temporaries;
  loop.walk([&](memref::AllocOp temporary) { temporaries.push_back(temporary); });
  if (!llvm::all_of(temporaries, hasElementUsersOnly))
    temporaries.clear();
  return temporaries;
}

/// The number of the step comes last, so that neighbouring steps have neighbouring elements.
static void spread(memref::AllocOp temporary, scf::ForOp loop) {
  OpBuilder builder(loop);
  MemRefType type = temporary.getType();
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(ShapedType::kDynamic);
  Value all = memref::AllocOp::create(builder, temporary.getLoc(), MemRefType::get(shape, type.getElementType()),
                                      loop.getUpperBound());
  for (Operation *user : llvm::make_early_inc_range(temporary->getUsers())) {
    // A load's operands are the buffer and the places; a store has its value before them.
    unsigned buffer = isa<memref::StoreOp>(user) ? 1 : 0;
    user->setOperand(buffer, all);
    user->insertOperands(user->getNumOperands(), loop.getInductionVar());
  }
  temporary.erase();
}

static void keepOnStack(const kernels::LaneLoop &loop) {
  for (Operation *temporary : loop.getTemporaries()) {
    OpBuilder builder(temporary);
    auto type = cast<MemRefType>(temporary->getResultTypes().front());
    temporary->replaceAllUsesWith(memref::AllocaOp::create(builder, temporary->getLoc(), type));
    temporary->erase();
  }
}

namespace {

struct SpreadTemporaries : buffers::impl::SpreadTemporariesBase<SpreadTemporaries> {
  using SpreadTemporariesBase::SpreadTemporariesBase;

  void runOnOperation() override {
    if (!onStack)
      return spreadAll();
    getOperation()->walk<WalkOrder::PreOrder>([](scf::ForOp loop) {
      if (std::optional<kernels::LaneLoop> lanes = kernels::LaneLoop::find(loop, /*areArgumentsApart=*/true))
        keepOnStack(*lanes);
    });
  }

  void spreadAll() {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      loops.push_back(loop);
      return findTemporaries(loop).empty() ? WalkResult::advance() : WalkResult::skip();
    });
    for (scf::ForOp loop : loops)
      for (memref::AllocOp temporary : findTemporaries(loop))
        spread(temporary, loop);
  }
};

} // namespace
