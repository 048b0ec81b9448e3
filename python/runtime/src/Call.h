// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a compiled function by its DLPack entry: it looks at each argument once, makes the results, and runs
// without Python's lock. What went wrong is explained in Python (kernel.py).

#ifndef RESID_PYTHON_CALL_H
#define RESID_PYTHON_CALL_H

#include "Body.h"

#include <memory>

namespace resid::python {

/// The keyword arguments of a call.
struct CallOptions {
  PyObject *out = nullptr;
  /// -1: as many as are usual.
  int threads = -1;
  void *stream = nullptr;
};
/// False with an exception.
bool readOptions(PyObject *const *values, PyObject *names, CallOptions &options);

/// The last arguments of a function, taken once for many calls.
class Bindings {
public:
  Bindings() = default;
  ~Bindings() { Py_XDECREF(objects); }
  /// `objects` is a tuple with one for each argument after the first `given` ones. False with an exception.
  bool take(const Body &body, Py_ssize_t given, PyObject *objects);

  PyObject *objects = nullptr;
  size_t count = 0;
  std::unique_ptr<Slot[]> slots;
};

class Call {
public:
  /// `function` is the object that is called, which has the methods _make and _explain. `values` are its arguments
  /// before those of `bindings`.
  Call(PyObject *function, const Body &body, PyObject *const *values, Py_ssize_t count,
       const Bindings *bindings = nullptr)
      : function(function), body(body), values(values), count(count), bindings(bindings) {}

  /// The results as a tuple. Null with an exception.
  PyObject *run(const CallOptions &options);

private:
  bool takeArguments();
  size_t countBound() const { return bindings ? bindings->count : 0; }
  /// Of an argument; of a result, by the number of arguments more.
  const Slot &slotOf(size_t place) const;
  PyObject *valueOf(size_t argument) const;
  /// Takes one object, whose rows are those of an argument before. False with an exception.
  bool take(size_t slot, PyObject *object, const Value &value, bool isWritten);
  /// The results as a tuple: those of `out`, one, a tuple or a list, or new ones.
  PyObject *takeResults(PyObject *given);
  PyObject *make(int number);
  /// The type of elements of a new array of NumPy.
  PyObject *findType(const Result &result);
  /// The shape of a new array, and its rank; -1 with an exception.
  int findShape(const Result &result, int64_t *shape);
  bool runWithoutLock(const CallOptions &options, resid_status &status);
  PyObject *explain(int status, PyObject *out);

  PyObject *function;
  const Body &body;
  PyObject *const *values;
  Py_ssize_t count;
  const Bindings *bindings;
  static constexpr size_t kUsualSlots = 12;
  Slot usual[kUsualSlots];
  std::unique_ptr<Slot[]> more;
  Slot *slots = usual;
};

} // namespace resid::python

#endif // RESID_PYTHON_CALL_H
