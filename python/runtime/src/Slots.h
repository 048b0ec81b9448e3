// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects of Python as DLPack's tensors, without copies: NumPy's arrays by the buffer protocol, tensors of PyTorch by
// the functions that its type lends, others by __dlpack__, and numbers. Not: what a function takes (Function.cpp).

#ifndef RESID_PYTHON_SLOTS_H
#define RESID_PYTHON_SLOTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/resid.h"

namespace resid::python {

constexpr int kMostDimensions = 16;

/// An argument or a result of a compiled function: its element type, and its sizes; an open one is -1. A scalar has no
/// sizes, and a rank of -1.
struct Value {
  DLDataType type;
  int rank;
  int64_t sizes[kMostDimensions];
  /// The argument whose rows these are, laid out alike, or -1.
  int rowsLike = -1;

  /// Whether leading dimensions become one: rows of [?, D] may come as [B, S, D].
  bool takesRows() const { return rank > 1 && sizes[0] < 0; }
};

/// What made a tensor.
enum class Maker { None, Buffer, Exchange, Capsule };

/// One object of Python for the time of a call.
class Slot {
public:
  Slot() = default;
  ~Slot() { release(); }
  Slot(const Slot &) = delete;
  Slot &operator=(const Slot &) = delete;

  /// Takes an object for `value`. False with an exception of Python where it is none of the kinds above, or cannot be
  /// written though `isWritten`.
  bool take(PyObject *object, const Value &value, bool isWritten);
  /// Gives back what was taken.
  void release();

  DLTensor tensor = {};
  Maker maker = Maker::None;
  /// How many dimensions became the first one of `tensor`: 1 where none did.
  int leading = 1;
  /// Whether the object has a type of its own for bf16, that of ml_dtypes.
  bool hasOwnBrain = false;
  /// The shape that the object has.
  const int64_t *given = nullptr;

private:
  bool takeNumber(PyObject *object, const Value &value);
  bool takeBuffer(PyObject *object, bool isWritten);
  bool takeAsIntegers(PyObject *object, bool isWritten);
  bool takeExchange(PyObject *object, bool isWritten);
  bool takeCapsule(PyObject *object, bool isWritten);
  void fold(const Value &value);

  Py_buffer view = {};
  /// What the memory belongs to, where that is not the object itself.
  PyObject *capsule = nullptr;
  /// A number; the shape and the strides where they are not the object's.
  union {
    int64_t integer;
    double wide;
    float narrow;
    uint16_t half;
  } number;
  int64_t shape[kMostDimensions], strides[kMostDimensions];
};

/// A new object of the kind that made `like`, with elements that nobody has written: a tensor of PyTorch, on the same
/// device. Null with an exception, or without one where tensors of that kind are not made here.
PyObject *makeLike(PyObject *like, const Slot &slot, DLDataType type, const int64_t *shape, int rank);

} // namespace resid::python

#endif // RESID_PYTHON_SLOTS_H
