// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Exchange.h"

#include "Slots.h"

using namespace resid::python;

static const Exchange *readExchange(PyTypeObject *type) {
  PyObject *capsule = PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__");
  if (!capsule) {
    PyErr_Clear();
    return nullptr;
  }
  const void *found = nullptr;
  if (PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
    found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_DECREF(capsule);
  auto *exchange = static_cast<const Exchange *>(found);
  while (exchange && exchange->version.major > 1)
    exchange = exchange->older;
  return exchange && exchange->version.major == 1 && exchange->dltensor_from_py_object_no_sync ? exchange : nullptr;
}

/// A program has tensors of few types. What was found is kept for a few of them, which therefore are kept too.
const Exchange *resid::python::findExchange(PyTypeObject *type) {
  constexpr int most = 8;
  static struct {
    PyTypeObject *type;
    const Exchange *exchange;
  } known[most];
  static int count = 0;
  for (int i = 0; i < count; ++i)
    if (known[i].type == type)
      return known[i].exchange;
  const Exchange *exchange = readExchange(type);
  if (count < most) {
    Py_INCREF(reinterpret_cast<PyObject *>(type));
    known[count++] = {type, exchange};
  }
  return exchange;
}

static void setError(void *, const char *, const char *message) { PyErr_SetString(PyExc_MemoryError, message); }

PyObject *resid::python::makeLike(PyObject *like, const Slot &slot, DLDataType type, const int64_t *shape, int rank) {
  const Exchange *exchange = slot.maker == Maker::Exchange ? findExchange(Py_TYPE(like)) : nullptr;
  if (!exchange)
    return nullptr;
  DLTensor prototype = {nullptr, slot.tensor.device, rank, type, const_cast<int64_t *>(shape), nullptr, 0};
  DLManagedTensorVersioned *made = nullptr;
  if (exchange->managed_tensor_allocator(&prototype, &made, nullptr, setError) != 0) {
    if (!PyErr_Occurred())
      PyErr_NoMemory();
    return nullptr;
  }
  void *object = nullptr;
  if (exchange->managed_tensor_to_py_object_no_sync(made, &object) != 0) {
    made->deleter(made);
    if (!PyErr_Occurred())
      PyErr_NoMemory();
    return nullptr;
  }
  return static_cast<PyObject *>(object);
}
