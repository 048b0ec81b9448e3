// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of a row kernel from its plan: values of the group become scalars at the place that needs them. Does
// not own the plan (RowProgram) or the formulas of the statistics (Statistics).

#ifndef RESID_CODEGEN_ROWS_KERNELBUILDER_H
#define RESID_CODEGEN_ROWS_KERNELBUILDER_H

#include "codegen/builder/Code.h"
#include "codegen/rows/RowProgram.h"

namespace mlir::resid::rows {

class KernelBuilder {
public:
  KernelBuilder(const RowProgram &program, OpBuilder &builder, Location location);

  /// Builds the kernel at the builder's place; its results stand for the program's outputs. Fails with a diagnostic
  /// where a size is known nowhere outside of the group.
  FailureOr<KernelOp> build();

  /// The values that one phase reduces, from an element of each operand of the statistics op.
  using PhaseBody = function_ref<SmallVector<Value>(Code &builder, ValueRange elements)>;
  /// Adds a phase at the builder's place that runs over the operands of its statistics op, and does the stores that the
  /// plan puts there. `type` is that of the reduced values.
  ValueRange addPhase(Code &builder, unsigned phase, ArrayRef<ReductionKind> kinds, Type type, PhaseBody body);

private:
  using Memo = DenseMap<std::pair<Value, AffineMap>, Value>;
  /// Where scalars go: those of the row before the current phase, those of a column into it.
  struct Place {
    Code *row;
    Code *column;
    Value columnIndex;
    unsigned phase;
    Memo *columnMemo;
  };

  FailureOr<SmallVector<Value>> getSizes(Code &builder);
  Value createInit(const RowOutput &output, ArrayRef<Value> sizes);
  FailureOr<KernelOp> createKernel();
  void addLastPhase();
  void storeRowOutputs();
  void storeColumns(Place &place);
  Value getElement(const Access &access, Place &place);
  Value computeElement(const Access &access, Place &place);
  Value evaluate(Value scalar, Operation *generic, AffineMap domain, Place &place);
  Value createRandomRow(RandomHalvesOp halves, Place &place);
  Value createRandomHalf(RandomHalvesOp halves, Place &place);
  Value loadInput(unsigned input, Place &place);
  Value getRow(RowPlace row);
  Value *find(Value value, AffineMap map, Place &place);
  bool isColumnScalar(Value value, const Place &place) const;

  const RowProgram &program;
  Code outer, rowBuilder;
  KernelOp kernel;
  SmallVector<Value> localRows;
  DenseMap<Type, Value> widths;
  Memo rowMemo;
  DenseMap<Value, Value> statisticsResults;
};

/// What one statistics op writes its phases with.
class StatisticsPhases {
public:
  /// `position` among the statistics ops of the program; `width`, the number of columns in the arithmetic type.
  StatisticsPhases(KernelBuilder &kernel, unsigned position, Value width)
      : kernel(kernel), position(position), width(width) {}

  /// Adds a pass over the op's operands at the builder's place; the reduced values.
  ValueRange add(Code &builder, RowPass pass, ArrayRef<ReductionKind> kinds, Type type,
                 KernelBuilder::PhaseBody body) const {
    return kernel.addPhase(builder, getPhase(position, pass), kinds, type, body);
  }
  Value getWidth() const { return width; }

private:
  KernelBuilder &kernel;
  unsigned position;
  Value width;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_KERNELBUILDER_H
