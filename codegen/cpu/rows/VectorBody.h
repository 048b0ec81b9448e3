// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a phase on several vectors of columns at a time. Not: which columns those are (VectorRows.h).

#ifndef RESID_CODEGEN_CPU_ROWS_VECTORBODY_H
#define RESID_CODEGEN_CPU_ROWS_VECTORBODY_H

#include "codegen/cpu/choice/StepShape.h"
#include "codegen/cpu/rows/ColumnOrder.h"
#include "codegen/cpu/rows/VectorFunction.h"
#include "codegen/rows/ColumnMoves.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace mlir::resid::cpu {

/// Where a row that is read lies.
struct RowSource {
  Value pointer;
  /// Whether whole steps can be read even where columns are absent.
  bool hasRoom = false;
};

/// One row of memory that a value is written to.
struct RowTarget {
  Value pointer;
  /// Whether whole steps can be written even where columns are absent. So it is with `otherwise`.
  bool hasRoom = false;
  /// Where given (i1): full steps are written past the cache if it holds, and `pointer` is aligned to cache lines then.
  Value aligned = {};
  /// Where values go if it does not hold.
  Value otherwise = {};
  /// Whether they are there already, since another target says so.
  bool isThere = false;
};

/// Memory that is fetched into the caches while a phase runs.
struct Prefetch {
  /// Where the element that belongs to column 0 lies.
  Value pointer;
  Type elementType;
  /// Levels of the cache from this one on: 1 or 2.
  unsigned level;
  /// Whether it is going to be written.
  bool isForStore = false;
};

/// Where the rows that a phase loads from and stores to lie.
struct RowPlaces {
  std::function<RowSource(rows::LoadOp)> source;
  std::function<SmallVector<RowTarget>(rows::StoreOp)> targets;
  /// The chain of a sum down the rows, which has room for whole steps.
  std::function<Value(rows::AccumulateOp)> chain;
  /// Asked for at each full step, and at one of which columns are absent.
  SmallVector<Prefetch> prefetches, prefetchesOfTail;
};

/// Emits a phase's body on `parts` vectors of `lanes` columns. Made before the loops over the columns: what the body
/// uses from above is spread over vectors there.
class VectorBody {
public:
  using Parts = SmallVector<Value, 4>;

  VectorBody(VectorFunction &function, rows::PhaseOp phase, const IRMapping &mapping, const RowPlaces &places);

  int64_t getLanes() const { return lanes; }
  int64_t getParts() const { return parts; }
  ColumnOrder getOrder() const { return order; }
  /// Columns per step.
  int64_t getColumns() const { return lanes * parts; }

  /// The columns from `column` (i64) on: all, or those that are `present` where that is given. Gives the yielded
  /// values, without the last parts where it is known that none of their columns is present. What a value is in lanes
  /// that are not present is not said. `drawn`: what `draw` gave for these columns; drawn here where it is empty.
  SmallVector<Parts> emit(Value column, std::optional<PresentColumns> present = {}, ValueRange drawn = {});
  /// emit() without the stores, which emitStores() emits afterwards.
  SmallVector<Parts> emitWithoutStores(Value column, std::optional<PresentColumns> present = {}, ValueRange drawn = {});
  void emitStores();
  /// Several steps of a row, operation by operation, so that what one of them computes at columns of another is taken
  /// from there. `first`: their first columns. Without random numbers.
  static void emitTogether(MutableArrayRef<VectorBody> steps, ArrayRef<int64_t> first);
  /// The same, but for the terms of sums down the rows, which it gives, one after the other in the order of the body,
  /// in consecutive columns.
  SmallVector<Parts> emitTerms(Value column, std::optional<PresentColumns> present = {});
  /// Adds terms to the chains, or replaces what is there, for the columns of the last step.
  void storeTerms(ArrayRef<Parts> terms, bool isFirst);
  /// Whether random numbers shall be drawn a step before their use. The generator is one long chain of operations, and
  /// so is what is done with its numbers; a processor sees them as independent of each other only if they are of
  /// different steps. Numbers of a step fill two registers, which are worth it where there are 16 as well.
  bool drawsAhead() const { return !draws.empty() && target.isX86; }
  /// The random numbers of all columns from `column` (i64) on, two vectors per operation.
  SmallVector<Value> draw(Value column);
  /// Which lanes of the part were present in the last step; null where all were.
  Value getMask(int64_t part);

private:
  void begin(Value column, std::optional<PresentColumns> present, ValueRange drawn);
  bool takeMoved(Operation *op, MutableArrayRef<VectorBody> steps);
  std::optional<Parts> takeFromStep(const rows::Twin &twin);
  std::optional<Parts> takeFromSteps(const rows::Twin &twin, MutableArrayRef<VectorBody> steps);
  Parts evaluate(Value value);
  /// bf16 in even-odd order as it is in memory: one vector of i16 for two parts.
  Parts evaluateJoined(Value value);
  void emitOperation(Operation *op);
  void emitElementwise(Operation *op);
  /// The width of a vector of f32: half a register beside f64.
  unsigned getPackedBits() const { return 32 * lanes; }
  void emitWidening(Operation *op);
  bool isNarrowing(Operation *op) const;
  bool hasPackedConversion() const;
  void emitNarrowing(Operation *op);
  Value isAnyLane(Value mask);
  Value isAnySubnormal(const Parts &wide);
  Parts quietNaNs(const Parts &wide);
  Value packPair(Value first, Value second);
  Value roundPair(Value first, Value second);
  Value roundQuietPair(Value first, Value second);
  Parts narrowPairs(const Parts &wide);
  void emitRandomHalf(rows::RandomHalfOp half);
  void emitColumnNumber(Operation *op);

  void emitLoad(rows::LoadOp load);
  bool widensByShuffles(rows::LoadOp load) const;
  void emitWideningLoad(rows::LoadOp load);
  void emitStore(rows::StoreOp store);
  Parts evaluateTerm(rows::AccumulateOp term);
  void storeTerm(rows::AccumulateOp term, const Parts &values, bool isFirst);
  void emitPrefetch(const Prefetch &prefetch);
  int64_t countParts();

  Type getMemoryType(Type element) const;
  Value address(Value pointer, Type element, int64_t first);
  bool hasMaskedAccess(Type element) const;
  Value loadMoved(AffineExpr move, Value pointer, VectorType type, int64_t first);
  Parts loadColumns(RowSource row, VectorType type, AffineExpr move);
  Value loadPresent(Value pointer, VectorType type, int64_t first);
  Value loadPieces(Value pointer, VectorType type, int64_t first);
  Parts arrangeForMemory(Value value);
  Parts loadThroughBuffer(Value pointer, VectorType type);
  void storeThroughBuffer(const Parts &values, Value pointer, VectorType type);
  void copyPresent(Type element, Value from, Value to);
  void storePresent(const Parts &values, Value pointer, bool nonTemporal);
  void storePieces(Value value, Value pointer, int64_t first);
  void storeStep(const Parts &values, const RowTarget &row);
  Parts fillRegisters(const Parts &values);
  void storeRegisters(const Parts &registers, Value pointer, bool nonTemporal);
  Value getBuffer(Type element);

  VectorFunction &function;
  Code &builder;
  Location loc;
  rows::PhaseOp phase;
  const IRMapping &mapping;
  const RowPlaces &places;
  const CPUTarget &target;
  RowTail &tail;
  int64_t lanes, parts;
  ColumnOrder order;
  /// Values from above, and constants of the body, on a vector.
  DenseMap<Value, Value> spread;
  /// On parts. A value of bf16 in even-odd order may be in `joined` only.
  DenseMap<Value, Parts> values, joined;
  /// Values of bf16 that were loaded in consecutive order, as f32.
  DenseMap<Value, Parts> widened;
  SmallVector<rows::RandomHalfOp> draws;
  DenseMap<Value, rows::Twin> twins;
  SmallVector<Value> drawnHere;
  bool withStores = true, withTerms = true;
  ValueRange drawn;
  Value column;
  /// The first column of the step, where it is known.
  std::optional<int64_t> start;
  std::optional<PresentColumns> present;
  /// How many parts of the step are worked on: an even number where anything takes them by twos.
  int64_t usedParts = 0;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_VECTORBODY_H
