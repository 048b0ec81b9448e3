// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves runs of elements; those that are not contiguous, or not whole, go through a buffer on the stack.

#include "codegen/cpu/contractions/ElementRuns.h"

#include "codegen/cpu/contractions/PanelMemory.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using kernels::Extent;

Type cpu::getMovedType(Type element) {
  Type memory = kernels::getMemoryType(element);
  return memory.getIntOrFloatBitWidth() == 16 ? IntegerType::get(element.getContext(), 16) : memory;
}

/// Stack memory for a run.
Value ElementRuns::getBuffer(Type type) {
  Value &buffer = buffers[type];
  if (!buffer) {
    buffer = code.allocate(entry, type, kPanelColumns);
    OpBuilder::InsertionGuard guard(code);
    code.setInsertionPointAfterValue(buffer);
    auto vector = VectorType::get(kPanelColumns, type);
    code.store(code.create<arith::ConstantOp>(code.getZeroAttr(vector)), buffer);
  }
  return buffer;
}

void ElementRuns::copy(Type type, Value from, Value fromStride, Value to, Value toStride, Value count) {
  code.loop(0, count, 1, [&](Value column) {
    Value element = code.load(type, code.at(from, type, code.multiply(column, fromStride)));
    code.store(element, code.at(to, type, code.multiply(column, toStride)));
  });
}

Value ElementRuns::load(Type element, Value start, const Extent &stride, Value count) {
  Type moved = getMovedType(element);
  auto type = VectorType::get(kPanelColumns, moved);
  Value one = code.constant(1), loaded;
  auto loadThroughBuffer = [&](Value present) {
    Value buffer = getBuffer(moved);
    copy(moved, start, stride.value, buffer, one, present);
    return SmallVector<Value>{code.load(type, buffer)};
  };
  auto loadAll = [&] { return SmallVector<Value>{code.load(type, start)}; };
  if (stride.is(0))
    loaded = code.spread(code.load(moved, start), kPanelColumns);
  else if (!stride.is(1))
    loaded = loadThroughBuffer(count ? count : code.constant(kPanelColumns)).front();
  else if (!count)
    loaded = loadAll().front();
  else
    loaded = code.choose(code.isEqual(count, kPanelColumns), type, loadAll, [&] { return loadThroughBuffer(count); })
                 .front();
  return kernels::fromMemory(code, code.getLoc(), loaded, element);
}

void ElementRuns::store(Value vector, Type element, Value start, const Extent &stride, Value count) {
  Type moved = getMovedType(element);
  Value stored = kernels::toMemory(code, code.getLoc(), vector, moved), one = code.constant(1);
  auto storeThroughBuffer = [&](Value present) {
    Value buffer = getBuffer(moved);
    code.store(stored, buffer);
    copy(moved, buffer, one, start, stride.value, present);
  };
  auto storeAll = [&] { code.store(stored, start); };
  if (!stride.is(1))
    return storeThroughBuffer(count ? count : code.constant(kPanelColumns));
  if (!count)
    return storeAll();
  code.choose(code.isEqual(count, kPanelColumns), storeAll, [&] { storeThroughBuffer(count); });
}
