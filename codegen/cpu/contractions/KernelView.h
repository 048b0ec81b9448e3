// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction kernel seen from inside of one of its functions: pointers, sizes and strides there, and the elements at
// a point of its loops. Not: the order in which points are visited.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_KERNELVIEW_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_KERNELVIEW_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/ElementRuns.h"
#include "codegen/cpu/contractions/PanelMemory.h"
#include "codegen/kernels/SharedFunctions.h"

namespace mlir::resid::cpu {

/// The two factors, as operands of a kernel.
constexpr unsigned kA = contraction::KernelLoops::kA, kB = contraction::KernelLoops::kB;

/// A run of neighbouring columns of one row.
struct ColumnRun {
  /// The first column, and how many there are (i64), at most kPanelColumns. Null: all of them are there.
  Value first, count;
};

class KernelView {
public:
  KernelView(Code &code, const kernels::KernelBody &body)
      : code(code), entry(body.entry), loops(body.as<contraction::KernelLoops>()),
        memory(PanelMemory::create(code, code.getLoc(), loops)), outer(body.mapping), runs(code, entry) {}
  /// A part of another kernel, as a contraction that packs nothing.
  KernelView(Code &code, Block *entry) : code(code), entry(entry), runs(code, entry) {}

  Code &code;
  /// Where stack memory is taken.
  Block *entry;
  contraction::KernelLoops loops;
  PanelMemory memory;
  /// Values from above the kernel.
  IRMapping outer;

  /// Whether no panel has absent columns.
  bool hasWholePanels() const {
    const kernels::Extent &columns = loops.n.size;
    return columns.isKnown() && columns.known % kPanelColumns == 0;
  }
  /// Whether the columns of a term are contiguous in b.
  bool readsBByTerms() const { return loops.contracted.size() == 1 && loops.n.strides[kB].is(1); }
  /// The indices of the batch loops from their linear index.
  SmallVector<Value> splitBatch(Value batch);
  /// The linear index among the matrices of a factor.
  Value getMatrix(unsigned factor, ValueRange batch);
  /// Where the matrix of an operand begins.
  Value atBatch(unsigned operand, ValueRange batch);

  /// Elements of an operand at a row that begins at `row`, as a vector of its element type. Lanes of absent columns
  /// hold anything.
  Value loadColumns(unsigned operand, Value row, ColumnRun run);
  void storeColumns(Value vector, unsigned operand, Value row, ColumnRun run);
  /// Calls `body` with the offset in elements of each point of the contracted loops, for one operand, and the point's
  /// linear index. With `isInnermost`, the innermost loop is left to `body`, which gets offset and index of its start.
  void forEachTerm(unsigned operand, bool isInnermost, function_ref<void(Value offset, Value term)> body);

private:
  ElementRuns runs;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_KERNELVIEW_H
