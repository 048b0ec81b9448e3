// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one thread does for one point of a loop nest. Not: which points a thread has (LoopNests.h, TiledMoves.h,
// TiledSums.h).

#ifndef RESID_CODEGEN_CUDA_POINTS_POINTEMITTER_H
#define RESID_CODEGEN_CUDA_POINTS_POINTEMITTER_H

#include "codegen/builder/Code.h"
#include "codegen/cuda/SharedArray.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::resid::cuda {

/// The loops whose indices tell elements of every result apart, slowest first; the last dimension of the first result
/// comes last, so that neighbouring threads write neighbouring elements.
SmallVector<unsigned> findPointLoops(linalg::GenericOp op);
/// Of all loops; i64.
SmallVector<Value> computeSizes(Code &code, linalg::GenericOp op);
/// How many points a nest has; i64.
Value countPoints(Code &code, linalg::GenericOp op);
/// The loop along which an operand has its neighbours; nothing where it is none, or elements have gaps between them.
std::optional<unsigned> findFastLoop(linalg::GenericOp op, OpOperand &operand);

/// Emits a point of a nest. Its results stay in registers over all other loops where these do not change their places.
class PointEmitter {
public:
  PointEmitter(Code &code, linalg::GenericOp op);

  /// The point with this number (i64).
  void emit(Value point);
  /// The point at these indices of all loops, of which those that are no points begin at 0.
  void emitAt(SmallVector<Value> indices);
  /// Of all loops at the point with this number (i64).
  SmallVector<Value> getIndices(Value point);

  /// Parts of a point: the elements of results before, the body once, and the elements after.
  SmallVector<Value> loadResults(ArrayRef<Value> indices);
  SmallVector<Value> emitBody(ArrayRef<Value> indices, ValueRange results);
  void storeResults(ArrayRef<Value> indices, ValueRange results);
  Value load(OpOperand &operand, ArrayRef<Value> indices);

  /// Elements of inputs that are known at the point to be emitted.
  DenseMap<OpOperand *, Value> known;

private:
  SmallVector<Value> emitLoops(unsigned next, SmallVector<Value> indices, ValueRange results);
  /// Where the element of an operand is.
  SmallVector<Value> locate(OpOperand &operand, ArrayRef<Value> indices);

  Code &code;
  linalg::GenericOp op;
  SmallVector<unsigned> points, others;
  SmallVector<Value> sizes;
  bool isFixed;
};

/// Inputs of a nest whose elements go from thread to thread of a block through shared memory.
class StagedInputs {
public:
  /// `operands`: positions of the inputs among the op's operands. There are `count` places for the elements of each.
  StagedInputs(Code &code, linalg::GenericOp op, ArrayRef<unsigned> operands, int64_t count);

  /// Loads the elements at these indices of all loops, and stores them at `place` (i64).
  void store(PointEmitter &points, Value place, ArrayRef<Value> indices);
  /// Makes the elements at `place` (i64) known for the point that is emitted next.
  void load(PointEmitter &points, Value place);

private:
  Code &code;
  SmallVector<std::pair<OpOperand *, SharedArray>> inputs;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_POINTEMITTER_H
