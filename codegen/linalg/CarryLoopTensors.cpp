// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass resid-carry-loop-tensors: what a loop carries stays in one buffer.

#include "codegen/linalg/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid {
#define GEN_PASS_DEF_CARRYLOOPTENSORS
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;

/// Whether a loop alone reads the tensor: its sizes are not what it holds.
static bool hasOneReader(Value tensor) {
  return llvm::count_if(tensor.getUsers(), [](Operation *user) { return !isa<tensor::DimOp>(user); }) == 1;
}

/// Whether `value` is what inner loops carried on from `start`, and nothing else reads the start: these loops write
/// into its buffer themselves.
static bool isCarriedByInnerLoops(Value value, Value start) {
  while (auto inner = value.getDefiningOp<scf::ForOp>()) {
    value = inner.getTiedLoopInit(cast<OpResult>(value))->get();
    if (!hasOneReader(value))
      return false;
  }
  return value == start;
}

namespace {

/// Writes each tensor that a loop hands on into the tensor it was handed.
class CarriedTensors {
public:
  explicit CarriedTensors(scf::ForOp loop)
      : loc(loop.getLoc()), yield(loop.getBody()->getTerminator()), builder(yield) {
    for (auto [next, carried] : llvm::zip_equal(yield->getOpOperands(), loop.getRegionIterArgs()))
      if (isa<RankedTensorType>(carried.getType()) && !isCarriedByInnerLoops(next.get(), carried))
        pending.push_back({&next, carried});
  }

  void write();

private:
  struct Write {
    OpOperand *next;
    BlockArgument carried;
  };

  bool isStillRead(BlockArgument carried);
  void keepOldValue(BlockArgument carried);

  Location loc;
  Operation *yield;
  OpBuilder builder;
  SmallVector<Write> pending;
};

} // namespace

bool CarriedTensors::isStillRead(BlockArgument carried) {
  return llvm::any_of(pending,
                      [&](const Write &write) { return write.carried != carried && write.next->get() == carried; });
}

void CarriedTensors::keepOldValue(BlockArgument carried) {
  auto copy = bufferization::AllocTensorOp::create(builder, loc, cast<RankedTensorType>(carried.getType()),
                                                   /*dynamicSizes=*/ValueRange(), /*copy=*/carried);
  for (Write &write : pending)
    if (write.next->get() == carried)
      write.next->set(copy);
}

/// A tensor that another one takes over is overwritten after it was read. Where tensors change places none is the first
/// one: then an old value is kept in a copy.
void CarriedTensors::write() {
  llvm::SmallDenseMap<Value, Value> written;
  while (!pending.empty()) {
    auto *free = llvm::find_if(pending, [&](const Write &write) { return !isStillRead(write.carried); });
    if (free == pending.end()) {
      free = pending.begin();
      keepOldValue(free->carried);
    }
    auto [next, carried] = *free;
    pending.erase(free);
    // What is handed on twice is read where it was written first.
    Value &result = written[next->get()];
    Value source = result ? result : next->get();
    result =
        bufferization::MaterializeInDestinationOp::create(builder, loc, carried.getType(), source, carried).getResult();
    next->set(result);
  }
}

namespace {
struct CarryLoopTensors : resid::impl::CarryLoopTensorsBase<CarryLoopTensors> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) { CarriedTensors(loop).write(); });
  }
};
} // namespace
