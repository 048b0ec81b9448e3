// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyBuilder.h.

#include "passes/grad/BodyBuilder.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;

BodyBuilder::BodyBuilder(ImplicitLocOpBuilder &outer)
    : outer(outer), body(&region.emplaceBlock()), inner(outer.getLoc(), outer.getContext()) {
  inner.setInsertionPointToEnd(body);
}

Value BodyBuilder::read(Value tensor, AffineMap map) {
  assert(inits.empty() && "results come after inputs");
  for (auto [index, input] : llvm::enumerate(inputs))
    if (input.tensor == tensor && input.map == map)
      return body->getArgument(index);
  inputs.push_back({tensor, map});
  return body->addArgument(getElementTypeOrSelf(tensor.getType()), outer.getLoc());
}

Value BodyBuilder::addResult(Value init, AffineMap map) {
  inits.push_back({init, map});
  return body->addArgument(getElementTypeOrSelf(init.getType()), outer.getLoc());
}

std::optional<std::pair<Value, AffineMap>> BodyBuilder::getSource(Value element) const {
  auto argument = dyn_cast<BlockArgument>(element);
  if (!argument || argument.getOwner() != body)
    return std::nullopt;
  const Access &input = inputs[argument.getArgNumber()];
  return std::pair(input.tensor, input.map);
}

std::pair<Value, int64_t> BodyBuilder::findExtent(unsigned loop) const {
  for (const Access &input : inputs)
    for (auto [place, expression] : llvm::enumerate(input.map.getResults()))
      if (expression == getAffineDimExpr(loop, outer.getContext()))
        return {input.tensor, place};
  return {};
}

linalg::GenericOp BodyBuilder::finish(ArrayRef<utils::IteratorType> loops, ValueRange yielded) {
  linalg::YieldOp::create(inner, yielded);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned index = inputs.size(); index-- > 0;)
    if (body->getArgument(index).use_empty()) {
      body->eraseArgument(index);
      inputs.erase(inputs.begin() + index);
    }
  SmallVector<Value> inputTensors, initTensors;
  SmallVector<AffineMap> maps;
  for (auto [from, to] : {std::pair(&inputs, &inputTensors), std::pair(&inits, &initTensors)})
    for (const Access &access : *from) {
      to->push_back(access.tensor);
      maps.push_back(access.map);
    }
  auto op =
      linalg::GenericOp::create(outer, TypeRange(ValueRange(initTensors)), inputTensors, initTensors, maps, loops);
  op.getRegion().takeBody(region);
  return op;
}
