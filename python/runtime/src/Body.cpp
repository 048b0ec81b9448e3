// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Body.h"

using namespace resid::python;

Body::~Body() {
  Py_XDECREF(library);
  Py_XDECREF(empty);
  for (Result &result : results)
    Py_XDECREF(result.dtype);
}

static bool readValue(PyObject *object, Value &value) {
  int code, bits;
  PyObject *sizes;
  if (!PyArg_ParseTuple(object, "iiOi", &code, &bits, &sizes, &value.rowsLike))
    return false;
  value.type = {uint8_t(code), uint8_t(bits), 1};
  value.rank = -1;
  if (sizes == Py_None)
    return true;
  value.rank = int(PyTuple_Size(sizes));
  if (value.rank < 0 || value.rank > kMostDimensions) {
    PyErr_Format(PyExc_ValueError, "expected at most %d dimensions but got %d", kMostDimensions, value.rank);
    return false;
  }
  for (int i = 0; i < value.rank; ++i)
    value.sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(sizes, i));
  return !PyErr_Occurred();
}

static bool readResult(PyObject *object, Result &result) {
  PyObject *value, *sources, *dtype;
  if (!PyArg_ParseTuple(object, "OOO", &value, &sources, &dtype) || !readValue(value, result.value))
    return false;
  result.isSimple = sources != Py_None;
  result.dtype = dtype == Py_None ? nullptr : Py_NewRef(dtype);
  for (Py_ssize_t i = 0; result.isSimple && i < PyTuple_Size(sources); ++i) {
    PyObject *one = PyTuple_GetItem(sources, i);
    Source source = {0, -1, 0};
    if (PyTuple_Check(one)) {
      if (!PyArg_ParseTuple(one, "ii", &source.argument, &source.dimension))
        return false;
    } else {
      source.known = PyLong_AsLongLong(one);
    }
    result.sources.push_back(source);
  }
  return !PyErr_Occurred();
}

bool resid::python::readBody(PyObject *args, Body &body) {
  unsigned long long entry;
  PyObject *library, *arguments, *results, *empty;
  int isForDevice;
  if (!PyArg_ParseTuple(args, "KOO!O!Op", &entry, &library, &PyTuple_Type, &arguments, &PyTuple_Type, &results, &empty,
                        &isForDevice))
    return false;
  body.entry = reinterpret_cast<Entry>(entry);
  body.isForDevice = isForDevice != 0;
  body.arguments.resize(size_t(PyTuple_Size(arguments)));
  body.results.resize(size_t(PyTuple_Size(results)));
  for (size_t i = 0; i < body.arguments.size(); ++i)
    if (!readValue(PyTuple_GetItem(arguments, Py_ssize_t(i)), body.arguments[i]))
      return false;
  for (size_t i = 0; i < body.results.size(); ++i)
    if (!readResult(PyTuple_GetItem(results, Py_ssize_t(i)), body.results[i]))
      return false;
  body.library = Py_NewRef(library);
  body.empty = empty == Py_None ? nullptr : Py_NewRef(empty);
  return true;
}
