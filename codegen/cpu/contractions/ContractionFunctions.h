// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that contraction kernels are outlined into, and the calls that run them. Kernels that are equal share
// functions. Not: what is emitted into them (PackFactors.h, ProductEmitter.h).

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONFUNCTIONS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONFUNCTIONS_H

#include "codegen/cpu/contractions/ProductEmitter.h"
#include "codegen/kernels/Tasks.h"

namespace mlir::resid::cpu {

/// A kernel where it stands.
struct ContractionUse {
  contraction::KernelOp kernel;
  func::FuncOp enclosing;
  contraction::KernelLoops loops;
  SmallVector<Value> pointers;
  Value scratch;
  /// Scalars from above: the start of the sums, and what the body uses.
  SmallVector<Value> outer;

  static FailureOr<ContractionUse> prepare(contraction::KernelOp kernel);
  /// Whether the same functions compute `other`.
  bool isLike(ContractionUse &other);
  /// What the functions take beside a range of their units.
  SmallVector<Value> getArguments();
};

/// The functions of a kernel, and of those that are like it.
class ContractionFunctions {
public:
  ContractionFunctions(ContractionUse first, SymbolTable &symbols, const CPUTarget &target, MicroKernels &microKernels)
      : first(std::move(first)), symbols(symbols), cells(ProductCells::choose(target, this->first.loops)),
        fewRowsCells(ProductCells::chooseForFewRows(target, this->first.loops)),
        taskTerms(target.schedule.table.productTaskTerms), microKernels(microKernels), rowTask(makeTask("__rows_task")),
        panelTask(makeTask("__panels_task")), productTask(makeTask("__product_task")),
        fewRowsTask(makeTask("__few_rows_task")) {}

  ContractionUse &getFirst() { return first; }
  void outline();
  void emitCalls(ContractionUse &use);

private:
  using EmitBody = function_ref<void(KernelView &, Value, Value)>;
  func::FuncOp createFunction(StringRef suffix, TypeRange types);
  kernels::TaskFunction makeTask(StringRef suffix) {
    return kernels::TaskFunction([this, suffix](TypeRange types) { return createFunction(suffix, types); });
  }
  func::FuncOp outline(StringRef suffix, EmitBody emit);
  void emitCalls(ContractionUse &use, Operation *before, kernels::TaskFunction &task, func::FuncOp function,
                 Value units, Value terms);
  void emitCellCalls(ContractionUse &use, Operation *before, const contraction::PanelMemory &memory,
                     const ProductCells &chosen, kernels::TaskFunction &task, func::FuncOp function);
  void emitProductCalls(ContractionUse &use, Operation *before, const contraction::PanelMemory &memory);

  ContractionUse first;
  SymbolTable &symbols;
  ProductCells cells, fewRowsCells;
  int64_t taskTerms;
  MicroKernels &microKernels;
  func::FuncOp rows, panels, product, fewRows;
  kernels::TaskFunction rowTask, panelTask, productTask, fewRowsTask;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONFUNCTIONS_H
