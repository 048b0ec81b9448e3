// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the operations of a row: the pointers of the row, what happens once per row, branches. How the columns of a
// phase are run through is left to a target. Not: in which order rows are run.

#ifndef RESID_CODEGEN_ROWS_ROWEMITTER_H
#define RESID_CODEGEN_ROWS_ROWEMITTER_H

#include "codegen/builder/Code.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowAddressing.h"

namespace mlir::resid::rows {

using kernels::Alignment;

/// The pointers of a row, by the kernel's arguments.
using RowPointers = DenseMap<Value, Value>;

/// What the operations of a row have become, and its pointers.
struct RowState {
  IRMapping mapping;
  RowPointers pointers;
};

/// Emits operations of a kernel's row at the builder's position. `addresses` and `mapping` (for values from above the
/// kernel) hold values that are visible there; stack memory is taken in `entry`.
class RowEmitter {
public:
  RowEmitter(Code &builder, Block *entry, const KernelAddresses &addresses, const IRMapping &mapping,
             Alignment alignment = Alignment::None)
      : builder(builder), entry(entry), addresses(addresses), alignment(alignment), state{mapping, RowPointers()} {}
  virtual ~RowEmitter() = default;

  /// Says which row (i64) the operations that follow belong to.
  void beginRow(rows::KernelOp kernel, Value row);
  void emitOperation(Operation *op);
  void emitBlock(Block &block);

  Code &getBuilder() const { return builder; }
  /// Of the row at hand. Whoever runs two rows at a time exchanges it.
  RowState &getState() { return state; }

  /// Where the chain of a sum down the rows lies, by the kernel's argument, in the place of the pointers of its rows:
  /// as many terms as the row in whole chunks has.
  void setChain(Value row, Value pointer) { chains[row] = pointer; }
  const llvm::MapVector<Value, Value> &getChains() const { return chains; }

protected:
  virtual void emitPhase(rows::PhaseOp phase) = 0;
  /// A load, store, random number or term of a column, inside a phase whose block is emitted by emitBlock.
  virtual void emitColumnOperation(Operation *op) = 0;

  /// A store of the one element that a row has.
  virtual void emitRowStore(rows::StoreOp store);

  /// The operations of a branch at the builder's position, its terminator among them.
  virtual void emitBranch(Block &block) { emitBlock(block); }

  /// The four words of the generator's counter for a call (i64) of eight columns, counted from the row's first.
  SmallVector<Value, 4> counterOf(rows::RandomHalfOp half, Value call);
  Value getRowPointer(Value row) const { return state.pointers.lookup(row); }
  /// For what is emitted from here on, from the number of the row (i64).
  void computeRowPointers(rows::KernelOp kernel, Value row);

  Code &builder;
  Block *entry;
  const KernelAddresses &addresses;
  Alignment alignment;
  RowState state;
  llvm::MapVector<Value, Value> chains;

private:
  void emitWithRegions(Operation *op);
  void emitRowLoad(rows::LoadOp load);
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWEMITTER_H
