// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/SumsDownRows.h"

#include "codegen/rows/SumOrder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

SumsDownRows::SumsDownRows(Code &builder, KernelOp kernel, const KernelAddresses &addresses,
                           function_ref<Value(Sum &)> place)
    : builder(builder), kernel(kernel), addresses(addresses), partition(RowPartition::create(builder, addresses.rows)),
      units(RowUnits::create(builder, partition)), length(SumMemory::getLength(builder, addresses.width)) {
  Value next = addresses.scratch;
  for (unsigned i = kernel.getInputs().size(), end = i + kernel.getInits().size(); i < end; ++i) {
    if (!kernel.isAccumulated(i))
      continue;
    Type element = cast<RowType>(kernel.getRowArgument(i).getType()).getElementType();
    sums.push_back({i, element.isF64() ? Type(builder.getF64Type()) : builder.getF32Type(), element, next});
    next = place(sums.back());
  }
}

Value SumsDownRows::offsetRows(Value pointer, Value rows, Type type) {
  return kernels::getElementAddress(builder, builder.getLoc(), type, pointer, builder.multiply(rows, length));
}

void SumsDownRows::setLevels(RowEmitter &emitter, int64_t count, function_ref<Value(const Sum &, int64_t)> place) {
  for (Sum &sum : sums) {
    sum.levels.clear();
    for (int64_t level = 0; level < count; ++level)
      sum.levels.push_back(place(sum, level));
    emitter.setChain(kernel.getRowArgument(sum.operand), sum.levels.front());
  }
}

void SumsDownRows::emitChains(Value low, Value high, function_ref<void(Value, Value)> body) {
  builder.rolledLoop(low, high, kChainRows,
                     [&](Value first) { body(first, builder.min(builder.add(first, kChainRows), high)); });
}

Value SumsDownRows::finish(const Sum &sum, Value total, Value old) {
  return builder.castFloat(builder.add(total, builder.castFloat(old, builder.getF64Type())), sum.element);
}
