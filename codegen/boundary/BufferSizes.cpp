// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows sizes through views to arguments and index values; see BufferSizes.h.

#include "codegen/boundary/BufferSizes.h"

#include "codegen/boundary/SizeExpression.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <variant>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

const KernelValue &boundary::getKernelValue(const KernelSignature &signature, BlockArgument argument) {
  unsigned index = argument.getArgNumber() - 1; // the context is first
  return index < signature.arguments.size() ? signature.arguments[index]
                                            : signature.results[index - signature.arguments.size()];
}

//===------------------------------------------- what a size follows from -----------------------------------------===//

namespace {

/// A dimension of an argument.
struct ArgumentDimension {
  BlockArgument argument;
  int64_t index;
};

/// The product of dimensions of another buffer.
struct DimensionProduct {
  Value buffer;
  SmallVector<int64_t, 2> dimensions;
};

/// What the size of one dimension of a buffer is. A Value is an index, or null where nothing is known.
using SizeOrigin = std::variant<int64_t, ArgumentDimension, DimensionProduct, Value>;

} // namespace

static SizeOrigin toOrigin(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant;
  return cast<Value>(size);
}

static SizeOrigin findOrigin(Value buffer, int64_t index) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(index))
    return type.getDimSize(index);
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return ArgumentDimension{argument, index};
    return Value();
  }
  unsigned open = type.getDynamicDimIndex(index);
  return llvm::TypeSwitch<Operation *, SizeOrigin>(buffer.getDefiningOp())
      .Case([&](memref::AllocOp op) { return op.getDynamicSizes()[open]; })
      .Case([&](memref::CastOp op) {
        return isa<MemRefType>(op.getSource().getType()) ? findOrigin(op.getSource(), index) : Value();
      })
      .Case([&](memref::ExpandShapeOp op) { return op.getOutputShape()[open]; })
      .Case([&](memref::CollapseShapeOp op) {
        return DimensionProduct{op.getSrc(), op.getReassociationIndices()[index]};
      })
      .Case([&](memref::SubViewOp op) {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        for (int64_t dimension = 0; dimension <= index; ++dimension)
          index += dropped.test(dimension);
        return toOrigin(op.getMixedSizes()[index]);
      })
      .Default([](Operation *) { return Value(); });
}

/// The dimension that is asked for, where that is known and there is one.
static std::optional<int64_t> getAskedDimension(memref::DimOp dim) {
  std::optional<int64_t> index = dim.getConstantIndex();
  auto type = dyn_cast<MemRefType>(dim.getSource().getType());
  return index && type && *index >= 0 && *index < type.getRank() ? index : std::nullopt;
}

//===------------------------------------------- as expressions ---------------------------------------------------===//

AffineExpr BufferSizes::get(Value size) {
  if (AffineExpr expression = known.lookup(size))
    return expression;
  AffineExpr expression = compute(size);
  return known[size] = expression ? normalize(expression) : getOwnSymbol(size);
}

/// Null where the value is no arithmetic on sizes.
AffineExpr BufferSizes::compute(Value size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return getAffineConstantExpr(*constant, context);
  Operation *op = size.getDefiningOp();
  if (!op)
    return {};
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = getAskedDimension(dim);
    return index ? getDimension(dim.getSource(), *index) : AffineExpr();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    auto operands = llvm::map_to_vector(apply.getMapOperands(), [&](Value operand) { return get(operand); });
    auto dims = ArrayRef(operands).take_front(apply.getAffineMap().getNumDims());
    return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, ArrayRef(operands).drop_front(dims.size()));
  }
  return toSizeExpression(op, [&](Value operand) { return get(operand); });
}

AffineExpr BufferSizes::getDimension(Value buffer, int64_t index) {
  SizeOrigin origin = findOrigin(buffer, index);
  if (auto *constant = std::get_if<int64_t>(&origin))
    return getAffineConstantExpr(*constant, context);
  if (auto *dimension = std::get_if<ArgumentDimension>(&origin))
    return getParameter(dimension->argument, dimension->index);
  if (auto *size = std::get_if<Value>(&origin))
    return *size ? get(*size) : AffineExpr();
  auto &factors = std::get<DimensionProduct>(origin);
  AffineExpr product = getAffineConstantExpr(1, context);
  for (int64_t dimension : factors.dimensions) {
    AffineExpr factor = getDimension(factors.buffer, dimension);
    if (!factor)
      return {};
    product = product * factor;
  }
  return product;
}

AffineExpr BufferSizes::getParameter(BlockArgument argument, int64_t index) {
  int64_t code = signature.getSharedSize(getKernelValue(signature, argument).shape[index]);
  if (code >= 0)
    return getAffineConstantExpr(code, context);
  AffineExpr derived = signature.getDerivedSize(code);
  return derived ? derived : getAffineSymbolExpr(-1 - code, context);
}

AffineExpr BufferSizes::getOwnSymbol(Value value) {
  AffineExpr &symbol = ownSymbols[value];
  if (!symbol)
    symbol = getAffineSymbolExpr(signature.sizes.size() + numberOfOwnSymbols++, context);
  return symbol;
}

/// An expression with too many terms is equal to no other.
AffineExpr BufferSizes::normalize(AffineExpr expression) {
  AffineExpr normal = normalizeSize(expression);
  return normal ? normal : getAffineSymbolExpr(signature.sizes.size() + numberOfOwnSymbols++, context);
}

AffineExpr BufferSizes::getBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  AffineExpr bytes = getAffineConstantExpr(KernelValue{"", type.getElementType(), {}}.getElementBytes(), context);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      bytes = bytes * size;
  for (Value size : alloc.getDynamicSizes())
    bytes = bytes * get(size);
  return normalize(bytes);
}

bool BufferSizes::followsFromParameters(AffineExpr expression) const {
  bool follows = true;
  expression.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    follows &= !symbol || symbol.getPosition() < signature.sizes.size();
  });
  return follows;
}

//===------------------------------------------- at another place -------------------------------------------------===//

Value SizeCloner::clone(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  Value result = op ? cloneResult(op) : Value();
  if (result)
    mapping.map(value, result);
  return result;
}

Value SizeCloner::cloneResult(Operation *op) {
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = getAskedDimension(dim);
    return index ? cloneBufferSize(dim.getSource(), *index) : Value();
  }
  bool isArithmetic = isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) && op->getNumResults() == 1 &&
                      op->getNumRegions() == 0 && isMemoryEffectFree(op);
  if (!isArithmetic)
    return nullptr;
  for (Value operand : op->getOperands())
    if (!clone(operand))
      return nullptr;
  return builder.clone(*op, mapping)->getResult(0);
}

Value SizeCloner::cloneBufferSize(Value buffer, int64_t index) {
  Location loc = buffer.getLoc();
  SizeOrigin origin = findOrigin(buffer, index);
  if (auto *constant = std::get_if<int64_t>(&origin))
    return arith::ConstantIndexOp::create(builder, loc, *constant);
  if (auto *dimension = std::get_if<ArgumentDimension>(&origin))
    return argumentSize(dimension->argument, dimension->index);
  if (auto *size = std::get_if<Value>(&origin))
    return *size ? clone(*size) : Value();
  auto &factors = std::get<DimensionProduct>(origin);
  Value product;
  for (int64_t dimension : factors.dimensions) {
    Value size = cloneBufferSize(factors.buffer, dimension);
    if (!size)
      return nullptr;
    product = product ? arith::MulIOp::create(builder, loc, product, size) : size;
  }
  return product;
}
