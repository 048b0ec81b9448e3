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

Value SizeCode::bytes(const KernelValue &array) {
  int64_t fixed = array.getElementBytes();
  for (int64_t code : array.shape)
    fixed *= code >= 0 ? code : 1;
  Value product = constant(fixed);
  for (int64_t code : array.shape)
    if (code < 0)
      product = arith::MulIOp::create(builder, loc, product, dimension(code));
  return product;
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
  // A zero counts as a one, so that the order of dimensions does not matter.
  auto checkArray = [&](const KernelValue &array) {
    int64_t fixed = array.getElementBytes();
    for (int64_t code : array.shape)
      fixed *= code > 0 ? code : 1;
    Value product = constant(fixed);
    for (int64_t code : array.shape)
      if (code < 0) {
        Value factor = arith::MaxSIOp::create(builder, loc, dimension(code), constant(1));
        product = multiplyChecked(product, factor, fault);
      }
  };
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results))
    if (value.isArray())
      checkArray(value);
  return fault;
}
