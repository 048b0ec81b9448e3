// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/Products.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/raise/ElementExpression.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::resid;

std::optional<Contraction> resid::getProduct(Value value) {
  auto op = value ? value.getDefiningOp<linalg::LinalgOp>() : linalg::LinalgOp();
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1)
    return std::nullopt;
  return matchContraction(op);
}

bool resid::startsFromZeros(Contraction &product) {
  std::optional<APFloat> start = getFloatConstant(product.init->get());
  return start && start->isZero();
}

bool resid::leadsOnlyTo(Value value, Operation *last) {
  SmallVector<Value> open = {value};
  SmallPtrSet<Operation *, 16> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      if (user == last || isa<tensor::DimOp>(user) || isOpTriviallyDead(user) || !seen.insert(user).second)
        continue;
      if (user->getBlock() != last->getBlock() || user->getNumResults() == 0 || !isMemoryEffectFree(user))
        return false;
      llvm::append_range(open, user->getResults());
    }
  return true;
}
