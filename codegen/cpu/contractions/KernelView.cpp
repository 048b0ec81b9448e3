// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses and elements of a contraction's operands.

#include "codegen/cpu/contractions/KernelView.h"

#include "codegen/kernels/ElementCast.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

Value KernelView::countBatches() {
  Value count = code.constant(1);
  for (const Loop &loop : loops.batches)
    count = code.multiply(count, loop.size.value);
  return count;
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
  return code.at(pointers[operand], loops.operands[operand].elementType, offset);
}

/// Stack memory for a panel's columns.
Value KernelView::getBuffer(Type type) {
  Value &buffer = buffers[type];
  if (!buffer) {
    buffer = code.allocate(entry, type, kPanelColumns);
    OpBuilder::InsertionGuard guard(code.builder);
    code.builder.setInsertionPointAfterValue(buffer);
    auto vector = VectorType::get(kPanelColumns, type);
    code.store(arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(vector)), buffer);
  }
  return buffer;
}

void KernelView::copyColumns(Type type, Value from, Value fromStride, Value to, Value toStride, Value count) {
  code.loop(code.constant(0), count, 1, [&](Value column) {
    Value element = code.load(type, code.at(from, type, code.multiply(column, fromStride)));
    code.store(element, code.at(to, type, code.multiply(column, toStride)));
  });
}

Value KernelView::loadColumns(unsigned operand, Value row, ColumnRun run) {
  Type element = loops.operands[operand].elementType, moved = getMovedType(element);
  auto type = VectorType::get(kPanelColumns, moved);
  const Number &stride = loops.n.strides[operand];
  Value one = code.constant(1), loaded;
  if (stride.is(0)) {
    loaded = code.spread(code.load(moved, row), kPanelColumns);
    return kernels::fromMemory(code.builder, code.loc, loaded, element);
  }
  Value start = code.at(row, moved, code.multiply(run.first, stride.value));
  auto loadThroughBuffer = [&](Value count) {
    Value buffer = getBuffer(moved);
    copyColumns(moved, start, stride.value, buffer, one, count);
    return SmallVector<Value>{code.load(type, buffer)};
  };
  auto loadAll = [&] { return SmallVector<Value>{code.load(type, start)}; };
  if (!stride.is(1))
    loaded = loadThroughBuffer(run.count ? run.count : code.constant(kPanelColumns)).front();
  else if (!run.count)
    loaded = loadAll().front();
  else
    loaded = code.choose(code.isEqual(run.count, code.constant(kPanelColumns)), type, loadAll,
                         [&] { return loadThroughBuffer(run.count); })
                 .front();
  return kernels::fromMemory(code.builder, code.loc, loaded, element);
}

void KernelView::storeColumns(Value vector, unsigned operand, Value row, ColumnRun run) {
  Type moved = getMovedType(loops.operands[operand].elementType);
  const Number &stride = loops.n.strides[operand];
  Value stored = kernels::toMemory(code.builder, code.loc, vector, moved), one = code.constant(1);
  Value start = code.at(row, moved, code.multiply(run.first, stride.value));
  auto storeThroughBuffer = [&](Value count) {
    Value buffer = getBuffer(moved);
    code.store(stored, buffer);
    copyColumns(moved, buffer, one, start, stride.value, count);
  };
  auto storeAll = [&] { code.store(stored, start); };
  if (!stride.is(1))
    return storeThroughBuffer(run.count ? run.count : code.constant(kPanelColumns));
  if (!run.count)
    return storeAll();
  code.choose(code.isEqual(run.count, code.constant(kPanelColumns)), storeAll, [&] { storeThroughBuffer(run.count); });
}

void KernelView::forEachTerm(unsigned operand, bool isInnermost, function_ref<void(Value, Value)> body) {
  size_t depth = loops.contracted.size() - (isInnermost ? 1 : 0);
  std::function<void(size_t, Value, Value)> nest = [&](size_t level, Value offset, Value term) {
    if (level == depth)
      return body(offset, isInnermost ? code.multiply(term, loops.contracted[level].size.value) : term);
    const Loop &loop = loops.contracted[level];
    code.loop(code.constant(0), loop.size.value, 1, [&](Value index) {
      nest(level + 1, code.add(offset, code.multiply(index, loop.strides[operand].value)),
           code.add(code.multiply(term, loop.size.value), index));
    });
  };
  nest(0, code.constant(0), code.constant(0));
}
