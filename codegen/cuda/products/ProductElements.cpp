// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/products/ProductElements.h"

#include "codegen/kernels/ElementMemory.h"
#include "dialect/WeightPanels.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::contraction;

Value ProductElements::getOffset(const ElementPlace &place, unsigned operand) {
  Value offset = code.constant(0);
  auto go = [&](const contraction::Loop &loop, Value index) {
    if (!loop.strides[operand].is(0))
      offset = code.add(offset, code.multiply(index, loop.strides[operand].value));
  };
  for (auto [loop, index] : llvm::zip_equal(loops.batches, place.batch))
    go(loop, index);
  go(loops.m, place.row);
  go(loops.n, place.column);
  return offset;
}

Value ProductElements::locatePacked(Value column, Value term) {
  int64_t together = getInterleavedTerms(loops.operands[KernelLoops::kB].elementType);
  Value groups = code.ceilDivide(countTerms(), code.constant(together));
  Value panel = code.divide(column, loops.packedColumns), columnOfPanel = code.remainder(column, loops.packedColumns);
  Value group = code.add(code.multiply(panel, groups), code.divide(term, together));
  Value place = code.add(code.multiply(group, loops.packedColumns), columnOfPanel);
  return code.add(code.multiply(place, together), code.remainder(term, together));
}

Value ProductElements::load(unsigned operand, Value offset) {
  return kernels::loadElement(code, code.getLoc(), loops.operands[operand].elementType, loops.pointers[operand], offset,
                              kernels::Alignment::Element);
}

Value ProductElements::countTerms() {
  Value terms = code.constant(1);
  for (const contraction::Loop &loop : loops.contracted)
    terms = code.multiply(terms, loop.size.value);
  return terms;
}

Value ProductElements::loadStart(const ElementPlace &place) {
  if (kernel.getStart())
    return widen(body.mapping.lookup(kernel.getStart()));
  auto loadIt = [&]() -> SmallVector<Value> {
    return {widen(load(KernelLoops::kInitial, getOffset(place, KernelLoops::kInitial)))};
  };
  auto leaveOut = [&]() -> SmallVector<Value> { return {code.create<arith::ConstantOp>(code.getZeroAttr(loops.arithmetic))}; };
  return code.choose(place.isThere, TypeRange{loops.arithmetic}, loadIt, leaveOut).front();
}

void ProductElements::finish(const ElementPlace &place, Value sum) {
  code.choose(place.isThere, [&] {
    Block &program = kernel.getBody().front();
    IRMapping mapping = body.mapping;
    mapping.map(program.getArgument(0), code.castNumber(sum, kernel.getProductType()));
    for (unsigned input = 0; input < kernel.getInputs().size(); ++input) {
      unsigned operand = loops.getFirstInput() + input;
      if (!program.getArgument(1 + input).use_empty())
        mapping.map(program.getArgument(1 + input), load(operand, getOffset(place, operand)));
    }
    for (Operation &op : program.without_terminator())
      code.clone(op, mapping);
    Value result = mapping.lookupOrDefault(cast<contraction::YieldOp>(program.getTerminator()).getValue());
    kernels::storeElement(code, code.getLoc(), result, loops.pointers[loops.getInit()],
                          getOffset(place, loops.getInit()), kernels::Alignment::Element);
  });
}
