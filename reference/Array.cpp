// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage of the evaluator's values, and constants read from attributes.

#include "reference/Array.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::reference {

int64_t wrapInteger(Type type, int64_t value) {
  if (type.isIndex())
    return value;
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 1 ? value & 1 : llvm::SignExtend64(static_cast<uint64_t>(value), width);
}

Array Array::zeros(Type type, ArrayRef<int64_t> shape) {
  Array array;
  array.tensor = isa<RankedTensorType>(type);
  array.elementType = getElementTypeOrSelf(type);
  array.kind = getFloatKind(array.elementType);
  array.shape.assign(shape.begin(), shape.end());
  size_t count = static_cast<size_t>(array.size());
  if (array.kind)
    array.floatStorage = std::make_shared<std::vector<double>>(count);
  else
    array.integerStorage = std::make_shared<std::vector<int64_t>>(count);
  return array;
}

Array Array::scalar(Type type, double value) {
  Array array = zeros(type);
  array.floatStorage->front() = value;
  return array;
}

Array Array::scalar(Type type, int64_t value) {
  Array array = zeros(type);
  array.integerStorage->front() = wrapInteger(array.elementType, value);
  return array;
}

int64_t Array::size() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

SmallVector<int64_t> Array::getStrides() const {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = getRank() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

MutableArrayRef<double> Array::mutableFloats() {
  if (floatStorage.use_count() > 1)
    floatStorage = std::make_shared<std::vector<double>>(*floatStorage);
  return *floatStorage;
}

MutableArrayRef<int64_t> Array::mutableIntegers() {
  if (integerStorage.use_count() > 1)
    integerStorage = std::make_shared<std::vector<int64_t>>(*integerStorage);
  return *integerStorage;
}

Array Array::reshaped(ArrayRef<int64_t> newShape) const {
  Array result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}

void copyElement(const Array &from, int64_t source, Array &to, int64_t target) {
  if (to.isFloat())
    to.mutableFloats()[target] = from.floats()[source];
  else
    to.mutableIntegers()[target] = from.integers()[source];
}

std::string describe(const Array &array) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t dim : array.getShape())
    os << dim << 'x';
  os << array.getElementType();
  return text;
}

static bool isSupportedElement(Type type) {
  return getFloatKind(type) || type.isIndex() || (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64);
}

static Array fromDense(DenseElementsAttr dense, RankedTensorType type) {
  Array array = Array::zeros(type, type.getShape());
  if (array.isFloat()) {
    MutableArrayRef<double> out = array.mutableFloats();
    auto decode = [&](const APFloat &value) {
      return decodeFloat(array.floatKind(), value.bitcastToAPInt().getZExtValue());
    };
    if (dense.isSplat())
      std::fill(out.begin(), out.end(), decode(dense.getSplatValue<APFloat>()));
    else
      llvm::transform(dense.getValues<APFloat>(), out.begin(), decode);
    return array;
  }
  Type element = type.getElementType();
  auto decode = [&](const APInt &value) { return wrapInteger(element, static_cast<int64_t>(value.getZExtValue())); };
  MutableArrayRef<int64_t> out = array.mutableIntegers();
  if (dense.isSplat())
    std::fill(out.begin(), out.end(), decode(dense.getSplatValue<APInt>()));
  else
    llvm::transform(dense.getValues<APInt>(), out.begin(), decode);
  return array;
}

/// A `dense_resource` constant: little-endian bytes, one byte for an i1.
static Array fromResource(DenseResourceElementsAttr resource, RankedTensorType type) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  Array array = Array::zeros(type, type.getShape());
  Type element = type.getElementType();
  size_t bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (!blob || blob->getData().size() != bytes * static_cast<size_t>(array.size()))
    return Array();
  const char *data = blob->getData().data();
  for (int64_t i = 0, e = array.size(); i != e; ++i) {
    uint64_t bits = 0;
    for (size_t byte = 0; byte != bytes; ++byte)
      bits |= static_cast<uint64_t>(static_cast<uint8_t>(data[i * bytes + byte])) << (8 * byte);
    if (array.isFloat())
      array.mutableFloats()[i] = decodeFloat(array.floatKind(), bits);
    else
      array.mutableIntegers()[i] = wrapInteger(element, static_cast<int64_t>(bits));
  }
  return array;
}

Array Array::fromAttribute(TypedAttr attribute) {
  Type type = attribute.getType();
  if (!isSupportedElement(getElementTypeOrSelf(type)))
    return Array();
  if (auto value = dyn_cast<FloatAttr>(attribute))
    return scalar(type, decodeFloat(*getFloatKind(type), value.getValue().bitcastToAPInt().getZExtValue()));
  if (auto value = dyn_cast<IntegerAttr>(attribute))
    return scalar(type, static_cast<int64_t>(value.getValue().getZExtValue()));
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return Array();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    return fromDense(dense, tensorType);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return fromResource(resource, tensorType);
  return Array();
}

} // namespace mlir::resid::reference
