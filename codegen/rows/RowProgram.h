// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a row kernel, for every target: which phases there are, which inputs each reads, which values live across
// phases and where they are kept, which outputs are written when. Does not own the grouping (RowGroups) or the kernel's
// text (KernelBuilder).

#ifndef RESID_CODEGEN_ROWS_ROWPROGRAM_H
#define RESID_CODEGEN_ROWS_ROWPROGRAM_H

#include "codegen/rows/PhaseNumbers.h"
#include "codegen/rows/RowGroups.h"

namespace mlir::resid::rows {

/// A value of the group that is used outside of it.
struct RowOutput {
  Value value;
  AffineMap map;
  /// The phase that stores it; values that are one element per row are stored after all phases.
  unsigned phase;
  bool alongColumns;
};

/// A value that is read back from an output's row in all phases after the one that computes it: the output's own value,
/// stored early, or another value of the same type that stands there until the output's own is due.
struct KeptValue {
  unsigned output;
  unsigned phase;
};

/// What one phase does: positions in the lists of inputs and outputs.
struct RowPhase {
  SmallVector<unsigned> reads;
  SmallVector<unsigned> readsBack;
  SmallVector<Value> computes;
};

/// Whether a caller could pass one buffer for an input and an output of these types: those of one element type, rank
/// and size as far as known. After a store to the output no phase reads such an input; so it is also the most that C
/// functions may allow (codegen/boundary/SharedBuffers).
bool mayShareBuffer(ShapedType input, ShapedType output);

/// Statistics ops stand in order of dependence; their positions give the numbers of the phases (PhaseNumbers.h).
class RowProgram {
public:
  explicit RowProgram(const RowGroup &group);

  const RowSpace &getSpace() const { return group.space; }
  bool isMember(Operation *op) const { return op && llvm::is_contained(group.members, op); }
  AffineMap getDomain(Operation *member) const { return group.getDomain(member); }
  ArrayRef<StatisticsOpInterface> getStatistics() const { return statistics; }
  ArrayRef<Access> getInputs() const { return inputs; }
  ArrayRef<RowOutput> getOutputs() const { return outputs; }
  ArrayRef<RowPhase> getPhases() const { return phases; }
  unsigned getLastPhase() const { return getPhaseBehind(statistics.size()); }

  /// Where a value is read back from in `phase`, if anywhere.
  std::optional<unsigned> getRowOf(Value value, unsigned phase) const;
  /// The values that are stored in `phase`, each with its output's position.
  SmallVector<std::pair<Value, unsigned>> getStores(unsigned phase) const;

  /// Calls `visit` for everything outside of the group whose shape says sizes of the space, though its elements may not
  /// be read: inits and random numbers.
  void visitShapes(function_ref<void(const Access &)> visit) const;

  void print(raw_ostream &stream) const;

private:
  void collectOutputs();
  void collectStatistics();
  void plan();
  void keepStatisticsOperand(Value x, unsigned phase);
  void storeEarly(RowOutput &output);
  bool isTaken(unsigned output) const;
  bool tryKeep(Value value, KeptValue place);
  bool isWorthKeeping(Value value) const;
  /// Fills `phases` from what is kept where.
  void simulate();
  void demand(const Access &access, unsigned phase);
  void printComputedAgain(raw_ostream &stream, unsigned phase) const;
  bool isLegal() const;
  void recordInput(const Access &access, unsigned phase);

  RowGroup group;
  SmallVector<StatisticsOpInterface> statistics;
  SmallVector<Access> inputs;
  SmallVector<RowOutput> outputs;
  DenseMap<Value, KeptValue> kept;
  SmallVector<RowPhase> phases;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWPROGRAM_H
