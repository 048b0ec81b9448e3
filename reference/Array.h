// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values that the evaluator computes with: tensors and scalars of floats or integers, with the accuracy by which a
// compiled result may be judged against them. Owns no op.

#ifndef RESID_REFERENCE_ARRAY_H
#define RESID_REFERENCE_ARRAY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "reference/Numbers.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <vector>

namespace mlir::resid::reference {

/// How far a compiled value may be from the evaluator's.
struct Accuracy {
  enum Kind {
    /// No further than `bounds`, one absolute bound per element.
    Bounded,
    /// Judged by a relative and an absolute tolerance: the value went through something that section "numerics" of the
    /// specification does not bound, for instance a norm after a norm.
    Tolerance
  };
  Kind kind;
  std::vector<double> bounds;
};

/// A ranked tensor in row-major order, or a scalar. Copies share their storage; whoever changes it makes a new one.
class Array {
public:
  Array() = default;

  /// A tensor or scalar of `type` with the given sizes, all zero. `type` is a float, integer or index type or a ranked
  /// tensor of one.
  static Array zeros(Type type, ArrayRef<int64_t> shape = {});
  static Array scalar(Type type, double value);
  static Array scalar(Type type, int64_t value);
  /// The value of a constant, or a null array where its data is not there (elided) or its type is not supported.
  static Array fromAttribute(TypedAttr attribute);

  explicit operator bool() const { return static_cast<bool>(elementType); }
  bool isFloat() const { return kind.has_value(); }
  FloatKind floatKind() const { return *kind; }
  Type getElementType() const { return elementType; }
  bool isTensor() const { return tensor; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const;
  /// The element strides of the row-major order.
  SmallVector<int64_t> getStrides() const;

  ArrayRef<double> floats() const { return *floatStorage; }
  ArrayRef<int64_t> integers() const { return *integerStorage; }
  MutableArrayRef<double> mutableFloats();
  MutableArrayRef<int64_t> mutableIntegers();
  int64_t asInteger() const { return integerStorage->front(); }
  double asFloat() const { return floatStorage->front(); }

  /// This array's elements and accuracy under another shape of equal size.
  Array reshaped(ArrayRef<int64_t> newShape) const;

  /// Null: bit-equal.
  const std::shared_ptr<const Accuracy> &getAccuracy() const { return accuracy; }
  void setAccuracy(std::shared_ptr<const Accuracy> value) { accuracy = std::move(value); }

private:
  Type elementType;
  std::optional<FloatKind> kind;
  bool tensor = false;
  SmallVector<int64_t, 4> shape;
  std::shared_ptr<std::vector<double>> floatStorage;
  std::shared_ptr<std::vector<int64_t>> integerStorage;
  std::shared_ptr<const Accuracy> accuracy;
};

/// Copies an element between arrays of one element type.
void copyElement(const Array &from, int64_t source, Array &to, int64_t target);

/// "4x512xf32", or "f32" for a scalar.
std::string describe(const Array &array);

/// An integer of the width of `type` in the evaluator's form: i1 as 0 or 1, wider ones with the sign extended.
int64_t wrapInteger(Type type, int64_t value);

} // namespace mlir::resid::reference

#endif
