// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/DisjointBuffers.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
enum class Kind {
  Unknown,
  /// May be what another argument is.
  Argument,
  Constant,
  /// Overlaps nothing but views of itself.
  Own,
};

/// What a buffer is a view of. Two origins of one value are the same.
struct Origin {
  Kind kind;
  Value value;
  StringRef constant;

  bool operator==(const Origin &other) const { return value == other.value && constant == other.constant; }
};
} // namespace

static Origin classifyArgument(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return {Kind::Unknown, argument, {}};
  bool isOwn = function.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName()) != nullptr;
  return {isOwn ? Kind::Own : Kind::Argument, argument, {}};
}

static Origin findOrigin(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return classifyArgument(argument);
  if (Value pointer = kernels::findArgumentPointer(buffer); auto argument = dyn_cast_if_present<BlockArgument>(pointer))
    return classifyArgument(argument);
  Operation *op = buffer.getDefiningOp();
  if (isa<memref::AllocOp, memref::AllocaOp>(op) || op->hasAttr(kernels::kTemporaryAttribute))
    return {Kind::Own, buffer, {}};
  if (auto global = dyn_cast<memref::GetGlobalOp>(op))
    return {Kind::Constant, {}, global.getName()};
  if (auto view = dyn_cast<ViewLikeOpInterface>(op); view && view.getViewDest() == buffer)
    return findOrigin(view.getViewSource());
  return {Kind::Unknown, buffer, {}};
}

/// Whether one is a temporary's place in what the other is.
static bool isPlaceIn(const Origin &place, const Origin &whole) {
  auto view = dyn_cast_if_present<memref::ViewOp>(place.value ? place.value.getDefiningOp() : nullptr);
  return view && findOrigin(view.getSource()) == whole;
}

bool kernels::areDisjoint(Value a, Value b) {
  auto part = a.getDefiningOp<memref::SubViewOp>(), other = b.getDefiningOp<memref::SubViewOp>();
  if (part && other && part.getSource() == other.getSource() && areApart(part, other))
    return true;
  Origin first = findOrigin(a), second = findOrigin(b);
  if (first.kind == Kind::Unknown || second.kind == Kind::Unknown || first == second)
    return false;
  bool isOneOwn = first.kind == Kind::Own || second.kind == Kind::Own;
  bool areConstants = first.kind == Kind::Constant && second.kind == Kind::Constant;
  return areConstants || (isOneOwn && !isPlaceIn(first, second) && !isPlaceIn(second, first));
}

bool kernels::isOfCaller(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    if (view->hasAttr(kTemporaryAttribute))
      return false;
    buffer = view.getViewSource();
  }
  auto pointer = dyn_cast_if_present<BlockArgument>(findArgumentPointer(buffer));
  auto function = pointer ? dyn_cast<func::FuncOp>(pointer.getOwner()->getParentOp()) : func::FuncOp();
  return function && !function.getArgAttr(pointer.getArgNumber(), kTemporaryAttribute);
}
