// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/arithmetic/FloatArithmetic.h"

using namespace mlir;
using namespace mlir::resid::arithmetic;

Value FloatArithmetic::polynomial(ArrayRef<double> coefficients, Value x) {
  Value result = number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, number(coefficient));
  return result;
}

Value FloatArithmetic::powerOfTwo(Value exponent) {
  Value biased = addIntegers(exponent, integer(isDouble() ? 1023 : 127));
  return fromBits(shiftLeft(biased, isDouble() ? 52 : 23));
}

Value FloatArithmetic::scale(Value a, Value exponent) {
  Value first = halve(exponent), second = subtractIntegers(exponent, first);
  return multiply(multiply(a, powerOfTwo(first)), powerOfTwo(second));
}

/// The bits of 2^52 hold the integer in their lowest places; x86-64 before AVX-512 has no conversion from i64.
Value FloatArithmetic::toFloat(Value integer) {
  return subtract(fromBits(orBits(integer, 0x4330000000000000)), number(0x1p52));
}

FloatPair FloatArithmetic::addOrdered(Value a, Value b) {
  Value sum = add(a, b);
  return {sum, subtract(b, subtract(sum, a))};
}

FloatPair FloatArithmetic::addExactly(Value a, Value b) {
  Value sum = add(a, b);
  Value second = subtract(sum, a);
  Value first = subtract(sum, second);
  return {sum, add(subtract(a, first), subtract(b, second))};
}

/// The upper 26 bits of a and the rest (Veltkamp).
FloatPair FloatArithmetic::split(Value a) {
  Value shifted = multiply(a, 0x1p27 + 1);
  Value high = subtract(shifted, subtract(shifted, a));
  return {high, subtract(a, high)};
}

FloatPair FloatArithmetic::multiplyExactly(Value a, Value b) {
  Value product = multiply(a, b);
  if (hasFMA)
    return {product, fma(a, b, negate(product))};
  FloatPair x = split(a), y = split(b);
  Value error = subtract(multiply(x.high, y.high), product);
  error = add(add(error, multiply(x.high, y.low)), multiply(x.low, y.high));
  return {product, add(error, multiply(x.low, y.low))};
}
