// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes that cannot overflow unseen.

#include "codegen/emit/SizeCode.h"

using namespace mlir;
using namespace mlir::resid::emit;

Value SizeCode::dimension(int64_t code) { return code >= 0 ? constant(code) : sizes[-1 - code]; }

Value SizeCode::isEmpty(const KernelValue &array) {
  Value empty = truth(llvm::is_contained(array.shape, 0));
  for (int64_t code : array.shape)
    if (code < 0)
      empty = either(empty, compare(arith::CmpIPredicate::eq, dimension(code), constant(0)));
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
  Value end = arith::AddIOp::create(builder, loc, before, rowBytes(array));
  return arith::SelectOp::create(builder, loc, isEmpty(array), constant(0), end);
}

Value SizeCode::multiplyChecked(Value value, Value factor, Value &fault) {
  auto product = arith::MulUIExtendedOp::create(builder, loc, value, factor);
  fault = either(fault, compare(arith::CmpIPredicate::ne, product.getHigh(), constant(0)));
  fault = either(fault, compare(arith::CmpIPredicate::ugt, product.getLow(), constant(kByteLimit)));
  return product.getLow();
}

Value SizeCode::faults() {
  Value fault = truth(false);
  for (auto [index, parameter] : llvm::enumerate(signature.sizes)) {
    Value size = sizes[index];
    fault = either(fault, compare(arith::CmpIPredicate::slt, size, constant(0)));
    if (parameter.sameAs != index)
      fault = either(fault, compare(arith::CmpIPredicate::ne, size, sizes[parameter.sameAs]));
    if (parameter.fixed >= 0)
      fault = either(fault, compare(arith::CmpIPredicate::ne, size, constant(parameter.fixed)));
  }
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results))
    if (value.isArray())
      productChecked(value.getElementBytes(), value.shape, fault);
  return fault;
}

Value SizeCode::strideFault(const KernelValue &array, Value stride) {
  Value fault = compare(arith::CmpIPredicate::slt, stride, dimension(array.shape.back()));
  Value rows = productChecked(array.getElementBytes(), ArrayRef(array.shape).drop_back(), fault);
  multiplyChecked(rows, stride, fault); // negative ones are beyond the limit as well
  return fault;
}
