// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled function takes and gives, as Python says it once. Not: its calls (Call.h).

#ifndef RESID_PYTHON_BODY_H
#define RESID_PYTHON_BODY_H

#include "Slots.h"

#include <vector>

namespace resid::python {

using Entry = resid_status (*)(const resid_ctx *, const DLTensor *const *, int32_t);

/// Where a size of a result comes from: it is known, or that of an argument.
struct Source {
  int64_t known;
  int argument, dimension;
};

struct Result {
  Value value;
  std::vector<Source> sources;
  /// Whether all sizes have one; else Python says what shape a new array has.
  bool isSimple = false;
  /// The element type as NumPy has it, or null where it has none.
  PyObject *dtype = nullptr;
};

struct Body {
  ~Body();

  Entry entry = nullptr;
  bool isForDevice = false;
  std::vector<Value> arguments;
  std::vector<Result> results;
  /// What has to live as long as the entry; numpy.empty, or null.
  PyObject *library = nullptr, *empty = nullptr;
};

/// The object of Python that is called.
struct Function {
  PyObject_HEAD vectorcallfunc call;
  /// Null until it is initialised.
  Body *body;
};

/// From (entry, library, arguments, results, empty, is_for_device). An argument is (code, bits, sizes, rows_like):
/// sizes is None for a scalar, and an open one is -1; rows_like is Value::rowsLike. A result is (value, sources or
/// None, dtype or None); a source is a number, or (argument, dimension). False with an exception.
bool readBody(PyObject *args, Body &body);

} // namespace resid::python

#endif // RESID_PYTHON_BODY_H
