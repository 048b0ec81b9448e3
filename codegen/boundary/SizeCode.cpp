// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes that cannot overflow unseen.

#include "codegen/boundary/SizeCode.h"

#include <map>

using namespace mlir;
using namespace mlir::resid::boundary;

SizeCode::SizeCode(OpBuilder &builder, Location loc, const KernelSignature &signature, ValueRange sizes)
    : builder(builder), loc(loc), signature(signature), sizes(sizes) {
  if (signature.derivedSizes.empty() && signature.equalities.empty())
    return;
  derivationFault = truth(false);
  for (AffineExpr size : signature.derivedSizes)
    derivedSizes.push_back(evaluate(size, derivationFault));
  for (auto [a, b] : signature.equalities) {
    Value differ = compare(arith::CmpIPredicate::ne, evaluate(a, derivationFault), evaluate(b, derivationFault));
    derivationFault = either(derivationFault, differ);
  }
}

Value SizeCode::getSize(int64_t code) {
  if (code >= 0)
    return constant(code);
  size_t index = -1 - code;
  return index < sizes.size() ? sizes[index] : derivedSizes[index - sizes.size()];
}

/// Sizes themselves may be anything here; those beyond the limit are found by checkBytes().
Value SizeCode::evaluate(AffineExpr expression, Value &fault) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return sizes[symbol.getPosition()];
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return constant(number.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value left = evaluate(binary.getLHS(), fault), right = evaluate(binary.getRHS(), fault);
  if (binary.getKind() == AffineExprKind::Add)
    return arith::AddIOp::create(builder, loc, left, right);
  if (binary.getKind() != AffineExprKind::Mul)
    return divide(binary.getKind(), left, right, fault);
  auto product = arith::MulSIExtendedOp::create(builder, loc, left, right);
  Value sign = arith::ShRSIOp::create(builder, loc, product.getLow(), constant(63));
  Value raised = arith::AddIOp::create(builder, loc, product.getLow(), constant(kByteLimit));
  fault = either(fault, compare(arith::CmpIPredicate::ne, product.getHigh(), sign));
  fault = either(fault, compare(arith::CmpIPredicate::ugt, raised, constant(2 * kByteLimit)));
  return product.getLow();
}

Value SizeCode::divide(AffineExprKind kind, Value dividend, Value divisor, Value &fault) {
  fault = either(fault, compare(arith::CmpIPredicate::slt, dividend, constant(0)));
  fault = either(fault, compare(arith::CmpIPredicate::slt, divisor, constant(1)));
  Value positive = arith::MaxSIOp::create(builder, loc, divisor, constant(1));
  if (kind == AffineExprKind::Mod)
    return arith::RemUIOp::create(builder, loc, dividend, positive);
  if (kind == AffineExprKind::CeilDiv) {
    Value less = arith::SubIOp::create(builder, loc, positive, constant(1));
    dividend = arith::AddIOp::create(builder, loc, dividend, less);
  }
  return arith::DivUIOp::create(builder, loc, dividend, positive);
}

SmallVector<int64_t> SizeCode::getSharedShape(const KernelValue &array) const {
  return llvm::map_to_vector(array.shape, [&](int64_t code) { return signature.getSharedSize(code); });
}

Value SizeCode::isEmpty(ArrayRef<int64_t> shape) {
  Value empty = truth(llvm::is_contained(shape, 0));
  for (int64_t code : shape)
    if (code < 0)
      empty = either(empty, compare(arith::CmpIPredicate::eq, getSize(code), constant(0)));
  return empty;
}

Value SizeCode::product(int64_t fixed, ArrayRef<int64_t> shape) {
  for (int64_t code : shape)
    fixed *= code >= 0 ? code : 1;
  Value product = constant(fixed);
  for (int64_t code : shape)
    if (code < 0)
      product = arith::MulIOp::create(builder, loc, product, dimension(code));
  return product;
}

Value SizeCode::productChecked(int64_t fixed, ArrayRef<int64_t> shape, Value &fault) {
  for (int64_t code : shape)
    fixed *= code > 0 ? code : 1;
  Value product = constant(fixed);
  for (int64_t code : shape)
    if (code < 0) {
      Value factor = arith::MaxSIOp::create(builder, loc, dimension(code), constant(1));
      product = multiplyChecked(product, factor, fault);
    }
  return product;
}

Value SizeCode::bytes(const KernelValue &array) { return product(array.getElementBytes(), array.shape); }

Value SizeCode::rowBytes(const KernelValue &array) {
  return product(array.getElementBytes(), ArrayRef(array.shape).take_back());
}

Value SizeCode::strideBytes(const KernelValue &array, Value stride) {
  return arith::MulIOp::create(builder, loc, stride, constant(array.getElementBytes()));
}

Value SizeCode::extent(const KernelValue &array, Value stride) {
  if (!stride)
    return bytes(array);
  Value rows = product(1, ArrayRef(array.shape).drop_back());
  Value before = arith::MulIOp::create(builder, loc, arith::SubIOp::create(builder, loc, rows, constant(1)),
                                       strideBytes(array, stride));
  return arith::AddIOp::create(builder, loc, before, rowBytes(array));
}

Value SizeCode::multiplyChecked(Value value, Value factor, Value &fault) {
  auto product = arith::MulUIExtendedOp::create(builder, loc, value, factor);
  fault = either(fault, compare(arith::CmpIPredicate::ne, product.getHigh(), constant(0)));
  fault = either(fault, compare(arith::CmpIPredicate::ugt, product.getLow(), constant(kByteLimit)));
  return product.getLow();
}

void SizeCode::checkBytes(Value &fault) {
  // Of the arrays that have the same open sizes, the one with the most bytes says it for all.
  std::map<SmallVector<int64_t>, int64_t> mostBytes;
  auto raise = [&](ArrayRef<int64_t> open, int64_t bytes) {
    int64_t &most = mostBytes[llvm::to_vector(open)];
    most = std::max(most, bytes);
  };
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results)) {
    if (!value.isArray())
      continue;
    int64_t bytes = value.getElementBytes();
    SmallVector<int64_t> open;
    for (int64_t code : getSharedShape(value)) {
      if (code < 0)
        open.push_back(code);
      bytes *= code > 0 ? code : 1;
    }
    llvm::sort(open);
    raise(open, bytes);
    for (int64_t code : open)
      raise(code, 1);
  }
  for (const auto &[open, bytes] : mostBytes) {
    if (bytes > kByteLimit)
      fault = either(fault, truth(true));
    if (open.size() == 1) // As an unsigned number a negative size is beyond any limit.
      fault = either(fault, compare(arith::CmpIPredicate::ugt, getSize(open.front()), constant(kByteLimit / bytes)));
    else
      productChecked(bytes, open, fault);
  }
}

Value SizeCode::faults() {
  Value fault = truth(false);
  for (auto [index, parameter] : llvm::enumerate(signature.sizes)) {
    if (parameter.sameAs != index)
      fault = either(fault, compare(arith::CmpIPredicate::ne, sizes[index], sizes[parameter.sameAs]));
    if (parameter.fixed >= 0)
      fault = either(fault, compare(arith::CmpIPredicate::ne, sizes[index], constant(parameter.fixed)));
  }
  if (derivationFault)
    fault = either(fault, derivationFault);
  checkBytes(fault);
  return fault;
}

Value SizeCode::strideFault(const KernelValue &array, Value stride) {
  Value fault = compare(arith::CmpIPredicate::slt, stride, dimension(array.shape.back()));
  Value rows = productChecked(array.getElementBytes(), ArrayRef(array.shape).drop_back(), fault);
  multiplyChecked(rows, stride, fault); // negative ones are beyond the limit as well
  return fault;
}
