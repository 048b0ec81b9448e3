// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a row program between its phases, and what later parts take from earlier ones. Not: in which order a
// target runs the parts of several rows.

#ifndef RESID_CODEGEN_ROWS_SEGMENTS_H
#define RESID_CODEGEN_ROWS_SEGMENTS_H

#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::rows {

/// A phase and the operations after it, up to the next phase: [begin, end). The first segment also has the operations
/// before its phase. Phases inside of a condition begin no segment.
struct Segment {
  Block::iterator begin, end;
  /// The values that the segment takes from earlier segments.
  SmallVector<Value> carried;
};

SmallVector<Segment> findSegments(KernelOp kernel);

/// The first and the last phase that every row goes through. A row's last phase and the next row's first phase are
/// independent of each other, so a target may run them as one.
struct EndPhases {
  PhaseOp first, last;

  /// Nothing where a kernel has fewer than two such phases.
  static std::optional<EndPhases> find(KernelOp kernel);

  /// The operations up to and with the first phase, between the two, and after the last one.
  llvm::iterator_range<Block::iterator> getBegin() const;
  llvm::iterator_range<Block::iterator> getMiddle() const;
  llvm::iterator_range<Block::iterator> getEnd() const;
  /// What the last phase and the operations after it take from those before.
  SmallVector<Value> findCarried() const;
  /// Whether both phases store to one row.
  bool storeToOneRow() const;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_SEGMENTS_H
