// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses and elements of a contraction's operands.

#include "codegen/cpu/contractions/KernelView.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

SmallVector<Value> KernelView::splitBatch(Value batch) {
  SmallVector<Value> indices(loops.batches.size());
  for (size_t i = indices.size(); i-- > 0;) {
    Value size = loops.batches[i].size.value;
    indices[i] = i == 0 ? batch : code.remainder(batch, size);
    if (i > 0)
      batch = code.divide(batch, size);
  }
  return indices;
}

Value KernelView::getMatrix(unsigned factor, ValueRange batch) {
  Value matrix = code.constant(0);
  for (auto [loop, index] : llvm::zip_equal(loops.batches, batch))
    if (!loop.strides[factor].is(0))
      matrix = code.add(code.multiply(matrix, loop.size.value), index);
  return matrix;
}

Value KernelView::atBatch(unsigned operand, ValueRange batch) {
  Value offset = code.constant(0);
  for (auto [loop, index] : llvm::zip_equal(loops.batches, batch))
    if (!loop.strides[operand].is(0))
      offset = code.add(offset, code.multiply(index, loop.strides[operand].value));
  return code.at(loops.pointers[operand], loops.operands[operand].elementType, offset);
}

Value KernelView::loadColumns(unsigned operand, Value row, ColumnRun run) {
  Type element = loops.operands[operand].elementType;
  const Extent &stride = loops.n.strides[operand];
  return runs.load(element, code.at(row, getMovedType(element), code.multiply(run.first, stride.value)), stride,
                   run.count);
}

void KernelView::storeColumns(Value vector, unsigned operand, Value row, ColumnRun run) {
  Type element = loops.operands[operand].elementType;
  const Extent &stride = loops.n.strides[operand];
  runs.store(vector, element, code.at(row, getMovedType(element), code.multiply(run.first, stride.value)), stride,
             run.count);
}

void KernelView::forEachTerm(unsigned operand, bool isInnermost, function_ref<void(Value, Value)> body) {
  size_t depth = loops.contracted.size() - (isInnermost ? 1 : 0);
  std::function<void(size_t, Value, Value)> nest = [&](size_t level, Value offset, Value term) {
    if (level == depth)
      return body(offset, isInnermost ? code.multiply(term, loops.contracted[level].size.value) : term);
    const contraction::Loop &loop = loops.contracted[level];
    code.loop(0, loop.size.value, 1, [&](Value index) {
      nest(level + 1, code.add(offset, code.multiply(index, loop.strides[operand].value)),
           code.add(code.multiply(term, loop.size.value), index));
    });
  };
  nest(0, code.constant(0), code.constant(0));
}
