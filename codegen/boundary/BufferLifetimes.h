// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From where to where in a function the contents of a temporary matter. Does not own what that is used for.

#ifndef RESID_CODEGEN_BOUNDARY_BUFFERLIFETIMES_H
#define RESID_CODEGEN_BOUNDARY_BUFFERLIFETIMES_H

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::resid::boundary {

/// The operations from `first` to `last`, both included, by their numbers in the order of the text.
struct LiveRange {
  unsigned first, last;

  bool overlaps(const LiveRange &other) const { return first <= other.last && other.first <= last; }
  void include(const LiveRange &other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

/// Of a function of one block whose loops and branches are regions. Operations run one after the other, in the order of
/// their numbers, except that loops come back to their first one.
class BufferLifetimes {
public:
  /// `isForDevice`: an element that is loaded is read where what is computed from it is used, not where the load
  /// stands.
  BufferLifetimes(func::FuncOp function, bool isForDevice);

  /// From the first operation that touches the buffer `allocation`, through whatever view, to the last. All of a loop
  /// where an operation in the loop touches a buffer that was made before it.
  LiveRange getRange(Value allocation) const;
  /// Whether a buffer that is made in a loop may be what the next iteration, or the end of the loop, is handed.
  bool isCarriedByLoop(Value allocation) const;

private:
  void number(Operation *op);
  LiveRange getReach(Operation *user, Operation *home) const;

  func::FuncOp function;
  bool isForDevice;
  BufferViewFlowAnalysis flow;
  DenseMap<Operation *, LiveRange> numbers;
  unsigned next = 0;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_BUFFERLIFETIMES_H
