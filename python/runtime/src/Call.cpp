// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Call.h"

#include "Pools.h"

#include <algorithm>

using namespace resid::python;

namespace {
struct GiveBack {
  void operator()(PyObject *object) const { Py_XDECREF(object); }
};
using Reference = std::unique_ptr<PyObject, GiveBack>;
} // namespace

static bool readThreads(PyObject *value, int &threads) {
  if (value == Py_None)
    return true;
  long number = PyLong_AsLong(value);
  if (PyErr_Occurred())
    return false;
  if (number < 0 || number > RESID_MAX_THREADS) {
    PyErr_Format(PyExc_ValueError, "argument 'threads': expected a number from 0 to %d but got %ld", RESID_MAX_THREADS,
                 number);
    return false;
  }
  threads = int(number);
  return true;
}

bool resid::python::readOptions(PyObject *const *values, PyObject *names, CallOptions &options) {
  Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *name = PyTuple_GetItem(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      options.out = values[i] == Py_None ? nullptr : values[i];
    } else if (PyUnicode_CompareWithASCIIString(name, "threads") == 0) {
      if (!readThreads(values[i], options.threads))
        return false;
    } else if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
      options.stream = values[i] == Py_None ? nullptr : PyLong_AsVoidPtr(values[i]);
      if (PyErr_Occurred())
        return false;
    } else {
      PyErr_Format(PyExc_TypeError, "expected the keyword arguments out, threads and stream but got '%U'", name);
      return false;
    }
  }
  return true;
}

bool Bindings::take(const Body &body, Py_ssize_t given, PyObject *tuple) {
  objects = Py_NewRef(tuple);
  count = size_t(PyTuple_Size(tuple));
  if (size_t(given) + count != body.arguments.size()) {
    PyErr_Format(PyExc_TypeError, "expected %zu arguments but got %zu", body.arguments.size(), size_t(given) + count);
    return false;
  }
  slots.reset(new Slot[count]);
  for (size_t i = 0; i < count; ++i) {
    const Value &value = body.arguments[size_t(given) + i];
    if (value.rowsLike >= 0) {
      PyErr_SetString(PyExc_TypeError, "expected no rows of another argument");
      return false;
    }
    if (!slots[i].take(PyTuple_GetItem(tuple, Py_ssize_t(i)), value, /*isWritten=*/false))
      return false;
  }
  return true;
}

const Slot &Call::slotOf(size_t place) const {
  if (place < size_t(count))
    return slots[place];
  return place < body.arguments.size() ? bindings->slots[place - size_t(count)] : slots[place - countBound()];
}

PyObject *Call::valueOf(size_t argument) const {
  return argument < size_t(count) ? values[argument] : PyTuple_GetItem(bindings->objects, Py_ssize_t(argument) - count);
}

bool Call::take(size_t slot, PyObject *object, const Value &value, bool isWritten) {
  Slot &own = slots[slot < size_t(count) ? slot : slot - countBound()];
  if (!own.take(object, value, isWritten))
    return false;
  if (value.rowsLike < 0 || size_t(value.rowsLike) == slot)
    return true;
  const Slot &other = slotOf(size_t(value.rowsLike));
  if (own.leading == other.leading && (own.leading == 1 || std::equal(own.given, own.given + own.leading, other.given)))
    return true;
  PyErr_SetString(PyExc_ValueError, "rows of another layout");
  return false;
}

bool Call::takeArguments() {
  size_t all = size_t(count) + body.results.size();
  if (all > kUsualSlots) {
    more.reset(new Slot[all]);
    slots = more.get();
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!take(size_t(i), values[i], body.arguments[size_t(i)], /*isWritten=*/false))
      return false;
  return true;
}

int Call::findShape(const Result &result, int64_t *shape) {
  int rank = 0;
  for (const Source &source : result.sources) {
    if (source.argument < 0) {
      shape[rank++] = source.known;
      continue;
    }
    const Slot &slot = slotOf(size_t(source.argument));
    bool isLeading = source.dimension == 0 && rank == 0 && result.sources.size() > 1;
    if (source.dimension >= slot.tensor.ndim) {
      PyErr_SetString(PyExc_ValueError, "an argument has too few dimensions");
      return -1;
    }
    for (int i = 0; isLeading && i < slot.leading; ++i)
      shape[rank++] = slot.given[i];
    if (!isLeading)
      shape[rank++] = slot.tensor.shape[source.dimension];
  }
  return rank;
}

/// A result is made by the library that the first array argument is from, and by NumPy where that makes none here.
PyObject *Call::make(int number) {
  const Result &result = body.results[size_t(number)];
  int64_t shape[2 * kMostDimensions];
  int rank = result.isSimple ? findShape(result, shape) : 0;
  if (rank < 0)
    return nullptr;
  for (size_t i = 0; result.isSimple && i < body.arguments.size(); ++i) {
    if (body.arguments[i].rank < 0)
      continue;
    PyObject *made = makeLike(valueOf(i), slotOf(i), result.value.type, shape, rank);
    if (made || PyErr_Occurred())
      return made;
    break;
  }
  if (!result.isSimple || !result.dtype || !body.empty)
    return PyObject_CallMethod(function, "_make", "i", number);
  PyObject *sizes = PyTuple_New(rank);
  for (int i = 0; i < rank; ++i)
    PyTuple_SetItem(sizes, i, PyLong_FromLongLong(shape[i]));
  Reference type(findType(result));
  PyObject *both[] = {sizes, type.get()};
  PyObject *made = type ? PyObject_Vectorcall(body.empty, both, 2, nullptr) : nullptr;
  Py_DECREF(sizes);
  return made;
}

/// bf16 has the type that an argument has for it.
PyObject *Call::findType(const Result &result) {
  for (size_t i = 0; result.value.type.code == kDLBfloat && i < body.arguments.size(); ++i)
    if (slotOf(i).hasOwnBrain)
      return PyObject_GetAttrString(valueOf(i), "dtype");
  return Py_NewRef(result.dtype);
}

PyObject *Call::takeResults(PyObject *given) {
  // A list may change while its arrays are looked at.
  Reference own(given && PyList_Check(given) ? PyList_AsTuple(given) : Py_XNewRef(given));
  PyObject *out = own.get();
  if (given && !out)
    return nullptr;
  auto wanted = Py_ssize_t(body.results.size());
  bool isTuple = out && PyTuple_Check(out);
  if (out && (isTuple ? PyTuple_Size(out) != wanted : wanted != 1)) {
    PyErr_SetString(PyExc_TypeError, "another number of results");
    return nullptr;
  }
  PyObject *results = PyTuple_New(wanted);
  for (Py_ssize_t i = 0; i < wanted; ++i) {
    PyObject *object = !out ? make(int(i)) : Py_NewRef(isTuple ? PyTuple_GetItem(out, i) : out);
    if (object)
      PyTuple_SetItem(results, i, object);
    if (!object ||
        !take(body.arguments.size() + size_t(i), object, body.results[size_t(i)].value, /*isWritten=*/true)) {
      Py_DECREF(results);
      return nullptr;
    }
  }
  return results;
}

bool Call::runWithoutLock(const CallOptions &options, resid_status &status) {
  size_t all = body.arguments.size() + body.results.size();
  const DLTensor *usualTensors[kUsualSlots];
  std::vector<const DLTensor *> moreTensors(all > kUsualSlots ? all : 0);
  const DLTensor **tensors = all > kUsualSlots ? moreTensors.data() : usualTensors;
  for (size_t i = 0; i < all; ++i)
    tensors[i] = &slotOf(i).tensor;
  resid_ctx context;
  if (body.isForDevice) {
    status = resid_cuda_ctx_init(&context, options.stream);
    if (status != RESID_OK)
      return true;
  } else {
    resid_thread_pool *pool = nullptr;
    if (!findPool(options.threads, &pool))
      return false;
    resid_ctx_init(&context, pool);
  }
  Py_BEGIN_ALLOW_THREADS;
  status = body.entry(&context, tensors, int32_t(all));
  Py_END_ALLOW_THREADS;
  return true;
}

/// Raises an exception that says what does not fit, from the present one where there is one.
PyObject *Call::explain(int status, PyObject *out) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (type)
    PyErr_NormalizeException(&type, &value, &trace);
  auto all = Py_ssize_t(count) + Py_ssize_t(countBound());
  PyObject *given = PyTuple_New(all);
  for (Py_ssize_t i = 0; i < all; ++i)
    PyTuple_SetItem(given, i, Py_NewRef(valueOf(size_t(i))));
  PyObject *answer =
      PyObject_CallMethod(function, "_explain", "iOOO", status, given, out ? out : Py_None, value ? value : Py_None);
  Py_DECREF(given);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  if (answer) {
    Py_DECREF(answer);
    PyErr_SetString(PyExc_RuntimeError, "the function answered a status that nothing explains");
  }
  return nullptr;
}

PyObject *Call::run(const CallOptions &options) {
  if (size_t(count) + countBound() != body.arguments.size() || !takeArguments())
    return explain(RESID_OK, options.out);
  PyObject *results = takeResults(options.out);
  if (!results)
    return explain(RESID_OK, options.out);
  resid_status status = RESID_OK;
  if (!runWithoutLock(options, status) || status != RESID_OK) {
    explain(status, options.out);
    Py_DECREF(results);
    return nullptr;
  }
  return results;
}
