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

  /// The same for who runs a product by blocks of rows: first what packs its panels, where it has any, before an op;
  /// then, per block, the groups of panels in the rows [low, high). `arguments` are those of the use, where they are
  /// visible, and the block is number `block` of all batches' blocks of `blockRows` rows.
  void emitPanelCalls(ContractionUse &use, Operation *before, const contraction::PanelMemory &memory);
  void callBlock(LoopCode &code, ValueRange arguments, Value blockRows, Value groups, Value block, Value low,
                 Value high);
  Value countGroups(LoopCode &code, const contraction::PanelMemory &memory) const {
    return (product ? cells : fewRowsCells).countGroups(code, memory);
  }
  /// Runs blocks by `callBlocks`, in tasks.
  void emitBlockTasks(ContractionUse &use, Operation *before, ValueRange values, kernels::TaskUnits blocks,
                      kernels::TaskFunction::CallRows callBlocks);
  /// How many units make a task, if each has so many terms.
  Value countTaskUnits(LoopCode &code, Value units, Value terms) const;

private:
  using EmitBody = function_ref<void(KernelView &, ValueRange range)>;
  func::FuncOp createFunction(StringRef suffix, TypeRange types);
  kernels::TaskFunction makeTask(StringRef suffix) {
    return kernels::TaskFunction([this, suffix](TypeRange types) { return createFunction(suffix, types); });
  }
  func::FuncOp outline(StringRef suffix, unsigned rangeNumbers, EmitBody emit);
  void emitCalls(ContractionUse &use, Operation *before, kernels::TaskFunction &task, func::FuncOp function,
                 Value units, Value terms, std::optional<int64_t> blockRows = std::nullopt);
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
