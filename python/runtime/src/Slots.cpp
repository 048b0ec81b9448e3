// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Slots.h"

#include "Exchange.h"

#include <cmath>
#include <cstring>

using namespace resid::python;

//===------------------------------------------- numbers ----------------------------------------------------------===//

/// Whether a number became infinite by rounding; then with an exception.
static bool overflows(double value, float rounded) {
  if (!std::isinf(rounded) || std::isinf(value))
    return false;
  PyErr_SetString(PyExc_OverflowError, "the number does not fit");
  return true;
}

static bool roundToBrain(double wide, uint16_t &half) {
  auto value = float(wide);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  half = value != value ? uint16_t(bits >> 16 | 0x40) : uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  bits = uint32_t(half) << 16;
  std::memcpy(&value, &bits, sizeof bits);
  return !overflows(wide, value);
}

/// To nearest, ties to even, in one rounding.
static bool roundToHalf(double value, uint16_t &half) {
  auto rounded = _Float16(value);
  std::memcpy(&half, &rounded, sizeof half);
  return !overflows(value, float(rounded));
}

/// Whether an integer has `bits` bits with a sign.
static bool fits(int64_t value, int bits) {
  return bits == 64 || (value >= -(int64_t(1) << (bits - 1)) && value < (int64_t(1) << (bits - 1)));
}

/// Arrays of one element convert to numbers, but only one without dimensions is a number.
static bool isNumber(PyObject *object) {
  static PyObject *const name = PyUnicode_InternFromString("ndim");
  if (PyFloat_Check(object) || PyLong_Check(object))
    return true;
  PyObject *count = PyObject_GetAttr(object, name);
  long dimensions = count ? PyLong_AsLong(count) : 0;
  Py_XDECREF(count);
  PyErr_Clear();
  if (dimensions > 0)
    PyErr_Format(PyExc_TypeError, "expected a number but got an array of %ld dimensions", dimensions);
  return dimensions <= 0;
}

bool Slot::takeNumber(PyObject *object, const Value &value) {
  if (!isNumber(object))
    return false;
  tensor = {&number, {kDLCPU, 0}, 0, value.type, shape, nullptr, 0};
  given = shape;
  maker = Maker::None;
  if (value.type.code == kDLFloat || value.type.code == kDLBfloat) {
    double wide = PyFloat_AsDouble(object);
    if (wide == -1 && PyErr_Occurred())
      return false;
    if (value.type.bits == 64)
      number.wide = wide;
    else if (value.type.bits == 32 && overflows(wide, float(wide)))
      return false;
    else if (value.type.bits == 32)
      number.narrow = float(wide);
    else if (value.type.code == kDLBfloat)
      return roundToBrain(wide, number.half);
    else
      return roundToHalf(wide, number.half);
    return true;
  }
  PyObject *index = PyNumber_Index(object);
  if (!index)
    return false;
  int64_t integer = PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (integer == -1 && PyErr_Occurred())
    return false;
  bool isBool = value.type.code == kDLBool;
  if (isBool ? integer != 0 && integer != 1 : !fits(integer, value.type.bits)) {
    PyErr_Format(PyExc_OverflowError, "%lld does not fit", (long long)integer);
    return false;
  }
  // Of the bytes, which are in the order of x86 and Arm, those of a narrower integer come first.
  number.integer = integer;
  return true;
}

//===------------------------------------------- arrays -----------------------------------------------------------===//

/// The type of an element by the letter of the module struct; without bits where there is none.
static DLDataType readFormat(const char *format, Py_ssize_t bytes) {
  auto bits = uint8_t(bytes * 8);
  if (!format)
    format = "B";
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (format[0] == 0 || format[1] != 0)
    return {0, 0, 0};
  switch (*format) {
  case 'e':
  case 'f':
  case 'd':
    return {kDLFloat, bits, 1};
  case '?':
    return {kDLBool, bits, 1};
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return {kDLInt, bits, 1};
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return {kDLUInt, bits, 1};
  default:
    return {0, 0, 0};
  }
}

/// Elements of bf16 have no letter: arrays hold them as unsigned integers, or by their bytes.
bool Slot::takeBuffer(PyObject *object, bool isWritten) {
  if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT | (isWritten ? PyBUF_WRITABLE : 0)) != 0)
    return false;
  maker = Maker::Buffer;
  DLDataType type = readFormat(view.format, view.itemsize);
  if (type.bits == 0 || view.ndim > kMostDimensions) {
    PyErr_Format(PyExc_TypeError, "elements of the format '%s'", view.format ? view.format : "");
    return false;
  }
  for (int i = 0; i < view.ndim; ++i) {
    shape[i] = view.shape[i];
    if (view.strides[i] % view.itemsize != 0) {
      PyErr_SetString(PyExc_ValueError, "strides that are no whole elements");
      return false;
    }
    strides[i] = view.strides[i] / view.itemsize;
  }
  tensor = {view.buf, {kDLCPU, 0}, view.ndim, type, shape, strides, 0};
  return true;
}

/// The bf16 of the package ml_dtypes has no buffer, but the same array as unsigned integers does.
bool Slot::takeAsIntegers(PyObject *object, bool isWritten) {
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  capsule = maker == Maker::None ? PyObject_CallMethod(object, "view", "s", "uint16") : nullptr;
  if (capsule && takeBuffer(capsule, isWritten)) {
    hasOwnBrain = true;
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return true;
  }
  PyErr_Restore(type, error, trace);
  return false;
}

static bool requiresGradient(PyObject *object) {
  static PyObject *const name = PyUnicode_InternFromString("requires_grad");
  PyObject *answer = PyObject_GetAttr(object, name);
  if (!answer)
    PyErr_Clear();
  Py_XDECREF(answer);
  return answer == Py_True;
}

/// PyTorch does not see that a function writes. Where gradients need what was there before, they would be wrong.
static bool mayBeWritten(PyObject *object) {
  if (!requiresGradient(object))
    return true;
  PyErr_SetString(PyExc_TypeError, "expected a tensor that requires no gradient to write to; hand over .detach()");
  return false;
}

bool Slot::takeExchange(PyObject *object, bool isWritten) {
  if (isWritten && !mayBeWritten(object))
    return false;
  if (findExchange(Py_TYPE(object))->dltensor_from_py_object_no_sync(object, &tensor) != 0) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "a tensor without memory of its own");
    return false;
  }
  maker = Maker::Exchange;
  return true;
}

/// Versions of PyTorch without the exchange above lend no tensor that requires a gradient, but what .detach() gives.
static PyObject *lend(PyObject *object) {
  if (!requiresGradient(object))
    return PyObject_CallMethod(object, "__dlpack__", nullptr);
  PyObject *detached = PyObject_CallMethod(object, "detach", nullptr);
  PyObject *capsule = detached ? PyObject_CallMethod(detached, "__dlpack__", nullptr) : nullptr;
  Py_XDECREF(detached);
  return capsule;
}

bool Slot::takeCapsule(PyObject *object, bool isWritten) {
  if (isWritten && !mayBeWritten(object))
    return false;
  capsule = lend(object);
  if (!capsule)
    return false;
  maker = Maker::Capsule;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto *lent = static_cast<DLManagedTensorVersioned *>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    // Only the version has its place in all versions.
    if (lent->version.major != 1)
      PyErr_Format(PyExc_TypeError, "expected version 1 of DLPack but got version %u", lent->version.major);
    else if (isWritten && (lent->flags & DLPACK_FLAG_BITMASK_READ_ONLY))
      PyErr_SetString(PyExc_TypeError, "expected an array that can be written, but it is read-only");
    else
      tensor = lent->dl_tensor;
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    tensor = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"))->dl_tensor;
  } else {
    PyErr_SetString(PyExc_TypeError, "a __dlpack__ that gives a tensor");
  }
  return !PyErr_Occurred();
}

/// Leading dimensions without gaps between them become one. Others stay as they are, which the function refuses.
void Slot::fold(const Value &value) {
  given = tensor.shape;
  int extra = tensor.ndim - value.rank;
  if (extra <= 0 || !value.takesRows() || tensor.ndim > kMostDimensions)
    return;
  if (tensor.strides)
    for (int i = 0; i < extra; ++i)
      if (tensor.shape[i] != 1 && tensor.strides[i] != tensor.strides[i + 1] * tensor.shape[i + 1])
        return;
  int64_t folded[kMostDimensions], steps[kMostDimensions], rows = 1;
  for (int i = 0; i <= extra; ++i)
    rows *= tensor.shape[i];
  folded[0] = rows;
  steps[0] = tensor.strides ? tensor.strides[extra] : 0;
  for (int i = 1; i < value.rank; ++i) {
    folded[i] = tensor.shape[extra + i];
    steps[i] = tensor.strides ? tensor.strides[extra + i] : 0;
  }
  // What the object says of its shape is needed for results, so it stays where it is.
  if (maker == Maker::Buffer)
    given = reinterpret_cast<const int64_t *>(view.shape);
  std::memcpy(shape, folded, sizeof(int64_t) * value.rank);
  std::memcpy(strides, steps, sizeof(int64_t) * value.rank);
  leading = extra + 1;
  tensor.shape = shape;
  tensor.strides = tensor.strides ? strides : nullptr;
  tensor.ndim = value.rank;
}

bool Slot::take(PyObject *object, const Value &value, bool isWritten) {
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "sizes of Python are those of DLPack");
  bool isNumber = value.rank < 0 && !isWritten;
  if (isNumber)
    return takeNumber(object, value);
  bool isTaken = false;
  if (findExchange(Py_TYPE(object)))
    isTaken = takeExchange(object, isWritten);
  else if (PyObject_CheckBuffer(object))
    isTaken = takeBuffer(object, isWritten) || (value.type.code == kDLBfloat && takeAsIntegers(object, isWritten));
  else
    isTaken = takeCapsule(object, isWritten);
  if (!isTaken)
    return false;
  // NumPy has no bf16. Its arrays have unsigned integers of as many bits instead.
  if (value.type.code == kDLBfloat && tensor.dtype.code == kDLUInt && tensor.dtype.bits == 16)
    tensor.dtype.code = kDLBfloat;
  fold(value);
  return true;
}

void Slot::release() {
  if (maker == Maker::Buffer)
    PyBuffer_Release(&view);
  Py_CLEAR(capsule);
  maker = Maker::None;
}
