// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/BufferSizes.h"

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

SizeExpr BufferSizes::get(Value size) {
  if (SizeExpr expression = known.lookup(size))
    return expression;
  SizeExpr expression = compute(size);
  return known[size] = expression ? expression : getOwnNumber(size);
}

/// Null where the value is no arithmetic on sizes.
SizeExpr BufferSizes::compute(Value size) {
  Operation *op = size.getDefiningOp();
  if (!op)
    return {};
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = getAskedDimension(dim);
    return index ? getDimension(dim.getSource(), *index) : SizeExpr();
  }
  return toSizeExpression(op, [&](Value operand) { return get(operand); });
}

SizeExpr BufferSizes::getDimension(Value buffer, int64_t index) {
  SizeOrigin origin = findOrigin(buffer, index);
  if (auto *constant = std::get_if<int64_t>(&origin))
    return SizeExpr::constant(context, *constant);
  if (auto *dimension = std::get_if<ArgumentDimension>(&origin))
    return getParameter(dimension->argument, dimension->index);
  if (auto *size = std::get_if<Value>(&origin))
    return *size ? get(*size) : SizeExpr();
  auto &factors = std::get<DimensionProduct>(origin);
  SizeExpr product = SizeExpr::constant(context, 1);
  for (int64_t dimension : factors.dimensions) {
    SizeExpr factor = getDimension(factors.buffer, dimension);
    if (!factor)
      return {};
    product = product * factor;
  }
  return product;
}

SizeExpr BufferSizes::getParameter(BlockArgument argument, int64_t index) {
  int64_t code = signature.getSharedSize(getKernelValue(signature, argument).shape[index]);
  if (code >= 0)
    return SizeExpr::constant(context, code);
  SizeExpr derived = signature.getDerivedSize(code);
  return derived ? derived : SizeExpr::size(context, -1 - code);
}

SizeExpr BufferSizes::getOwnNumber(Value value) {
  SizeExpr &number = ownNumbers[value];
  if (!number)
    number = SizeExpr::number(context, numberOfOwn++);
  return number;
}

/// What has too many terms is equal to no other.
SizeExpr BufferSizes::getBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  SizeExpr bytes = SizeExpr::constant(context, KernelValue{"", type.getElementType(), {}}.getElementBytes());
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      bytes = bytes * size;
  for (Value size : alloc.getDynamicSizes())
    bytes = bytes * get(size);
  return bytes ? bytes : getOwnNumber(alloc);
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
  // At the new place a division may run that did not at the old one.
  Value divisor = getDivisor(op);
  std::optional<int64_t> number = divisor ? getConstantIntValue(divisor) : std::nullopt;
  if (!isArithmetic || (divisor && number.value_or(0) == 0))
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
