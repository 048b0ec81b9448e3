// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a product and the row kernels around it by blocks of rows: a task runs all of them on one block before it begins
// the next, so that rows are still in the cache where they are used. Not: which kernels may run so
// (codegen/blocks/FormRowBlocks.cpp), nor the functions that run a range of rows.

#ifndef RESID_CODEGEN_CPU_BLOCKS_ROWBLOCKCALLS_H
#define RESID_CODEGEN_CPU_BLOCKS_ROWBLOCKCALLS_H

#include "codegen/cpu/contractions/ContractionFunctions.h"
#include "codegen/cpu/rows/RowFunctions.h"

namespace mlir::resid::cpu {

/// A block has so many rows. Each block reads all of b again, which other blocks have driven out of the second level of
/// the cache: a processor of 32 multiply-adds a cycle then reads 1 byte a cycle of f32. The rows between the kernels
/// are to stay there: 384 KiB of 768 columns.
inline constexpr int64_t kBlockRows = 128;
/// How many rows a block has: kBlockRows, or where few columns are made of long rows, as many as stay in a cache. They
/// are whole micro-kernels, of `microRows` rows: the emitter knows how many rows are left over at the end of all alone.
int64_t countBlockRows(contraction::KernelOp product, int64_t microRows);

/// A product and row kernels that ran in a contraction.row_blocks, which has been taken apart.
class RowBlockCalls {
public:
  /// Moves the kernels of `blocks` into its place, and erases it.
  explicit RowBlockCalls(contraction::RowBlocksOp blocks);

  /// Takes one of the kernels that were moved, once its functions are made. They come in the order they run in.
  void add(kernels::LoweredKernel &kernel) { members.push_back(&kernel); }
  /// The kernels that were moved.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// Emits the calls: by blocks where there are `leastBlocks` at least (0: nowhere), else of one kernel after the
  /// other. A block is the work of one thread, while a whole product is cut by its columns, too.
  LogicalResult launch(int64_t leastBlocks);

private:
  LogicalResult launchWhole();
  void launchBlocks(Operation *before);
  Value hasManyBlocks(Code &code, int64_t leastBlocks);
  bool isProduct(const kernels::LoweredKernel *member) const { return isa<contraction::KernelOp>(member->use.op); }
  kernels::LoweredKernel &getProduct() const;
  int64_t getBlockRows() const {
    return countBlockRows(getProduct().use.get<contraction::KernelOp>(), getProductFunctions().getMicroRows());
  }
  ContractionFunctions &getProductFunctions() const { return static_cast<ContractionFunctions &>(*getProduct().code); }

  /// What the functions of one member take, among the values of a record.
  struct Part {
    size_t first, count;
    /// Which of them are pointers to local rows, and the bytes of such a row.
    SmallVector<std::pair<unsigned, int64_t>> locals;
  };
  /// What a task is given: the values of each member, and the numbers of a TaskNumbers.
  struct Record {
    SmallVector<Value> values;
    SmallVector<Part> parts;
  };
  using BufferPointer = std::pair<Value, Value>;
  void addPart(Record &record, ValueRange values, ArrayRef<BufferPointer> buffers) const;
  bool isReadInBlock(rows::KernelOp writer) const;
  bool hasSums() const;
  Record collectRecord(OpBuilder &builder);
  void callBlocks(Code &code, const Record &record, ValueRange visible, Value low, Value high);
  void callBlock(Code &code, const Record &record, ValueRange visible, const RowBlock &block, Value lowest);

  SmallVector<Operation *> ops;
  /// The same with their functions.
  SmallVector<kernels::LoweredKernel *> members;
  /// How many rows of each are one row of the product.
  SmallVector<int64_t> rowCounts;
  /// Temporaries whose rows live no longer than their block, and the bytes of such a row.
  SmallVector<std::pair<Value, int64_t>> locals;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_BLOCKS_ROWBLOCKCALLS_H
