// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/ArraySizes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

using Kind = SizeExpr::Kind;
using Predicate = arith::CmpIPredicate;

namespace {

class SizeEmitter {
public:
  SizeEmitter(Code &builder, llvm::function_ref<Value(unsigned)> size, Value &fault)
      : builder(builder), size(size), fault(fault) {}

  Value emit(SizeExpr expression);

private:
  void addFault(Value condition) { fault = builder.either(fault, condition); }
  Value extend(Value truth) { return builder.castInteger(truth, builder.getI64Type()); }

  /// Sets the fault where the value is beyond the limit, in either direction.
  Value limit(Value value);
  Value multiply(Value a, Value b);
  Value floor(Value dividend, Value divisor);
  Value floorByConstant(SizeExpr dividend, int64_t divisor);
  Value divide(SizeExpr expression);
  Value choose(SizeExpr expression);
  Value combine(Kind kind, Value a, Value b);

  Code &builder;
  llvm::function_ref<Value(unsigned)> size;
  Value &fault;
};

} // namespace

Value SizeEmitter::limit(Value value) {
  addFault(builder.compare(Predicate::ugt, builder.add(value, builder.constant(kSizeLimit)),
                           builder.constant(2 * kSizeLimit)));
  return value;
}

Value SizeEmitter::multiply(Value a, Value b) {
  auto product = builder.create<arith::MulSIExtendedOp>(a, b);
  Value sign = builder.create<arith::ShRSIOp>(product.getLow(), builder.constant(63));
  addFault(builder.compare(Predicate::ne, product.getHigh(), sign));
  return limit(product.getLow());
}

/// The divisor is not 0, and the dividend not the least number.
Value SizeEmitter::floor(Value dividend, Value divisor) {
  Value quotient = builder.create<arith::DivSIOp>(dividend, divisor);
  Value rest = builder.subtract(dividend, builder.multiply(quotient, divisor));
  Value isInexact = builder.compare(Predicate::ne, rest, 0);
  Value isOpposite = builder.compare(Predicate::slt, builder.exclusiveOr(rest, divisor), 0);
  return builder.subtract(quotient, extend(builder.both(isInexact, isOpposite)));
}

Value SizeEmitter::floorByConstant(SizeExpr dividend, int64_t divisor) {
  Value value = emit(dividend);
  if (isNeverNegative(dividend))
    return builder.divide(value, builder.constant(divisor));
  return floor(value, builder.constant(divisor));
}

/// Another divisor stands in for 0, which is a fault. The least number is one too; it does not trap by -1, as it is
/// raised.
Value SizeEmitter::divide(SizeExpr expression) {
  Kind kind = expression.getKind();
  SizeExpr divisorExpression = expression.getOperand(1);
  std::optional<int64_t> number = divisorExpression.getConstant();
  if (kind == Kind::Floor && number && *number > 0)
    return floorByConstant(expression.getOperand(0), *number);
  Value dividend = emit(expression.getOperand(0)), divisor = emit(divisorExpression);
  Value isZero = builder.compare(Predicate::eq, divisor, 0);
  addFault(isZero);
  divisor = builder.either(divisor, extend(isZero));
  if (kind == Kind::DivideUnsigned)
    return limit(builder.divide(dividend, divisor));
  if (kind == Kind::RemainderUnsigned)
    return limit(builder.remainder(dividend, divisor));
  dividend = builder.max(dividend, builder.constant(-INT64_MAX));
  return kind == Kind::Truncate ? builder.create<arith::DivSIOp>(dividend, divisor) : floor(dividend, divisor);
}

Value SizeEmitter::combine(Kind kind, Value a, Value b) {
  switch (kind) {
  case Kind::Product:
    return multiply(a, b);
  case Kind::Min:
    return builder.min(a, b);
  case Kind::Max:
    return builder.max(a, b);
  case Kind::Less:
    return extend(builder.compare(Predicate::slt, a, b));
  case Kind::Equal:
    return extend(builder.compare(Predicate::eq, a, b));
  case Kind::Sum:
    return builder.add(a, b);
  case Kind::Size:
  case Kind::Number:
  case Kind::Constant:
  case Kind::Floor:
  case Kind::Truncate:
  case Kind::DivideUnsigned:
  case Kind::RemainderUnsigned:
  case Kind::Select:
    break;
  }
  llvm_unreachable("expected an operation on two sizes or more");
}

/// What is not chosen is no fault.
Value SizeEmitter::choose(SizeExpr expression) {
  Value condition = builder.compare(Predicate::ne, emit(expression.getOperand(0)), builder.constant(0));
  Value before = fault;
  Value first = emit(expression.getOperand(1)), firstFault = std::exchange(fault, before);
  Value second = emit(expression.getOperand(2));
  fault = builder.select(condition, firstFault, fault);
  return builder.select(condition, first, second);
}

Value SizeEmitter::emit(SizeExpr expression) {
  Kind kind = expression.getKind();
  switch (kind) {
  case Kind::Size:
    return size(expression.getIndex());
  case Kind::Number:
    llvm_unreachable("expected an expression over sizes");
  case Kind::Constant:
    return builder.constant(*expression.getConstant());
  case Kind::Floor:
  case Kind::Truncate:
  case Kind::DivideUnsigned:
  case Kind::RemainderUnsigned:
    return divide(expression);
  case Kind::Select:
    return choose(expression);
  case Kind::Sum:
  case Kind::Product:
  case Kind::Min:
  case Kind::Max:
  case Kind::Less:
  case Kind::Equal:
    break;
  }
  SmallVector<Value> operands;
  for (SizeExpr operand : expression.getOperands())
    operands.push_back(emit(operand));
  Value result = operands[0];
  for (Value operand : ArrayRef(operands).drop_front())
    result = combine(kind, result, operand);
  return kind == Kind::Sum ? limit(result) : result;
}

Value mlir::resid::boundary::emitSize(Code &builder, SizeExpr expression, llvm::function_ref<Value(unsigned)> size,
                                      Value &fault) {
  return SizeEmitter(builder, size, fault).emit(expression);
}

Value mlir::resid::boundary::emitIndex(OpBuilder &builder, Location loc, SizeExpr expression,
                                       const KernelSignature &signature, ValueRange buffers) {
  auto dimension = [&](unsigned index) -> Value {
    const SizeParameter &parameter = signature.sizes[index];
    return memref::DimOp::create(builder, loc, buffers[parameter.argument], parameter.dimension);
  };
  if (expression.getKind() == Kind::Size)
    return dimension(expression.getIndex());
  auto size = [&](unsigned index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), dimension(index));
  };
  Code code(builder, loc);
  Value ignored = code.truth(false), value = emitSize(code, expression, size, ignored);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
}
