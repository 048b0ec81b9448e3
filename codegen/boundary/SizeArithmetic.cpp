// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/SizeCode.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid::boundary;

using Kind = SizeExpr::Kind;
using Predicate = arith::CmpIPredicate;

namespace {

class SizeEmitter {
public:
  SizeEmitter(OpBuilder &builder, Location loc, llvm::function_ref<Value(unsigned)> size, Value &fault)
      : builder(builder), loc(loc), size(size), fault(fault) {}

  Value emit(SizeExpr expression);

private:
  template <typename Op> Value make(Value a, Value b) { return Op::create(builder, loc, a, b); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
  Value compare(Predicate predicate, Value a, Value b) { return arith::CmpIOp::create(builder, loc, predicate, a, b); }
  void addFault(Value condition) { fault = make<arith::OrIOp>(fault, condition); }
  Value extend(Value truth) { return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), truth); }

  /// Sets the fault where the value is beyond the limit, in either direction.
  Value limit(Value value);
  Value multiply(Value a, Value b);
  Value floor(Value dividend, Value divisor);
  Value floorByConstant(SizeExpr dividend, int64_t divisor);
  Value divide(SizeExpr expression);
  Value choose(SizeExpr expression);
  Value combine(Kind kind, Value a, Value b);

  OpBuilder &builder;
  Location loc;
  llvm::function_ref<Value(unsigned)> size;
  Value &fault;
};

} // namespace

Value SizeEmitter::limit(Value value) {
  addFault(compare(Predicate::ugt, make<arith::AddIOp>(value, constant(kSizeLimit)), constant(2 * kSizeLimit)));
  return value;
}

Value SizeEmitter::multiply(Value a, Value b) {
  auto product = arith::MulSIExtendedOp::create(builder, loc, a, b);
  addFault(compare(Predicate::ne, product.getHigh(), make<arith::ShRSIOp>(product.getLow(), constant(63))));
  return limit(product.getLow());
}

/// The divisor is not 0, and the dividend not the least number.
Value SizeEmitter::floor(Value dividend, Value divisor) {
  Value quotient = make<arith::DivSIOp>(dividend, divisor);
  Value rest = make<arith::SubIOp>(dividend, make<arith::MulIOp>(quotient, divisor));
  Value isInexact = compare(Predicate::ne, rest, constant(0));
  Value isOpposite = compare(Predicate::slt, make<arith::XOrIOp>(rest, divisor), constant(0));
  return make<arith::SubIOp>(quotient, extend(make<arith::AndIOp>(isInexact, isOpposite)));
}

Value SizeEmitter::floorByConstant(SizeExpr dividend, int64_t divisor) {
  Value value = emit(dividend);
  if (isNeverNegative(dividend))
    return make<arith::DivUIOp>(value, constant(divisor));
  return floor(value, constant(divisor));
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
  Value isZero = compare(Predicate::eq, divisor, constant(0));
  addFault(isZero);
  divisor = make<arith::OrIOp>(divisor, extend(isZero));
  if (kind == Kind::DivideUnsigned)
    return limit(make<arith::DivUIOp>(dividend, divisor));
  if (kind == Kind::RemainderUnsigned)
    return limit(make<arith::RemUIOp>(dividend, divisor));
  dividend = make<arith::MaxSIOp>(dividend, constant(-INT64_MAX));
  return kind == Kind::Truncate ? make<arith::DivSIOp>(dividend, divisor) : floor(dividend, divisor);
}

Value SizeEmitter::combine(Kind kind, Value a, Value b) {
  switch (kind) {
  case Kind::Product:
    return multiply(a, b);
  case Kind::Min:
    return make<arith::MinSIOp>(a, b);
  case Kind::Max:
    return make<arith::MaxSIOp>(a, b);
  case Kind::Less:
    return extend(compare(Predicate::slt, a, b));
  case Kind::Equal:
    return extend(compare(Predicate::eq, a, b));
  case Kind::Sum:
    return make<arith::AddIOp>(a, b);
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
  Value condition = compare(Predicate::ne, emit(expression.getOperand(0)), constant(0));
  Value before = fault;
  Value first = emit(expression.getOperand(1)), firstFault = std::exchange(fault, before);
  Value second = emit(expression.getOperand(2));
  fault = arith::SelectOp::create(builder, loc, condition, firstFault, fault);
  return arith::SelectOp::create(builder, loc, condition, first, second);
}

Value SizeEmitter::emit(SizeExpr expression) {
  Kind kind = expression.getKind();
  switch (kind) {
  case Kind::Size:
    return size(expression.getIndex());
  case Kind::Number:
    llvm_unreachable("expected an expression over sizes");
  case Kind::Constant:
    return constant(*expression.getConstant());
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

Value mlir::resid::boundary::emitSize(OpBuilder &builder, Location loc, SizeExpr expression,
                                      llvm::function_ref<Value(unsigned)> size, Value &fault) {
  return SizeEmitter(builder, loc, size, fault).emit(expression);
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
  Value ignored = arith::ConstantIntOp::create(builder, loc, 0, 1);
  Value value = emitSize(builder, loc, expression, size, ignored);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
}
