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
  for (SizeExpr size : signature.derivedSizes)
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

/// What is beyond 2^47 is a fault. So no sum of what is none wraps, and none of the limits has to be asked twice.
Value SizeCode::evaluate(SizeExpr expression, Value &fault) {
  return emitSize(
      builder, loc, expression, [&](unsigned index) { return sizes[index]; }, fault);
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

Value SizeCode::bytesFault(const KernelValue &array) {
  Value fault = truth(false);
  productChecked(array.getElementBytes(), array.shape, fault);
  return fault;
}

Value SizeCode::strideFault(const KernelValue &array, Value stride) {
  Value fault = compare(arith::CmpIPredicate::slt, stride, dimension(array.shape.back()));
  Value rows = productChecked(array.getElementBytes(), ArrayRef(array.shape).drop_back(), fault);
  multiplyChecked(rows, stride, fault); // negative ones are beyond the limit as well
  return fault;
}
