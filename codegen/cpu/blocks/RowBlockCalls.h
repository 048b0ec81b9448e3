// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a product and the row kernels around it by blocks of rows: a task runs all of them on one block before it begins
// the next, so that rows are still in the cache where they are used. Not: which kernels may run so
// (codegen/blocks/FormRowBlocks.cpp), nor the functions that run a range of rows.

#ifndef RESID_CODEGEN_CPU_BLOCKS_ROWBLOCKCALLS_H
#define RESID_CODEGEN_CPU_BLOCKS_ROWBLOCKCALLS_H

#include "codegen/cpu/contractions/ContractionFunctions.h"
#include "codegen/cpu/rows/RowCalls.h"

namespace mlir::resid::cpu {

/// A block has so many rows. Each block reads all of b again, which other blocks have driven out of the second level of
/// the cache: a processor of 32 multiply-adds a cycle then reads 1 byte a cycle of f32. The rows between the kernels
/// are to stay there: 384 KiB of 768 columns.
inline constexpr int64_t kBlockRows = 128;

/// A contraction.row_blocks that has been taken apart.
class RowBlockCalls {
public:
  /// Moves the kernels of `blocks` into its place, and erases it.
  explicit RowBlockCalls(contraction::RowBlocksOp blocks);

  contraction::KernelOp getProduct() const { return product; }
  /// Takes in the row kernels.
  LogicalResult prepare(RowKernels &rowKernels);
  /// Emits the calls: by blocks where there are `leastBlocks` at least (0: nowhere), else of one kernel after the
  /// other. A block is the work of one thread, while a whole product is cut by its columns, too.
  void emitCalls(ContractionUse &use, ContractionFunctions &functions, RowKernels &rowKernels, int64_t leastBlocks);
  /// After emitCalls.
  void eraseRowKernels();

private:
  void emitWhole(ContractionUse &use, ContractionFunctions &functions, RowKernels &rowKernels);
  void emitBlocks(ContractionUse &use, ContractionFunctions &functions, RowKernels &rowKernels, Operation *before);
  Value countRows(LoopCode &code, const contraction::KernelLoops &loops);
  Value hasManyBlocks(LoopCode &code, const ContractionUse &use, int64_t leastBlocks);

  /// What the functions of one member take, among the values of a record.
  struct Part {
    size_t first, count;
    /// Which of them are pointers to local rows, and the bytes of such a row.
    SmallVector<std::pair<unsigned, int64_t>> locals;
  };
  /// What a task is given: the values of each member, and the numbers of a BlockNumbers.
  struct Record {
    SmallVector<Value> values;
    SmallVector<Part> parts;
  };
  using BufferPointer = std::pair<Value, Value>;
  void addPart(Record &record, ValueRange values, ArrayRef<BufferPointer> buffers) const;
  Record collectRecord(OpBuilder &builder, ContractionUse &use, RowKernels &rowKernels);
  void callBlocks(LoopCode &code, ContractionFunctions &functions, const Record &record, ValueRange visible, Value low,
                  Value high);

  contraction::KernelOp product;
  /// The kernels in the order they run in.
  SmallVector<Operation *> members;
  /// Temporaries whose rows live no longer than their block, and the bytes of such a row.
  SmallVector<std::pair<Value, int64_t>> locals;
  /// Of the row kernels among the members, in their order.
  std::vector<RowCall> rowCalls;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_BLOCKS_ROWBLOCKCALLS_H
