// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/LoopNests.h"

#include "codegen/cuda/points/GuardedElements.h"
#include "codegen/cuda/points/PointEmitter.h"
#include "codegen/kernels/ArgumentBuffers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;

//===------------------------------------------- what a nest is given ---------------------------------------------===//

static memref::GetGlobalOp findConstant(Value buffer) {
  return skipReshapes(buffer).getDefiningOp<memref::GetGlobalOp>();
}

std::optional<LoopNest> LoopNest::find(linalg::GenericOp op) {
  LoopNest nest(op);
  auto isConstant = [&](Value value) {
    bool isFound = isa<MemRefType>(value.getType()) && findConstant(value);
    if (isFound)
      nest.constants.insert(value);
    return isFound;
  };
  return nest.takeAll(isConstant) ? std::optional(std::move(nest)) : std::nullopt;
}

/// Nests with other constants are other kernels.
void LoopNest::collectMoreFacts(SmallVectorImpl<Attribute> &facts) const {
  Builder builder(op->getContext());
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (constants.contains(operand.get()))
        facts.append({findConstant(operand.get()).getNameAttr(), builder.getI64IntegerAttr(operand.getOperandNumber()),
                      TypeAttr::get(operand.get().getType())});
  });
}

/// A view of a constant, made again with what it is a view of.
static Value rebuildConstant(OpBuilder &builder, IRMapping &mapping, Value buffer) {
  if (Value known = mapping.lookupOrNull(buffer))
    return known;
  Operation *op = buffer.getDefiningOp();
  if (isReshape(op))
    rebuildConstant(builder, mapping, op->getOperand(0));
  builder.clone(*op, mapping);
  return mapping.lookup(buffer);
}

linalg::GenericOp LoopNest::rebuild(OpBuilder &builder, KernelBody &body) const {
  rebuildBuffers(builder, body);
  for (Value constant : constants)
    rebuildConstant(builder, body.mapping, constant);
  auto nest = cast<linalg::GenericOp>(builder.clone(*op, body.mapping));
  guardElements(nest);
  return nest;
}

//===------------------------------------------- the kernel -------------------------------------------------------===//

Value LoopNestKernel::countPoints(Code &code, KernelUse &use) {
  return cuda::countPoints(code, use.get<linalg::GenericOp>());
}

PointKernel::EmitPoint LoopNestKernel::emitKernel(Code &code, KernelBody &body) {
  linalg::GenericOp op = nest.rebuild(code, body);
  auto emitter = std::make_shared<PointEmitter>(code, op);
  return [emitter, op](Value point) mutable {
    emitter->emit(point);
    op.erase();
  };
}

/// A thread has an address, of two registers, and an element of each array. With few arrays it needs far fewer
/// registers than ptxas would take if there were a bound.
int64_t LoopNestKernel::getMostRegisters() const {
  constexpr int64_t registersOfArray = 3, mostWithoutBound = 64;
  return registersOfArray * nest.countArrays() > mostWithoutBound ? kMostThreadRegisters : 0;
}
