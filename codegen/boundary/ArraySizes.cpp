// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes that cannot overflow unseen.

#include "codegen/boundary/ArraySizes.h"

#include <map>

using namespace mlir;
using namespace mlir::resid::boundary;

ArraySizes::ArraySizes(Code &builder, const KernelSignature &signature, ValueRange sizes)
    : builder(builder), signature(signature), sizes(sizes) {
  if (signature.derivedSizes.empty() && signature.equalities.empty())
    return;
  derivationFault = builder.truth(false);
  for (SizeExpr size : signature.derivedSizes)
    derivedSizes.push_back(evaluate(size, derivationFault));
  for (auto [a, b] : signature.equalities) {
    Value differ =
        builder.compare(arith::CmpIPredicate::ne, evaluate(a, derivationFault), evaluate(b, derivationFault));
    derivationFault = builder.either(derivationFault, differ);
  }
}

Value ArraySizes::getSize(int64_t code) {
  if (code >= 0)
    return builder.constant(code);
  size_t index = -1 - code;
  return index < sizes.size() ? sizes[index] : derivedSizes[index - sizes.size()];
}

/// What is beyond 2^47 is a fault. So no sum of what is none wraps, and none of the limits has to be asked twice.
Value ArraySizes::evaluate(SizeExpr expression, Value &fault) {
  return emitSize(
      builder, expression, [&](unsigned index) { return sizes[index]; }, fault);
}

SmallVector<int64_t> ArraySizes::getSharedShape(const KernelValue &array) const {
  return llvm::map_to_vector(array.shape, [&](int64_t code) { return signature.getSharedSize(code); });
}

Value ArraySizes::isEmpty(ArrayRef<int64_t> shape) {
  Value empty = builder.truth(llvm::is_contained(shape, 0));
  for (int64_t code : shape)
    if (code < 0)
      empty = builder.either(empty, builder.compare(arith::CmpIPredicate::eq, getSize(code), 0));
  return empty;
}

Value ArraySizes::product(int64_t fixed, ArrayRef<int64_t> shape) {
  for (int64_t code : shape)
    fixed *= code >= 0 ? code : 1;
  Value product = builder.constant(fixed);
  for (int64_t code : shape)
    if (code < 0)
      product = builder.multiply(product, dimension(code));
  return product;
}

Value ArraySizes::productChecked(int64_t fixed, ArrayRef<int64_t> shape, Value &fault) {
  for (int64_t code : shape)
    fixed *= code > 0 ? code : 1;
  Value product = builder.constant(fixed);
  for (int64_t code : shape)
    if (code < 0) {
      Value factor = builder.max(dimension(code), 1);
      product = multiplyChecked(product, factor, fault);
    }
  return product;
}

Value ArraySizes::bytes(const KernelValue &array) { return product(array.getElementBytes(), array.shape); }

Value ArraySizes::rowBytes(const KernelValue &array) {
  return product(array.getElementBytes(), ArrayRef(array.shape).take_back());
}

Value ArraySizes::strideBytes(const KernelValue &array, Value stride) {
  return builder.multiply(stride, array.getElementBytes());
}

Value ArraySizes::extent(const KernelValue &array, Value stride) {
  if (!stride)
    return bytes(array);
  Value rows = product(1, ArrayRef(array.shape).drop_back());
  Value before = builder.multiply(builder.subtract(rows, 1), strideBytes(array, stride));
  return builder.add(before, rowBytes(array));
}

Value ArraySizes::multiplyChecked(Value value, Value factor, Value &fault) {
  auto product = builder.create<arith::MulUIExtendedOp>(value, factor);
  fault = builder.either(fault, builder.compare(arith::CmpIPredicate::ne, product.getHigh(), 0));
  fault = builder.either(fault, builder.compare(arith::CmpIPredicate::ugt, product.getLow(), kByteLimit));
  return product.getLow();
}

void ArraySizes::checkBytes(Value &fault) {
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
      fault = builder.either(fault, builder.truth(true));
    if (open.size() == 1) // As an unsigned number a negative size is beyond any limit.
      fault =
          builder.either(fault, builder.compare(arith::CmpIPredicate::ugt, getSize(open.front()), kByteLimit / bytes));
    else
      productChecked(bytes, open, fault);
  }
}

Value ArraySizes::faults() {
  Value fault = builder.truth(false);
  for (auto [index, parameter] : llvm::enumerate(signature.sizes)) {
    if (parameter.sameAs != index)
      fault = builder.either(fault, builder.compare(arith::CmpIPredicate::ne, sizes[index], sizes[parameter.sameAs]));
    if (parameter.fixed >= 0)
      fault = builder.either(fault, builder.compare(arith::CmpIPredicate::ne, sizes[index], parameter.fixed));
  }
  if (derivationFault)
    fault = builder.either(fault, derivationFault);
  checkBytes(fault);
  return fault;
}

Value ArraySizes::bytesFault(const KernelValue &array) {
  Value fault = builder.truth(false);
  productChecked(array.getElementBytes(), array.shape, fault);
  return fault;
}

Value ArraySizes::strideFault(const KernelValue &array, Value stride) {
  Value fault = builder.compare(arith::CmpIPredicate::slt, stride, dimension(array.shape.back()));
  Value rows = productChecked(array.getElementBytes(), ArrayRef(array.shape).drop_back(), fault);
  multiplyChecked(rows, stride, fault); // negative ones are beyond the limit as well
  return fault;
}
