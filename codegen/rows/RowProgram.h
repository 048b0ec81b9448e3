// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a row kernel, for every target: which phases there are, which inputs each reads, which values live across
// phases and where they are kept, which outputs are written when. Does not own the grouping (RowGroups) or the kernel's
// text (KernelBuilder).

#ifndef RESID_CODEGEN_ROWS_ROWPROGRAM_H
#define RESID_CODEGEN_ROWS_ROWPROGRAM_H

#include "codegen/kernels/Target.h"
#include "codegen/rows/RowGroups.h"

namespace mlir::resid::rows {

// Nobody else counts the phases. A statistics op has two numbers, one for its first pass over its operands and one for
// all further passes; the last phase of a program stores what is left.

/// The passes of a statistics op over its operands. The first one always runs, and once; the others run under
/// conditions, or more than once.
enum class RowPass { First, Further };

/// The phase of a pass of the statistics op at this position.
inline unsigned getPhase(unsigned statistics, RowPass pass) { return 2 * statistics + (pass == RowPass::Further); }

/// The phase after those of `count` statistics ops.
inline unsigned getPhaseBehind(unsigned count) { return 2 * count; }

/// The position of the statistics op that a phase belongs to, unless it is the last phase.
inline unsigned getStatisticsOf(unsigned phase) { return phase / 2; }

/// The last phase counts as a first pass: it runs once.
inline RowPass getPass(unsigned phase) { return phase % 2 == 0 ? RowPass::First : RowPass::Further; }

/// A value of the group that is used outside of it.
struct RowOutput {
  Value value;
  AffineMap map;
  /// The phase that stores it; values that are one element per row are stored after all phases.
  unsigned phase;
  bool alongColumns;
  /// Whether it is a sum down the rows, and the phase adds the row's terms to it.
  bool isAccumulated;
};

/// A row that values are stored to: by its position in the list of outputs, or in that of local rows.
struct RowPlace {
  enum Kind { Output, Local } kind;
  unsigned position;
  bool operator==(const RowPlace &other) const { return kind == other.kind && position == other.position; }
};

/// A value that is read back from a row in all phases after the one that computes it. In an output's row it is the
/// output's own value, stored early, or another value of the same type that stands there until the output's own is due.
struct KeptValue {
  RowPlace row;
  unsigned phase;
};

/// What is stored where.
struct RowStore {
  Value value;
  RowPlace row;
};

/// What one phase does: positions in the list of inputs, and rows that are read back.
struct RowPhase {
  SmallVector<unsigned> reads;
  SmallVector<RowPlace> readsBack;
  SmallVector<Value> computes;
  /// What it computes at other columns than the one at hand.
  SmallVector<Access> computesMoved;
};

/// Whether a caller could pass one buffer for an input and an output of these types: those of one element type, rank
/// and size as far as known. After a store to the output no phase reads such an input; so it is also the most that C
/// functions may allow (codegen/boundary/SharedBuffers).
bool mayShareBuffer(ShapedType input, ShapedType output);

/// Statistics ops stand in order of dependence; their positions give the numbers of the phases.
class RowProgram {
public:
  RowProgram(const RowGroup &group, kernels::LocalRowLimits limits);

  const RowSpace &getSpace() const { return group.space; }
  bool isMember(Operation *op) const { return op && llvm::is_contained(group.members, op); }
  AffineMap getDomain(Operation *member) const { return group.getDomain(member); }
  ArrayRef<StatisticsOpInterface> getStatistics() const { return statistics; }
  ArrayRef<Access> getInputs() const { return inputs; }
  ArrayRef<RowOutput> getOutputs() const { return outputs; }
  /// The element types of the local rows.
  ArrayRef<Type> getLocalRows() const { return localRows; }
  unsigned getLastPhase() const { return getPhaseBehind(statistics.size()); }

  /// Where a value is read back from in `phase`, if anywhere. At other columns, values are computed anew.
  std::optional<RowPlace> getRowOf(const Access &access, unsigned phase) const;
  /// The values that are stored in `phase`.
  SmallVector<RowStore> getStores(unsigned phase) const;

  /// Calls `visit` for everything outside of the group whose shape says sizes of the space, though its elements may not
  /// be read: inits and random numbers.
  void visitShapes(function_ref<void(const Access &)> visit) const;

  void print(raw_ostream &stream) const;

private:
  void collectOutputs();
  void collectStatistics();
  void plan();
  void keepTogether(ValueRange operands, unsigned phase);
  void keepStatisticsOperand(Value x, unsigned phase);
  bool keepInOutput(Value x, unsigned phase);
  void keepInLocalRow(Value x, unsigned phase);
  void storeEarly(RowOutput &output);
  bool isTaken(unsigned output) const;
  bool tryKeep(Value value, KeptValue place);
  /// What it takes to compute a value again: no more than reading it back, more rows of inputs, or random numbers, a
  /// division or a math function.
  enum class Repetition { Free, Cheap, Expensive };
  Repetition judgeRepetition(Value value) const;
  int64_t countRepetitions(Value value, unsigned phase) const;
  /// Fills `phases` from what is kept where.
  void simulate();
  void demand(const Access &access, unsigned phase);
  void printComputedAgain(raw_ostream &stream, unsigned phase) const;
  bool isLegal() const;
  void recordInput(const Access &access, unsigned phase);

  RowGroup group;
  kernels::LocalRowLimits limits;
  SmallVector<StatisticsOpInterface> statistics;
  SmallVector<Access> inputs;
  SmallVector<RowOutput> outputs;
  SmallVector<Type> localRows;
  DenseMap<Value, KeptValue> kept;
  SmallVector<RowPhase> phases;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWPROGRAM_H
